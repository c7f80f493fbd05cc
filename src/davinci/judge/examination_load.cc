// What other work on the machine does to a call on the cpu target where several processes of either
// side are timed (Protocol::processes), told from what the call itself
// does: by the kernel's account of how long each thread was ready to run and waited for a core.
//
//   excused   of the main thread's wait, what threads of its own process cannot have caused: taken
//             off the time of the call, since a preemption is no work
//   clean     all threads together waited for no longer than waking them costs
//   least     what the call can have taken at least: none of the waits lay behind another
//
// A candidate that makes its own threads wait for one another is excused nothing, and its calls
// are not clean: what it would gain by that is found by its CPU time (OnAverage()).

#include <algorithm>
#include <vector>

#include "davinci/judge/examination.h"
#include "davinci/judge/stats/summary.h"

namespace davinci::judge {
namespace {

// Waits of a call that nobody held up: the tenth percentile of its side, and at most this share of
// the call, since on a busy machine each call may be held up.
constexpr double kUsualShare = 0.2;
// A call is clean that waited for no longer than twice that and this share of it, or these seconds,
// which is what waking one thread on a core of a virtual machine costs.
constexpr double kCleanShare = 0.05;
constexpr int64_t kCleanNs = 20'000;
constexpr double kLeastShareOfCores = 0.25;

}  // namespace

bool Examination::CorrectsLoad() const {
  return job_.target == Target::kCpu && protocol_.processes > 1;
}

void Examination::LearnWaits() {
  for (const Side side : {Side::kBaseline, Side::kCandidate}) {
    std::vector<double> waits;
    std::vector<double> walls;
    for (const Pair& pair : pairs_) {
      const CallResult& call = side == Side::kBaseline ? pair.baseline : pair.candidate;
      waits.push_back(static_cast<double>(call.cores.waited_ns));
      walls.push_back(static_cast<double>(call.wall_ns));
    }
    usual_wait_ns_[static_cast<int>(side)] = static_cast<int64_t>(
        std::min(Percentile(waits, 0.1), kUsualShare * Percentile(walls, 0.1)));
  }
}

int64_t Examination::ExcusedNs(const CallResult& call) const {
  if (!CorrectsLoad()) return 0;
  // What waking the main thread costs is part of the protocol's cost already.
  const int64_t usual = std::max(usual_wait_ns_[0], usual_wait_ns_[1]) + kCleanNs;
  return std::clamp(call.cores.OthersNs() - usual, int64_t{0}, call.wall_ns);
}

bool Examination::IsClean(const CallResult& call) const {
  if (!CorrectsLoad()) return true;
  const int64_t usual = std::max(usual_wait_ns_[0], usual_wait_ns_[1]);
  const auto share = static_cast<int64_t>(kCleanShare * static_cast<double>(call.wall_ns));
  // What is excused is known exactly; the rest is not.
  return call.cores.waited_ns - ExcusedNs(call) <= 2 * usual + share + kCleanNs;
}

double Examination::LeastSeconds(const CallResult& call) const {
  const double record = RecordSeconds(call);
  if (IsClean(call)) return record;
  const double waited = 1e-9 * static_cast<double>(call.cores.waited_ns);
  const double by_cores =
      1e-9 * static_cast<double>(call.cores.ran_ns) / std::max(workshop_.threads, 1);
  return std::min(record, std::max({record - waited, by_cores, 1e-9}));
}

double Examination::ShareOfCores() const {
  if (!CorrectsLoad()) return 1;
  double waited = 0;
  double all = 0;
  for (const Pair& pair : pairs_)
    for (const CallResult* call : {&pair.baseline, &pair.candidate}) {
      waited += static_cast<double>(std::min(call->core_wait_ns, call->wall_ns));
      all += static_cast<double>(call->wall_ns);
    }
  return std::max(kLeastShareOfCores, all > 0 ? 1 - waited / all : 1.0);
}

}  // namespace davinci::judge
