// Does the kernel run from its export? The export's guard falls back to the reference without an
// error, so a correct kernel whose export always falls back would look like a success.

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/files.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/examination.h"
#include "davinci/judge/runner_pool.h"
#include "davinci/judge/untrusted_json.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kMaxReasonBytes = 600;
constexpr double kEndOfProcessSeconds = 5;

bool IsOrder(const json& order) {
  return order.is_array() && std::ranges::all_of(order, &json::is_number_unsigned);
}

// Is it one pair of Runner._op_state: name, index of a tensor that was wanted, order of dimensions?
bool IsPair(const json& pair, size_t num_wanted) {
  return pair.is_array() && pair.size() == 3 && pair[0].is_string() &&
         pair[1].is_number_unsigned() && pair[1].get<size_t>() < num_wanted && IsOrder(pair[2]);
}

// Why a call of the export does not run the kernel; empty where it does.
std::string WhyReference(const Answer& answer) {
  if (answer.failure) return answer.failure->message;
  const auto reasons = answer.ok.find("why");
  if (reasons == answer.ok.end() || !reasons->is_array() || reasons->empty())
    return "its process did not say";
  for (const json& reason : *reasons) {
    if (reason.is_null()) continue;
    return reason.is_string() ? reason.get<std::string>() : "its process did not say";
  }
  return "";
}

}  // namespace

void Examination::KeepHandover(int variant, const json& answer, size_t num_wanted) {
  const auto pairs = answer.find("pairs");
  const bool readable =
      pairs != answer.end() && pairs->is_array() && TextIn(answer, "matched") != "reseeded" &&
      std::ranges::all_of(*pairs, [&](const json& pair) { return IsPair(pair, num_wanted); });
  trial_.candidate.handovers[variant] = readable ? *pairs : json();
}

Result<bool> Examination::MarkUnread(int variant, json* message) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(
      const auto answer,
      trial_.session->oracle->Ask(
          {{"op", "unread"}, {"variant", variant}, {"seed", trial_.secret.Next() >> 1}}));
  bool found = false;
  for (json& tensor : message->at("tensors")) {
    const bool unread =
        std::ranges::find(answer.ok.at("names"), tensor.at("name")) != answer.ok.at("names").end();
    if (unread) tensor["optional"] = true;
    found |= unread;
  }
  (*message)["again"] = found;
  return found;
}

// A process of its own holds guard, kernel and reference, and sees what the reference may read: the
// verdict stands, so there is nothing left to win by it.
Status Examination::CheckExport(Evaluation* evaluation) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  if (trial_.job.target == Target::kCuda && trial_.candidate.timed.runner) {  // for its memory
    trial_.candidate.timed.runner->process().Kill();
    (void)trial_.candidate.timed.runner->process().WaitForDeath(kEndOfProcessSeconds);
  }
  std::vector<std::string> visible(trial_.candidate.imports.visible);
  for (const auto& file : ReferenceFiles()) visible.push_back(file.string());
  DAVINCI_ASSIGN_OR_RETURN(
      PrewarmedRunner home,
      trial_.context.runner_pool->Take(trial_.job.target, false, trial_.protocol.device_connections,
                                       visible, trial_.candidate.imports.names));
  home.runner->process().SetMemoryLimit(MemoryBytes());
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(home.source_path(), trial_.job.export_of(*evaluation), Durability::kFastest));
  if (auto failure = home.runner->AwaitReady(kReadyTimeoutSeconds))
    return Internal(failure->message);
  json request = {{"op", "export"},
                  {"path", home.source_path().string()},
                  {"task", trial_.task.path},
                  {"source", trial_.task.source},
                  {"globals", trial_.task.config.Globals(TargetName(trial_.job.target))},
                  {"imports", ToJson(trial_.candidate.imports)},
                  {"package", trial_.task.imports.package},
                  {"variants", trial_.task.config.variants},
                  {"seed", trial_.session->init_seed}};
  if (trial_.protocol.published)
    request["cast"] = config::PrecisionName(trial_.task.config.precision);
  const Answer answer = home.runner->Ask(
      request, trial_.protocol.load_timeout_seconds + CallTimeout(), Outcome::kRuntimeError);
  const std::string why = WhyReference(answer);
  json& told = evaluation->evidence["export"];
  told = {{"runs_kernel", why.empty()}};
  if (!why.empty()) told["why"] = ElideMiddle(why, kMaxReasonBytes);
  return Status::Ok();
}

}  // namespace davinci::judge
