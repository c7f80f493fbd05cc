// CUDA Agent (arXiv 2602.24286). One session per task; pass rate, share of tasks that
// are more than 5 % faster, geometric mean of speedups, and the milestone reward -1 wrong, 1
// correct, 2 faster than eager, 3 faster than eager and compile, "faster" being more than 5 %.
#include <optional>
#include <string_view>

#include "davinci/data/turn_facts.h"
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

Attempt CudaAgentRule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (!attempt.correct) {
    attempt.speedup = attempt.speedup_low = 0;
    attempt.over_eager.reset();
    attempt.over_compile.reset();
  }
  return attempt;
}

double Milestone(const Attempt& a) {
  // A log with another single baseline has that in the place of eager.
  if (!a.over_eager) return MilestoneReward(a.correct, {a.speedup, std::nullopt});
  return MilestoneReward(a.correct, {a.over_eager, a.over_compile});
}

std::vector<Metric> CudaAgentMetrics(const RunShape&) {
  const Reading session{"final answer", Last(), Pool::kAllSamples};
  return {Correctness(session), FastP(session, kMilestoneMargin, Compare::kGreater),
          GeomeanSpeedup(session), MeanOf(session, "milestone", "milestone reward", Milestone)};
}

}  // namespace

Protocol CudaAgentProtocol() {
  return {
      "cuda-agent",
      "CUDA Agent",
      "Each trajectory is a session, its last turn the answer. Pass rate; share more than 5 % "
      "faster than the log's baseline; geometric mean over correct answers; milestone reward "
      "-1 wrong, 1 correct, 2 more than 5 % faster than eager, 3 than eager and compile.",
      CudaAgentRule,
      CudaAgentMetrics,
      {"the paper reports against eager and against compile; milestone 3 is given where a verdict "
       "carries both speedups, and never on the word of one",
       "whether the paper's mean includes answers that are not correct is not stated; here it "
       "does not"}};
}

}  // namespace davinci::score
