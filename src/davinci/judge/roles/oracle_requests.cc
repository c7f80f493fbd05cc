#include "davinci/judge/roles/oracle_requests.h"

#include <utility>

namespace davinci::judge::to_oracle {
namespace {

using nlohmann::json;

json Written(const Place& place) { return {{"name", place.name}, {"shift", place.shift}}; }

json Written(const Left& left) {
  json written = {{"outputs", Written(left.outputs)}};
  if (left.baseline) written["baseline"] = Written(*left.baseline);
  return written;
}

json Written(const ShrinkTo& shrink) {
  return {{"memory", shrink.memory}, {"own", shrink.own}, {"most", shrink.most}, {"to", shrink.to}};
}

// The members of each request but "op".
json Written(const Load& asked) {
  json written = {{"path", asked.path},
                  {"source", asked.source},
                  {"entry", asked.entry},
                  {"function", asked.function},
                  {"globals", asked.globals},
                  {"variants", asked.variants},
                  {"init_seed", asked.init_seed},
                  {"state_seed", asked.state_seed},
                  {"randomise", asked.randomise},
                  {"alone", asked.alone},
                  {"call_seconds", asked.call_seconds},
                  {"imports", ToJson(asked.imports)},
                  {"precision", config::PrecisionName(asked.precision)},
                  {"inplace", asked.inplace}};
  if (!asked.op_path.empty()) written["op_path"] = asked.op_path;
  if (asked.mode != config::ModuleMode::kAsConstructed)
    written["mode"] = config::ModuleModeName(asked.mode);
  if (asked.domain_on_host) written["domain_on_host"] = true;
  if (asked.tolerance_multiple) written["tolerance_multiple"] = *asked.tolerance_multiple;
  if (asked.published_tolerance) written["published_tolerance"] = *asked.published_tolerance;
  if (asked.compile_only) written["compile_only"] = Written(*asked.compile_only);
  if (asked.window_calls) written["window_calls"] = *asked.window_calls;
  if (!asked.inputs.empty()) written["inputs"] = asked.inputs;
  if (!asked.specification.empty()) written["specification"] = asked.specification;
  return written;
}

json Written(const Describe& asked) { return {{"variant", asked.variant}, {"seed", asked.seed}}; }
json Written(const Graph& asked) { return {{"variant", asked.variant}, {"seed", asked.seed}}; }
json Written(const SymbolicGraph& asked) { return {{"seed", asked.seed}}; }
json Written(const Mutates& asked) { return {{"seed", asked.seed}}; }

json Written(const Admit& asked) {
  json written = {{"seed", asked.seed}};
  if (asked.budget_seconds) written["budget_seconds"] = *asked.budget_seconds;
  return written;
}

json Written(const State& asked) { return {{"variant", asked.variant}}; }
json Written(const Unread& asked) { return {{"variant", asked.variant}, {"seed", asked.seed}}; }
json Written(const Reweigh& asked) { return {{"seed", asked.seed}, {"buffers", asked.buffers}}; }
json Written(const Unrandomise&) { return json::object(); }

json Written(const MakeArena& asked) {
  return {{"name", asked.name}, {"slot_bytes", asked.slot_bytes}, {"slots", asked.slots}};
}

json Written(const Prepare& asked) {
  json written = {{"seed", asked.seed},
                  {"distribution", asked.distribution},
                  {"variant", asked.variant},
                  {"truth", asked.truth}};
  if (asked.keep) written["keep"] = true;
  return written;
}

json Written(const Publish& asked) {
  return {{"name", asked.name}, {"shift", asked.shift}, {"slot_bytes", asked.slot_bytes}};
}

json Written(const Nonfinite& asked) { return {{"seed", asked.seed}}; }
json Written(const MapOutputs& asked) { return {{"bytes", asked.bytes}}; }

json Written(const Settle& asked) {
  json written = {{"outputs", asked.outputs}};
  if (asked.overwrite)
    written["overwrite"] = {{"seed", asked.overwrite->seed}, {"which", asked.overwrite->which}};
  return written;
}

json Written(const Verify& asked) {
  json written = {{"outputs", asked.outputs},
                  {"left", Written(asked.left)},
                  {"truth", asked.truth},
                  {"settled", asked.settled}};
  if (asked.baseline) written["baseline"] = *asked.baseline;
  if (asked.intact) written["intact"] = Written(*asked.intact);
  return written;
}

json Written(const Compare& asked) {
  json written = {{"outputs", asked.outputs}, {"left", Written(asked.left)}};
  if (asked.at_a_glance) written["at_a_glance"] = true;
  return written;
}

json Written(const PublishedCompare& asked) {
  return {{"outputs", asked.outputs}, {"tolerance", asked.tolerance}};
}

json Written(const NonfiniteCompare& asked) { return {{"outputs", asked.outputs}}; }
json Written(const MakeBuffers& asked) { return {{"count", asked.count}}; }
json Written(const DrawAhead& asked) { return {{"seeds", asked.seeds}}; }
json Written(const Draw& asked) { return {{"seeds", asked.seeds}}; }

json Written(const PublishSeveral& asked) {
  return {{"name", asked.name}, {"shifts", asked.shifts}, {"cool", asked.cool}};
}

json Written(const Hold&) { return json::object(); }
json Written(const Release& asked) { return {{"seconds", asked.seconds}}; }

json Written(const Filled& asked) {
  return {{"seed", asked.seed}, {"count", asked.count}, {"secret", asked.secret}};
}

json Written(const VerifySeveral& asked) {
  json calls = json::array();
  for (const Verify& call : asked.calls) {
    json one = Written(call);
    one["op"] = Verify::kOp;
    calls.push_back(std::move(one));
  }
  return {{"calls", std::move(calls)}};
}

json Written(const Profile& asked) {
  return {{"seed", asked.seed}, {"warmup_seconds", asked.warmup_seconds}};
}

json Written(const Peaks&) { return json::object(); }
json Written(const Calibrate&) { return json::object(); }
json Written(const Turn&) { return json::object(); }
json Written(const Rest&) { return json::object(); }
json Written(const Forget&) { return json::object(); }

}  // namespace

json ToJson(const Request& request) {
  json written = std::visit([](const auto& asked) { return Written(asked); }, request);
  written["op"] = OpOf(request);
  return written;
}

json ToJson(std::span<const Request> requests) {
  json written = json::array();
  for (const Request& request : requests) written.push_back(ToJson(request));
  return {{"op", "several"}, {"requests", std::move(written)}};
}

}  // namespace davinci::judge::to_oracle
