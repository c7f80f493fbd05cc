#include "davinci/judge/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/hash.h"
#include "davinci/base/mutex.h"

namespace davinci::judge {
namespace {

constexpr char kCacheSpace[] = "verdicts/2";

// Does it not depend on the machine's mood: a failure that repeats, or a time whose interval is
// bounded and narrow?
bool Repeats(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kParseError:
    case Outcome::kCompileError:
    case Outcome::kLoadError:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
    case Outcome::kMismatch:
    case Outcome::kCompileOnly:
      return true;
    case Outcome::kOk:
      return IntervalWidth(evaluation) <= kWidestSharedInterval;
    default:
      return false;
  }
}

// Requests about one task share its processes.
std::string GroupOf(const EvaluationRequest& request) {
  return request.task ? request.task->path : "";
}

}  // namespace

double IntervalWidth(const Evaluation& evaluation) {
  const auto& speedup = evaluation.speedup;
  const bool bounded = speedup && speedup->low > 0 && std::isfinite(speedup->high);
  return bounded ? speedup->high / speedup->low : std::numeric_limits<double>::infinity();
}

bool IsOurFailure(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kInternal ||
         status.code() == StatusCode::kDeadlineExceeded;
}

std::string JudgeIdentityOf(const JudgeVersions& versions) {
  Sha256 hash;
  for (const std::string* field :
       {&versions.judge, &versions.libraries, &versions.driver, &versions.device})
    hash.Field(*field);
  return hash.FinishHex();
}

std::string DeviceVersion(const std::vector<gpu::DeviceInfo>& judging) {
  std::set<std::string> kinds;
  for (const gpu::DeviceInfo& device : judging)
    kinds.insert(fmt::format("{} {}", device.name, device.memory_total_bytes));
  return fmt::format("{}", fmt::join(kinds, "; "));
}

std::string DriverVersion(const std::vector<gpu::DeviceInfo>& judging) {
  if (judging.empty()) return "";
  return fmt::format("{} {}", judging.front().driver_version, judging.front().cuda_driver_version);
}

struct LocalService::UnderWay {
  bool done = false;
  std::optional<Evaluation> evaluation;  // none: it failed; who waits for it judges anew
};

LocalService::LocalService(Judges* judges, Lane* lane, store::KvCache* cache)
    : judges_(judges), lane_(lane), cache_(cache) {}

std::string LocalService::CacheKey(const std::string& hash) {
  return Sha256().Field(hash).Field(judges_->Identity()).FinishHex();
}

std::optional<Evaluation> LocalService::FromCache(const std::string& hash) {
  if (cache_ == nullptr) return std::nullopt;
  const auto found = cache_->Get(kCacheSpace, CacheKey(hash));
  if (!found.ok() || !*found) return std::nullopt;  // a cache that fails costs time, nothing else
  auto evaluation = EvaluationFromJson(**found);
  if (!evaluation.ok()) return std::nullopt;
  return std::move(evaluation).value();
}

void LocalService::ToCache(const std::string& hash, const Evaluation& evaluation) {
  if (cache_ != nullptr && Repeats(evaluation))
    (void)cache_->Put(kCacheSpace, CacheKey(hash), ToJson(evaluation));
}

Result<ServiceReply> LocalService::JudgeNow(const EvaluationRequest& request,
                                            const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(const Lane::Place place,
                           lane_->Enter(request.urgency, request.order, cancel, GroupOf(request)));
  const Stopwatch watch;
  for (int attempt = 1;; ++attempt) {
    if (cancel.stop_requested()) return Cancelled("stopped before the judgement began");
    auto evaluation = judges_->Evaluate(request, cancel);
    if (evaluation.ok() && evaluation->outcome != Outcome::kJudgeError) {
      nlohmann::json& provenance = evaluation->provenance;
      if (attempt > 1) provenance["attempts"] = provenance.value("attempts", 1) + attempt - 1;
      return ServiceReply{*std::move(evaluation), ServiceReply::Source::kJudged, attempt,
                          place.waited_seconds(), watch.Seconds()};
    }
    const Status failed =
        evaluation.ok() ? Internal(evaluation->message) : std::move(evaluation).status();
    if (!IsOurFailure(failed) || attempt >= kServiceAttempts) return failed;
  }
}

Result<ServiceReply> LocalService::Evaluate(const EvaluationRequest& request,
                                            const CancelToken& cancel) {
  if (request.afresh) return JudgeNow(request, cancel);
  const std::string hash = request.Hash();
  const auto mine = std::make_shared<UnderWay>();
  {
    MutexLock lock(mutex_);
    for (;;) {
      const auto [found, is_first] = under_way_.try_emplace(hash, mine);
      if (is_first) break;
      const std::shared_ptr<UnderWay> other = found->second;
      settled_.wait(lock, cancel, [&] { return other->done; });
      if (!other->done) return Cancelled("stopped while an identical kernel was judged");
      if (other->evaluation)
        return ServiceReply{*other->evaluation, ServiceReply::Source::kIdentical};
    }
  }
  Result<ServiceReply> reply = [&]() -> Result<ServiceReply> {
    if (auto cached = FromCache(hash))
      return ServiceReply{*std::move(cached), ServiceReply::Source::kCache};
    return JudgeNow(request, cancel);
  }();
  if (reply.ok()) {
    if (reply->source == ServiceReply::Source::kJudged) ToCache(hash, reply->evaluation);
    if (request.on_judged) request.on_judged(*reply);
  }
  {
    MutexLock lock(mutex_);
    mine->done = true;
    if (reply.ok()) mine->evaluation = reply->evaluation;
    under_way_.erase(hash);
  }
  settled_.notify_all();
  return reply;
}

}  // namespace davinci::judge
