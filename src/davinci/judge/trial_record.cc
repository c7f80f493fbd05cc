#include "davinci/judge/trial_record.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/config/task_config.h"
#include "davinci/judge/machine/timing_cores.h"
#include "davinci/judge/transcribed_machine.h"

namespace davinci::judge {
namespace {

using config::ModuleMode;
using config::TaskConfig;
using nlohmann::json;

json ConfigJson(const TaskConfig& c) {
  json shown = {{"title", c.title},
                {"entry", c.entry},
                {"function", c.function},
                {"op", c.op},
                {"precision", config::PrecisionName(c.precision)},
                {"mode", static_cast<int>(c.mode)},
                {"inplace", c.inplace},
                {"tolerance_multiple", c.tolerance_multiple ? json(*c.tolerance_multiple) : json()},
                {"tags", c.tags},
                {"origin", c.origin},
                {"sizes_cpu", c.sizes_cpu},
                {"sizes_cuda", c.sizes_cuda},
                {"variants", c.variants}};
  if (!c.inputs.empty()) shown["inputs"] = c.inputs;
  return shown;
}

TaskConfig ConfigFrom(const json& shown) {
  TaskConfig c;
  c.title = shown.at("title");
  c.entry = shown.at("entry");
  c.function = shown.at("function");
  c.op = shown.at("op");
  c.precision = config::ParsePrecision(shown.at("precision").get<std::string>())
                    .value_or(config::Precision::kFp32);
  c.mode = static_cast<ModuleMode>(shown.at("mode").get<int>());
  c.inplace = shown.at("inplace");
  if (shown.at("tolerance_multiple").is_number())
    c.tolerance_multiple = shown["tolerance_multiple"].get<double>();
  c.tags = shown.at("tags").get<std::vector<std::string>>();
  c.origin = shown.at("origin");
  c.sizes_cpu = shown.at("sizes_cpu");
  c.sizes_cuda = shown.at("sizes_cuda");
  for (const json& variant : shown.at("variants")) c.variants.push_back(variant);
  c.inputs = shown.value("inputs", json::object());
  return c;
}

json TaskJson(const task::Task& t) {
  json files = json::array();
  for (const auto& file : t.files) files.push_back(file.string());
  return {{"path", t.path},
          {"source", t.source},
          {"hash", t.hash},
          {"config", ConfigJson(t.config)},
          {"imports", ImportsJson(t.imports)},
          {"data", t.data},
          {"files", files},
          {"candidate_entry", t.candidate_entry},
          {"candidate_function", t.candidate_function}};
}

task::Task TaskFrom(const json& shown) {
  task::Task t;
  t.path = shown.at("path");
  t.source = shown.at("source");
  t.hash = shown.at("hash");
  t.config = ConfigFrom(shown.at("config"));
  t.imports = ImportsFrom(shown.at("imports"));
  t.data = shown.at("data").get<std::vector<std::string>>();
  for (const json& file : shown.at("files")) t.files.emplace_back(file.get<std::string>());
  t.candidate_entry = shown.at("candidate_entry");
  t.candidate_function = shown.at("candidate_function");
  return t;
}

json JobJson(const Job& job) {
  json shown = {{"task", TaskJson(*job.task)},
                {"candidate", job.candidate},
                {"candidate_path", job.candidate_path},
                {"candidate_has_neighbours", job.candidate_has_neighbours},
                {"target", TargetName(job.target)},
                {"baseline", job.baseline},
                {"compile_only", job.compile_only},
                {"compile_only_arch", job.compile_only_arch}};
  if (!job.specification.is_null()) shown["specification"] = job.specification;
  return shown;
}

Job JobFrom(const json& shown) {
  Job job;
  job.task = std::make_shared<const task::Task>(TaskFrom(shown.at("task")));
  job.candidate = shown.at("candidate");
  job.candidate_path = shown.at("candidate_path");
  job.candidate_has_neighbours = shown.at("candidate_has_neighbours");
  job.target = ParseTarget(shown.at("target").get<std::string>()).value_or(Target::kCpu);
  job.baseline = shown.at("baseline");
  job.compile_only = shown.at("compile_only");
  job.compile_only_arch = shown.at("compile_only_arch");
  job.specification = shown.value("specification", json());
  return job;
}

}  // namespace

BorrowedFacts LentBy(const JudgeContext& context, Target target) {
  BorrowedFacts lent;
  lent.options = context.options;
  lent.device = context.device;
  lent.hello = context.hello;
  lent.hello.erase("pid");
  lent.threads = context.threads;
  lent.has_facts = context.facts != nullptr;
  lent.has_timing_cores = target == Target::kCuda && context.timing_cores->exist();
  return lent;
}

json ToJson(const TrialRecord& record) {
  const BorrowedFacts& lent = record.lent;
  return {{"record", kRecordVersion},
          {"job", JobJson(record.job)},
          {"protocol", record.protocol},
          {"limits", record.limits},
          {"budget", static_cast<int>(record.budget)},
          {"lent",
           {{"options",
             {{"threads", lent.options.threads},
              {"unsafe_no_sandbox", lent.options.unsafe_no_sandbox}}},
            {"device", lent.device},
            {"hello", lent.hello},
            {"threads", lent.threads},
            {"has_facts", lent.has_facts},
            {"has_timing_cores", lent.has_timing_cores}}}};
}

Result<TrialRecord> TrialRecordFrom(std::string_view text) {
  try {
    const json shown = json::parse(text);
    if (shown.at("record") != kRecordVersion)
      return InvalidArgument(fmt::format("the record is of version {}, this is {}; record anew",
                                         JsonText(shown.at("record")), kRecordVersion));
    TrialRecord record;
    record.job = JobFrom(shown.at("job"));
    record.protocol = shown.at("protocol");
    record.limits = shown.at("limits");
    record.budget = static_cast<MemoryBudget>(shown.at("budget").get<int>());
    const json& lent = shown.at("lent");
    record.lent.options.threads = lent.at("options").at("threads");
    record.lent.options.unsafe_no_sandbox = lent.at("options").at("unsafe_no_sandbox");
    record.lent.device = lent.at("device");
    record.lent.hello = lent.at("hello");
    record.lent.threads = lent.at("threads");
    record.lent.has_facts = lent.at("has_facts");
    record.lent.has_timing_cores = lent.at("has_timing_cores");
    return record;
  } catch (const json::exception& error) {
    return InvalidArgument(fmt::format("not the record of a trial: {}", error.what()));
  }
}

void ApplyLimits(const json& limits, Protocol* protocol) {
  const auto apply = [&](const char* name, auto* limit) {
    if (const auto found = limits.find(name); found != limits.end()) found->get_to(*limit);
  };
  if (!limits.is_object()) return;
  apply("load_timeout_seconds", &protocol->load_timeout_seconds);
  apply("call_timeout_seconds", &protocol->call_timeout_seconds);
  apply("compile_timeout_seconds", &protocol->compile_timeout_seconds);
  apply("memory_bytes", &protocol->memory_bytes);
}

}  // namespace davinci::judge
