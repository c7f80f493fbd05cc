// CUDA Agent: reference notes peers.md 1.4. One session per task; pass rate, share of tasks that
// are more than 5 % faster, geometric mean of speedups, and the milestone reward -1 wrong, 1
// correct, 2 faster than eager, 3 faster than eager and compile, "faster" being more than 5 %.
#include <string_view>

#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

constexpr double kMargin = 1.05;

Attempt Rule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

// A log has one baseline; the third milestone needs two and is never given on its word.
double Milestone(const Attempt& a) {
  if (!a.correct) return -1;
  return a.speedup > kMargin ? 2 : 1;
}

std::vector<Metric> Metrics(const RunShape&) {
  const Reading session{"final answer", Last(), Pool::kAllSamples};
  return {Correctness(session), FastP(session, kMargin, Compare::kGreater), GeomeanSpeedup(session),
          MeanOf(session, "milestone", "milestone reward", Milestone)};
}

}  // namespace

Protocol CudaAgentProtocol() {
  return {"cuda-agent",
          "CUDA Agent",
          "Each trajectory is a session, its last turn the answer. Pass rate; share more than 5 % "
          "faster than the log's baseline; geometric mean over correct answers; milestone reward "
          "-1, 1, 2.",
          Rule,
          Metrics,
          {"the paper reports against eager and against compile; this log has the baseline named "
           "below, so milestone 3 (faster than both) cannot be given",
           "whether the paper's mean includes answers that are not correct is not stated; here it "
           "does not"}};
}

}  // namespace davinci::score
