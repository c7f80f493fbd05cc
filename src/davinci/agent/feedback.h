// The Policy agent's feedback on its last candidate.
//
// Everything comes from the Evaluation, and from what the candidate lacks of the reply; the
// template (feedback.md) orders it. The reward is not part of an Evaluation and never of the text:
// a model that sees the number it is trained on learns to argue about the number. Long parts are
// shortened in the middle, where compilers and profilers repeat themselves. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/agent/sound_kernels.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"

namespace davinci::agent {

struct FeedbackOptions {
  size_t max_message_bytes = 1600;  // compiler text, traceback or first mismatch
  size_t max_bytes = 4000;          // of the whole
  int max_kernels = 5;              // rows of the profile
};

// What the trajectory has reached so far, for the last sentence.
struct Progress {
  int turn = 1;       // the one that was judged, from 1
  int num_turns = 1;  // planned in all
  // The best correct turn so far, this one included; 0: none is correct.
  int best_turn = 0;
  std::optional<Speedup> best = {};  // of that turn; nothing where it was not timed
};

// "turn 2, 1.83 times as fast as the reference" (TimesAsFast), or "" while nothing is correct.
std::string BestText(const Progress& progress);

// `left_out`: of the turn's reply, what its candidate lacks.
Result<std::string> RenderFeedback(const PromptSet& prompts, const TaskBrief& task,
                                   const Evaluation& evaluation, const Progress& progress,
                                   const FeedbackOptions& options = {},
                                   const std::vector<LeftOut>& left_out = {});

}  // namespace davinci::agent
