#include "davinci/judge/roles/runner_replies.h"

#include "davinci/judge/roles/untrusted_json.h"

namespace davinci::judge::from_runner {
namespace {

using nlohmann::json;

// A member that is an array; else an empty one.
const json& ArrayIn(const json& object, const char* key) {
  static const json none = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : none;
}

}  // namespace

void from_json(const json& reply, Loaded& read) { read.seconds = NumberIn(reply, "seconds", 0); }

void from_json(const json& reply, TookState& read) {
  read.matched = TextIn(reply, "matched");
  if (const auto pairs = reply.find("pairs"); pairs != reply.end()) read.pairs = *pairs;
}

void from_json(const json& reply, Hot& read) { read.ms = NumberIn(reply, "ms", 0); }

void from_json(const json& reply, Profiled& read) {
  if (const auto device = reply.find("device"); device != reply.end())
    if (const double ms = NumberIn(*device, "busy_ms", -1); ms >= 0) read.busy_ms = ms;
  read.library_share = NumberIn(reply, "library_share", 0);
  for (const json& op : ArrayIn(reply, "operators"))
    if (FlagIn(op, "compute") && read.top_operator.empty()) read.top_operator = TextIn(op, "op");
}

void from_json(const json& reply, CalledExport& read) {
  constexpr char kUnsaid[] = "its process did not say";
  const json& reasons = ArrayIn(reply, "why");
  read.why_reference = reasons.empty() ? kUnsaid : "";
  for (const json& reason : reasons) {
    if (reason.is_null()) continue;
    read.why_reference = reason.is_string() ? reason.get<std::string>() : kUnsaid;
    return;
  }
}

void from_json(const json& reply, CompiledOnly& read) {
  if (const auto blocked = reply.find("blocked"); blocked != reply.end() && blocked->is_object())
    read.blocked = {TextIn(*blocked, "reason"), TextIn(*blocked, "detail")};
  read.any_size = FlagIn(reply, "any_size");
  for (const json& kernel : ArrayIn(reply, "kernels")) {
    if (!kernel.is_object()) continue;
    ++read.triton;
    if (CountIn(kernel, "interpreted") > 0) ++read.interpreted;
    read.tf32 = read.tf32 || TextIn(kernel, "fp32_products") == "TF32";
  }
  for (const json& build : ArrayIn(reply, "builds"))
    if (FlagIn(build, "ok")) ++read.compiled;
}

void from_json(const json& reply, Forgot& read) {
  read.clean = FlagIn(reply, "clean");
  read.full = FlagIn(reply, "full");
}

}  // namespace davinci::judge::from_runner
