#include "davinci/data/evidence.h"

#include <string_view>

namespace davinci {
namespace {

using nlohmann::json;

// Members of an object; what is absent, empty or null is left out.
class Members {
 public:
  explicit Members(json* object) : object_(object) {}

  void Put(std::string_view name, const json& value) {
    if (!value.is_null()) (*object_)[name] = value;
  }
  void PutText(std::string_view name, const std::string& text) {
    if (!text.empty()) (*object_)[name] = text;
  }
  template <typename T>
  void PutIf(std::string_view name, const std::optional<T>& value) {
    if (value) (*object_)[name] = *value;
  }
  template <typename T, typename Write>
  void PutIf(std::string_view name, const std::optional<T>& value, const Write& write) {
    if (value) (*object_)[name] = write(*value);
  }

 private:
  json* object_;
};

json FailureJson(const FailureEvidence& failure) {
  json document = json::object();
  Members members(&document);
  members.PutIf("rule", failure.rule, RuleName);
  members.PutText("traceback", failure.traceback);
  members.PutText("death", failure.death);
  members.PutText("output_tail", failure.output_tail);
  if (failure.mismatch) {
    document["comparison"] = failure.mismatch->comparison;
    document["distribution"] = failure.mismatch->distribution;
    document["variant"] = failure.mismatch->variant;
    document["reweighs"] = failure.mismatch->reweighs;
  }
  return document;
}

json ChecksJson(const std::vector<CheckEvidence>& checks) {
  json list = json::array();
  for (const CheckEvidence& check : checks)
    list.push_back({{"distribution", check.distribution},
                    {"variant", check.variant},
                    {"passed", check.passed},
                    {"error_over_tolerance", check.error_over_tolerance}});
  return list;
}

json ClocksJson(const ClockEvidence& clocks) {
  json document = {{"outer_ms", clocks.outer_ms},
                   {"runner_ms", clocks.runner_ms},
                   {"outer_without_waiting_ms", clocks.outer_without_waiting_ms},
                   {"cpu_ms", clocks.cpu_ms},
                   {"cpu_while_stopped_ms", clocks.cpu_while_stopped_ms},
                   {"protocol_overhead_ms", clocks.protocol_overhead_ms},
                   {"protocol_noise_ms", clocks.protocol_noise_ms},
                   {"arm_excess_ms", clocks.arm_excess_ms},
                   {"arm_charged_ms", clocks.arm_charged_ms}};
  Members members(&document);
  members.PutIf("settle_ms", clocks.settle_ms);
  members.PutIf("publish_ms", clocks.publish_ms);
  members.PutText("agreement", clocks.agreement);
  return document;
}

json WindowsJson(const WindowEvidence& windows) {
  const auto medians = [](const WindowEvidence::Medians& both) {
    json list = json::array();
    for (const std::optional<double>& ms : both) list.push_back(ms ? json(*ms) : json());
    return list;
  };
  return {{"calls", windows.calls},
          {"one_memory", windows.one_memory},
          {"empty_ms", windows.empty_ms},
          {"turn_ms", windows.turn_ms},
          {"flush_ms", windows.flush_ms},
          {"first_call_ms", windows.first_call_ms},
          {"between_events_ms", windows.between_events_ms},
          {"full_queue_ms", medians(windows.full_queue_ms)},
          {"alone_ms", medians(windows.alone_ms)},
          {"after_done_ms", windows.after_done_ms},
          {"charged_ms", windows.charged_ms},
          {"host_ms", windows.host_ms},
          {"not_held", windows.not_held},
          {"own_cores", windows.own_cores},
          {"pairs", windows.pairs}};
}

json RooflineJson(const RooflineEvidence& roofline) {
  return {{"attainable_ms", roofline.attainable_ms},
          {"bound", roofline.memory_bound ? "memory" : "compute"},
          {"bytes", roofline.bytes},
          {"flops", roofline.flops},
          {"impossible_ms", roofline.impossible_ms},
          {"peaks", roofline.peaks}};
}

json PublishedRuleJson(const PublishedRuleEvidence& rule) {
  if (!rule.why.empty()) return {{"correct", nullptr}, {"why", rule.why}};
  return {{"correct", rule.correct},
          {"tolerance", rule.tolerance},
          {"trials", rule.trials},
          {"wrong_elements", rule.wrong_elements},
          {"max_abs_diff", rule.max_abs_diff},
          {"compared", rule.compared}};
}

json UndisturbedJson(const UndisturbedEvidence& calls) {
  return {{"baseline", calls.baseline}, {"candidate", calls.candidate}, {"of", calls.of}};
}

json WakingJson(const WakingEvidence& waking) {
  return {{"threads", waking.threads}, {"cpu_ms", waking.cpu_ms}, {"wall_ms", waking.wall_ms}};
}

json DeviceStateJson(const DeviceStateEvidence& state) {
  json document = {{"before", state.before}};
  Members(&document).Put("after", state.after);
  return document;
}

json DeviceMemoryJson(const DeviceMemoryEvidence& memory) {
  json document = json::object();
  Members members(&document);
  members.PutIf("estimated_bytes", memory.estimated_bytes);
  members.Put("oracle_peak_bytes", memory.oracle_peak_bytes);
  return document;
}

json ComparedJson(const std::vector<CompileOnlyEvidence::Compared>& compared) {
  json list = json::array();
  for (const auto& one : compared)
    list.push_back({{"variant", one.variant}, {"distribution", one.distribution}});
  return list;
}

}  // namespace

json ToJson(const CompileOnlyEvidence& evidence) {
  json document = {{"arch", evidence.arch},
                   {"sizes", evidence.sizes},
                   {"ran", evidence.ran},
                   {"not_checked", evidence.not_checked}};
  Members members(&document);
  members.Put("report", evidence.report);
  members.Put("shrunk", evidence.shrunk);
  members.Put("bytes", evidence.bytes);
  members.PutIf("compared", evidence.compared, ComparedJson);
  members.PutIf("not_compared", evidence.not_compared, [](const auto& not_compared) {
    return json{{"variant", not_compared.variant}, {"because", not_compared.because}};
  });
  members.PutIf("blocked", evidence.blocked, [](const auto& blocked) {
    return json{{"reason", blocked.reason}, {"detail", blocked.detail}};
  });
  return document;
}

json ToJson(const Evidence& evidence) {
  json document = json::object();
  Members members(&document);
  members.PutText("output_tail", evidence.output_tail);
  document.update(FailureJson(evidence.failure));
  members.PutIf("checks", evidence.checks, ChecksJson);
  members.PutIf("clocks", evidence.clocks, ClocksJson);
  members.PutIf("windows", evidence.windows, WindowsJson);
  members.PutIf("roofline", evidence.roofline, RooflineJson);
  members.PutIf("kernelbench", evidence.kernelbench, PublishedRuleJson);
  members.PutIf("undisturbed_calls", evidence.undisturbed_calls, UndisturbedJson);
  members.PutIf("waking", evidence.waking, WakingJson);
  members.PutIf("device_state", evidence.device_state, DeviceStateJson);
  members.PutIf("device_memory", evidence.device_memory, DeviceMemoryJson);
  members.PutIf("compile_only", evidence.compile_only,
                [](const CompileOnlyEvidence& found) { return ToJson(found); });
  members.PutIf("stress_while_timing", evidence.stress_while_timing);
  members.PutIf("stopped_because", evidence.stopped_because);
  members.PutIf("timed_again", evidence.timed_again);
  if (!evidence.launches.empty()) document["launches"] = evidence.launches;
  members.PutIf("candidate_libraries", evidence.candidate_libraries);
  members.PutIf("threads", evidence.threads);
  members.PutIf("output_bytes", evidence.output_bytes);
  members.Put("sandbox", evidence.sandbox);
  members.Put("admission", evidence.admission);
  members.Put("nonfinite", evidence.nonfinite);
  members.Put("profile", evidence.profile);
  members.Put("work", evidence.work);
  members.Put("verified", evidence.verified);
  return document;
}

}  // namespace davinci
