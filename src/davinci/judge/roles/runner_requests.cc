#include "davinci/judge/roles/runner_requests.h"

namespace davinci::judge::to_runner {
namespace {

using nlohmann::json;

// The members of each request but "op".
json Written(const LoadCandidate& asked) {
  json written = {{"path", asked.path},
                  {"entry", asked.entry},
                  {"function", asked.function},
                  {"module", "candidate"},
                  {"imports", ToJson(asked.imports)},
                  {"compile_only", nullptr}};
  if (asked.compile_only)
    written["compile_only"] = {{"arch", asked.compile_only->arch},
                               {"seconds", asked.compile_only->seconds}};
  if (asked.shared) written["shared"] = true;
  return written;
}

json Written(const LoadReference& asked) {
  return {{"path", asked.path},
          {"source", asked.source},
          {"entry", asked.entry},
          {"function", asked.function},
          {"op_path", asked.op_path},
          {"globals", asked.globals},
          {"imports", ToJson(asked.imports)},
          {"module", "davinci_task"},
          {"accelerate", false}};
}

json Written(const Construct& asked) {
  json written = {
      {"variant", asked.variant}, {"init", asked.init}, {"seed", asked.seed}, {"mode", asked.mode}};
  if (asked.padding) written["padding"] = *asked.padding;
  if (asked.cast) written["cast"] = config::PrecisionName(*asked.cast);
  if (asked.compile) written["compile"] = *asked.compile;
  return written;
}

json Written(const TakeState& asked) {
  json written = asked.exported;
  written["variant"] = asked.variant;
  if (asked.again) written["again"] = *asked.again;
  return written;
}

json Written(const Bind& asked) {
  json contiguous = json::array();
  for (const std::optional<int64_t>& elements : asked.contiguous)
    contiguous.push_back(elements ? json(*elements) : json());
  json written = {{"variant", asked.variant},
                  {"inputs", asked.inputs},
                  {"contiguous", contiguous},
                  {"kept", asked.kept},
                  {"bytes", asked.bytes}};
  if (asked.handle) written["handle"] = *asked.handle;
  return written;
}

json Written(const MapBuffers& asked) { return asked.made; }

json Written(const Arm& asked) {
  json written = {{"shift", asked.shift}, {"args", asked.args}};
  if (asked.gate) written["gate"] = true;
  if (asked.seeded) written["seeded"] = true;
  return written;
}

json Written(const ArmWindow& asked) {
  return {{"window",
           {{"calls", asked.calls},
            {"shifts", asked.shifts},
            {"args", asked.args},
            {"flush", asked.flush},
            {"idle", asked.idle},
            {"seeded", asked.seeded},
            {"empty", asked.empty}}}};
}

json Written(const Profile& asked) {
  return {{"args", asked.args}, {"shift", asked.shift}, {"warmup_seconds", asked.warmup_seconds}};
}

json Written(const Hot& asked) {
  return {{"args", asked.args}, {"shift", asked.shift}, {"seconds", asked.seconds}};
}

json Written(const Sleepers& asked) { return {{"count", asked.count}}; }

json Written(const CallExport& asked) {
  json written = {{"path", asked.path},
                  {"task", asked.task},
                  {"source", asked.source},
                  {"globals", asked.globals},
                  {"imports", ToJson(asked.imports)},
                  {"package", asked.package},
                  {"variants", asked.variants},
                  {"seed", asked.seed}};
  if (asked.cast) written["cast"] = config::PrecisionName(*asked.cast);
  return written;
}

json Written(const Warm&) { return json::object(); }
json Written(const WarmProfiler&) { return json::object(); }
json Written(const Lock&) { return json::object(); }
json Written(const CompileOnly&) { return json::object(); }
json Written(const Forget&) { return json::object(); }

}  // namespace

json ToJson(const Request& request) {
  json written = std::visit([](const auto& asked) { return Written(asked); }, request);
  written["op"] = OpOf(request);
  return written;
}

}  // namespace davinci::judge::to_runner
