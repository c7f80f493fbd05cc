#include "davinci/agent/feedback.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/agent/measurement_text.h"
#include "davinci/base/utf8.h"

namespace davinci::agent {
namespace {

// Whatever happens, so much of the message is kept: the first error is worth more than any table.
constexpr size_t kMinMessageBytes = 200;

}  // namespace

std::string BestText(const Progress& progress) {
  if (progress.best_turn <= 0) return "";
  return fmt::format("turn {}, {}", progress.best_turn,
                     progress.best ? TimesAsFast(*progress.best) : "correct, not timed");
}

Result<std::string> RenderFeedback(const PromptSet& prompts, const TaskBrief& task,
                                   const Evaluation& evaluation, const Progress& progress,
                                   const FeedbackOptions& options,
                                   const std::vector<LeftOut>& left_out) {
  const bool correct = evaluation.outcome == Outcome::kOk;
  const bool not_wrong = correct || evaluation.outcome == Outcome::kCompileOnly;
  PromptValues values = {
      {"turn", std::to_string(progress.turn)},
      {"num_turns", std::to_string(progress.num_turns)},
      {"correct", not_wrong ? "yes" : ""},
      {"outcome", OutcomeText(evaluation.outcome)},
      // "correct on every check" is said by the outcome already.
      {"message", correct ? "" : ElideMiddle(evaluation.message, options.max_message_bytes)},
      {"left_out", ElideMiddle(LeftOutText(left_out), options.max_message_bytes)},
      {"timing", TimingText(evaluation)},
      {"kernels", correct ? KernelsText(evaluation, options.max_kernels) : ""},
      {"coverage", correct ? CoverageText(evaluation) : ""},
      {"roofline", correct ? RooflineText(evaluation) : ""},
      {"labels", fmt::format("{}", fmt::join(evaluation.labels, "; "))},
      {"best", BestText(progress)},
      {"class_name", task.class_name},
      {"delta", DeltaText(task)},
  };
  DAVINCI_ASSIGN_OR_RETURN(std::string text, prompts.Render("feedback", values));
  if (text.size() <= options.max_bytes) return text;

  std::string& message = values["message"];
  const size_t excess = text.size() - options.max_bytes;
  const size_t wanted = message.size() > excess ? message.size() - excess : 0;
  message = ElideMiddle(message, std::max(wanted, kMinMessageBytes));
  DAVINCI_ASSIGN_OR_RETURN(text, prompts.Render("feedback", values));
  for (const char* part : {"kernels", "labels"}) {
    if (text.size() <= options.max_bytes) break;
    values[part] = "";
    DAVINCI_ASSIGN_OR_RETURN(text, prompts.Render("feedback", values));
  }
  return ElideMiddle(text, options.max_bytes);
}

}  // namespace davinci::agent
