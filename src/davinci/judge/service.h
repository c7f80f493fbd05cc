// EvaluationService: requests in, evaluations out. What everything that needs verdicts goes
// through: `davinci judge`, rollouts, bench, certification.
//
//   Judges         judge one request, now: a JudgePool (judge_pool.h), or a test's script
//   LocalService   over Judges of this process. Owns, and is the only place of:
//
//     queue          a Lane: as many requests at a time as it has places, the most urgent first
//     retry          a failure of ours is tried once more
//     deduplication  a request identical to one under way waits for that one's evaluation
//     cache          evaluations of earlier runs on this machine, by this judge
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/lane.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/gpu/device.h"
#include "davinci/judge/request/request.h"
#include "davinci/store/kv_cache.h"

namespace davinci::judge {

class Judges {
 public:
  virtual ~Judges() = default;
  // The candidate's failures are values. A Status, or an Evaluation with kJudgeError, is our
  // failure; InvalidArgument and NotFound blame the task.
  virtual Result<Evaluation> Evaluate(const EvaluationRequest& request,
                                      const CancelToken& cancel) = 0;
  // What evaluations depend on beyond the request: device, judge, torch. Part of cache keys.
  virtual std::string Identity() = 0;
};

struct ServiceReply {
  Evaluation evaluation;
  // Where it comes from: judged for this request, in the cache, or judged for an identical request
  // that was under way.
  enum class Source { kJudged, kCache, kIdentical } source = Source::kJudged;
  int attempts = 0;  // of kJudged
  double queue_seconds = 0;
  double judge_seconds = 0;
};

class EvaluationService {
 public:
  virtual ~EvaluationService() = default;
  // As Judges::Evaluate(), but an evaluation is never kJudgeError. kCancelled when `cancel` fires
  // while the request waits, or between two attempts.
  virtual Result<ServiceReply> Evaluate(const EvaluationRequest& request,
                                        const CancelToken& cancel = {}) = 0;
};

// Upper over lower end of the speedup's interval; infinite where nothing bounds it.
double IntervalWidth(const Evaluation& evaluation);
// A time that others take over must be worth having: IntervalWidth() at most this.
inline constexpr double kWidestSharedInterval = 1.25;

// A failure that is ours, so that trying again may help.
bool IsOurFailure(const Status& status);

// Attempts at one request, where the failure is ours.
inline constexpr int kServiceAttempts = 2;

class LocalService : public EvaluationService {
 public:
  // Nothing is owned. `judges` is null where nothing will be asked, `cache` where there is none.
  LocalService(Judges* judges, Lane* lane, store::KvCache* cache);

  Result<ServiceReply> Evaluate(const EvaluationRequest& request,
                                const CancelToken& cancel = {}) override;

 private:
  struct UnderWay;
  Result<ServiceReply> JudgeNow(const EvaluationRequest& request, const CancelToken& cancel);
  std::string CacheKey(const std::string& hash);
  std::optional<Evaluation> FromCache(const std::string& hash);
  void ToCache(const std::string& hash, const Evaluation& evaluation);

  Judges* const judges_;
  Lane* const lane_;
  store::KvCache* const cache_;
  Mutex mutex_;  // guards under_way_ and what it points to
  std::condition_variable_any settled_;
  std::map<std::string, std::shared_ptr<UnderWay>> under_way_
      DAVINCI_GUARDED_BY(mutex_);  // by EvaluationRequest::Hash()
};

// What an evaluation depends on beyond the request.
struct JudgeVersions {
  std::string judge;      // davinci's version, and its program, worker library and Python files
  std::string libraries;  // interpreter, torch, Triton
  std::string driver;     // of the GPU; "" on cpu
  std::string device;     // name, cores, memory
};
std::string JudgeIdentityOf(const JudgeVersions& versions);

// JudgeVersions::device and ::driver of the GPUs that judge: each kind once, in any order. Devices
// of other kinds make other verdicts.
std::string DeviceVersion(const std::vector<gpu::DeviceInfo>& judging);
std::string DriverVersion(const std::vector<gpu::DeviceInfo>& judging);

}  // namespace davinci::judge
