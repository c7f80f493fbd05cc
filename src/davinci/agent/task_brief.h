// What the agents see of a task. Made by rollout/ from the task file and its sidecar.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/agent/plain_forward.h"
#include "davinci/base/status.h"
#include "davinci/config/task_config.h"
#include "davinci/data/language.h"
#include "davinci/data/reply_form.h"

namespace davinci::agent {

struct TaskBrief {
  std::string id;         // TaskEntry::id, for labels only; no agent sees it
  std::string reference;  // source text of the reference file
  std::string steps;      // what it computes, one call a line; "" = not known
  // A way to divide the steps into kernels, a line each: "# t1 linear: x, self.w -> t1"; "" = none.
  std::string plan;
  PlainForward plain;                   // what replies leave out beside `steps`
  std::string entry = "Model";          // class or function of the reference
  bool is_function = false;             // `entry` is one
  std::string class_name = "ModelNew";  // what the candidate has to define
  Target target = Target::kCpu;
  Language language = Language::kTriton;  // of the candidates; one of the four written on purpose
  std::string precision = "fp32";
  // Globals of the file that the sidecar sets on this target, as written: {"ROWS", "16384"}.
  std::vector<std::pair<std::string, std::string>> sizes;
  std::string hints;              // the user's advice; "" = none
  std::string start;              // kernel of the user's to start from; "" = none
  std::string start_measurement;  // what the judge said about it
  // Facts about a kernel that rules wrote, and the calls that it leaves to PyTorch; "" = none.
  std::string floor;
  bool other_shapes = false;           // correctness is checked at further shapes, too
  ReplyForm reply = ReplyForm::kFile;  // what the Policy agent is asked for
};

// A brief with all that a sidecar says. The caller adds the rest: id, reference, hints, start, and
// further shapes of its own.
TaskBrief BriefOf(const config::TaskConfig& config, Target target, Language language,
                  ReplyForm reply);

// "Triton", "CUDA C++", …: how prompts call a language; "" for auto and python.
std::string_view LanguageTitle(Language language);

// InvalidArgument unless candidates of the task's language can run on its target.
Status CheckLanguage(const TaskBrief& task);

// The value of the prompts' variable `delta`: "yes", or "" where a whole file is asked for.
inline std::string DeltaText(const TaskBrief& task) {
  return task.reply == ReplyForm::kDelta ? "yes" : "";
}

// "ROWS = 16384, COLS = 8192", or "".
std::string SizesText(const TaskBrief& task);

}  // namespace davinci::agent
