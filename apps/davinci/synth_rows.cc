// davinci synth rows: rows of supervised fine-tuning from judged demonstrations.
#include "synth_rows.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include "davinci/agent/device_facts.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/config/task_config.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/reference_query.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/demos/demo_rows.h"
#include "davinci/text/tokenizer.h"
#include "installation.h"
#include "report.h"
#include "skills_library.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;

struct RowArguments {
  std::string folder;
  std::string out;
  std::string prompts = "compact";
  std::string tokenizer;
  std::string device = "NVIDIA H100 80GB HBM3";
  teacher::RowLimits limits;
};

Result<std::vector<json>> Lines(const fs::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxFileBytes));
  std::vector<json> lines;
  for (const std::string_view line : synth::Split(text, '\n')) {
    json row = json::parse(line, nullptr, false);
    if (row.is_object()) lines.push_back(std::move(row));
  }
  return lines;
}

// The demonstration of a candidate's language, without attempts yet.
Result<teacher::Demonstration> DemonstrationOf(const json& demo, const json& candidate,
                                               skill::Library& library,
                                               const std::map<Target, std::string>& devices) {
  teacher::Demonstration made;
  const std::string language = candidate["language"];
  const Target target = language == "cpp" ? Target::kCpu : Target::kCuda;
  DAVINCI_ASSIGN_OR_RETURN(
      const auto config,
      config::ParseTaskConfig(demo.value("sidecar", ""), demo["id"].get<std::string>() + ".toml"));
  // Delta replies were judged as files; a row holds the reply.
  made.brief = agent::BriefOf(config, target, ParseLanguage(language).value(),
                              candidate.contains("reply") ? ReplyForm::kDelta : ReplyForm::kFile);
  made.brief.id = demo["id"];
  made.brief.class_name = demo.value("defines", made.brief.class_name);
  made.brief.reference = demo["source"];
  // As its candidates were made for.
  if (made.brief.reply == ReplyForm::kDelta) {
    made.brief.steps = demo.value("steps", "");
    made.brief.plan = demo.value("plan", "");
  }
  made.family = demo.value("family", "");
  made.split = demo.value("split", "train");
  made.device = devices.at(target);
  DAVINCI_ASSIGN_OR_RETURN(
      const auto hits,
      library.SearchFor({target, made.brief.language},
                        skill::QueryFromReference(made.brief.reference), agent::kNumCandidates));
  for (const skill::Ranked& hit : hits) made.found.push_back(hit.record.skill.name);
  return made;
}

Status Run(RowArguments arguments) {
  if (!arguments.tokenizer.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto tokenizer, text::Tokenizer::Load(arguments.tokenizer));
    arguments.limits.count_tokens = [tokenizer](std::string_view text) {
      const auto ids = tokenizer.Encode(text);
      return ids.ok() ? static_cast<int64_t>(ids->size()) : llm::EstimateTokens(text);
    };
  }
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  const fs::path folder = arguments.folder;
  DAVINCI_ASSIGN_OR_RETURN(
      const auto prompts,
      agent::PromptSet::Load(home / "prompts", arguments.prompts == "compact"
                                                   ? home / "prompts" / "compact"
                                                   : fs::path()));
  DAVINCI_ASSIGN_OR_RETURN(const auto read, skill::ReadSkills(home / "skills"));
  std::map<std::string, skill::Skill> library;
  for (const auto& document : read.documents) library[document.skill.name] = document.skill;
  std::map<std::string, Evaluation> verdicts;
  DAVINCI_ASSIGN_OR_RETURN(const auto results, Lines(folder / "results.jsonl"));
  for (const json& row : results) {
    auto evaluation = EvaluationFromJson(row.contains("evaluation") ? row["evaluation"] : row);
    if (evaluation.ok()) verdicts[row.value("id", "")] = std::move(*evaluation);
  }
  const agent::DeviceFacts facts =
      agent::CpuFacts(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  std::map<Target, std::string> devices;
  DAVINCI_ASSIGN_OR_RETURN(devices[Target::kCpu], agent::DescribeDevice(prompts, facts));
  agent::DeviceFacts gpu;
  gpu.target = Target::kCuda;
  gpu.name = arguments.device;
  for (const auto& [id, verdict] : verdicts) agent::LearnFromEvaluation(verdict, &gpu);
  DAVINCI_ASSIGN_OR_RETURN(devices[Target::kCuda], agent::DescribeDevice(prompts, gpu));
  DAVINCI_ASSIGN_OR_RETURN(const OpenedLibrary searched,
                           OpenForReading((home / "skills").string()));
  DAVINCI_ASSIGN_OR_RETURN(auto gains, ShippedGains());
  std::string text;
  std::map<std::string, size_t> kept, left_out;
  DAVINCI_ASSIGN_OR_RETURN(const auto demos, Lines(folder / "demos.jsonl"));
  for (const json& demo : demos) {
    std::map<std::string, teacher::Demonstration> by_language;
    for (const json& candidate : demo["candidates"]) {
      const std::string id = candidate["id"], language = candidate["language"];
      auto verdict = verdicts.find(id);
      if (candidate.contains("no_code")) {
        Evaluation unread;
        unread.outcome = Outcome::kParseError;
        unread.message = candidate["no_code"];
        verdict = verdicts.insert_or_assign(id, std::move(unread)).first;
      }
      if (verdict == verdicts.end() || candidate["own_kernels"] == 0) {
        ++left_out[verdict == verdicts.end() ? "not judged" : "no own kernel"];
        continue;
      }
      if (demo.value("asked", "") != demo.value("defines", "")) {
        ++left_out["the kernel is a function, rollouts ask for a class"];
        continue;
      }
      teacher::Demonstration& made = by_language[language];
      if (made.attempts.empty()) {
        DAVINCI_ASSIGN_OR_RETURN(made,
                                 DemonstrationOf(demo, candidate, *searched.library, devices));
      }
      made.attempts.push_back({id, candidate["source"], candidate["skills"], candidate["rules"],
                               candidate.value("mutation", ""), verdict->second,
                               candidate.value("reply", ""), candidate.value("text", ""),
                               agent::LeftOutFromJson(candidate.value("left_out", json()))});
    }
    for (const auto& [language, demonstration] : by_language) {
      arguments.limits.gains = gains[language];
      DAVINCI_ASSIGN_OR_RETURN(const auto made,
                               teacher::RowsOf(prompts, demonstration, library, arguments.limits));
      for (const auto& row : made.rows) {
        const std::string& id = row.origin.id;
        std::string kind = id.substr(id.rfind('.') + 1);
        while (!kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())))
          kind.pop_back();
        ++kept[kind];
        text += JsonText(sftdata::ToJson(row)) + "\n";
      }
      for (const auto& [why, number] : made.left_out) left_out[why] += number;
    }
  }
  const fs::path out = arguments.out.empty() ? folder / "rows.jsonl" : fs::path(arguments.out);
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out, text));
  for (const auto& [kind, number] : kept) fmt::print("{:>7} {}\n", number, kind);
  for (const auto& [why, number] : left_out) fmt::print("{:>7} left out: {}\n", number, why);
  fmt::print("{}\n", out.string());
  return Status::Ok();
}

}  // namespace

void AddSynthRows(CLI::App* synth, int* exit_code) {
  auto* rows = synth->add_subcommand(
      "rows", "rows of fine-tuning for the three agents from demonstrations that were judged");
  auto arguments = std::make_shared<RowArguments>();
  rows->add_option("DIR", arguments->folder, "folder of synth demos --judge")->required();
  rows->add_option("-o,--out", arguments->out, "file of rows (default DIR/rows.jsonl)");
  rows->add_option("--prompts", arguments->prompts, "compact (default) or full")
      ->check(CLI::IsMember({"compact", "full"}));
  rows->add_option("--tokenizer", arguments->tokenizer,
                   "tokenizer.json, or folder of the model to be trained, that counts tokens "
                   "(default: an estimate)");
  rows->add_option("--device", arguments->device,
                   "name of the GPU in prompts where the verdicts have none");
  rows->add_option("--policy-tokens", arguments->limits.policy_tokens,
                   "longest prompt of the policy and of the summary (default 3500)");
  rows->add_option("--selection-tokens", arguments->limits.selection_tokens,
                   "longest prompt of the selection (default 2500)");
  rows->add_option("--bare-repairs", arguments->limits.bare_repairs,
                   "share of repairs whose prompt shows no skills (default 0.5)")
      ->check(CLI::Range(0.0, 1.0));
  rows->add_option("--min-gain", arguments->limits.min_gain,
                   "least speedup of the best attempt over another (default 1.1)");
  rows->footer(
      "Examples:\n"
      "  davinci synth demos --language cpp --level naive best --skills 2 --judge --out demos\n"
      "  davinci synth rows demos\n");
  rows->callback([arguments, exit_code] {
    const Status status = Run(*arguments);
    if (!status.ok()) *exit_code = FailCommand("synth rows", status);
  });
}

}  // namespace davinci::app
