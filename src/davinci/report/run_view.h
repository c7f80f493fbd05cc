// RunView: everything a report shows of one run, as plain values. The front header of this module.
//
// The owner of a run (runs/view.h) fills it from the run's store; this module makes scores
// (ScoreInputOf) and the HTML page (html.h) of it. It reads no store and no file, judges nothing
// and computes no number of its own that score/ could compute.
//
// Texts in here come from language models and from candidates: they are hostile until escaped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/data/evaluation.h"
#include "davinci/data/rollout.h"
#include "davinci/score/protocol.h"
#include "davinci/task/task_set.h"

namespace davinci::report {

// The kernel a task ended with, judged once more in fresh processes under new seeds.
struct Winner {
  TurnId turn;  // that wrote it
  std::string code_hash;
  Evaluation certified;                  // against the run's baseline
  std::vector<Evaluation> also;          // against further ones; each names its baseline
  std::string exported_path;             // file that runs without davinci; "" = not exported
  std::string explanation;               // what was changed, for people; plain text
  std::optional<double> roofline_share;  // attainable over measured time: 1 is a perfect kernel
};

struct TaskView {
  task::TaskEntry task;
  std::string reference;  // source of the reference
  std::vector<Selection> selections;
  std::vector<Trajectory> trajectories;
  // Verdicts under the full protocol, by code hash. They stand in the place of the turns' own
  // (quicker, noisier) ones wherever a number is shown or scored.
  std::map<std::string, Evaluation> confirmed;
  std::vector<SummaryCall> summaries;
  std::vector<SkillProposal> proposals;
  std::vector<Verification> verifications;
  std::optional<Winner> winner;
  // Where there is no winner: the best correct kernel that the machine was too busy to measure, and
  // the best one that was measured and is not significantly faster than the baseline. Not exported.
  std::optional<Winner> not_decided;
  std::optional<Winner> not_faster;
  // Kernels that were correct in the run were judged again, and none of them held.
  bool none_held = false;
  std::string remark;  // why there is no winner, or why it ended early; for people
};

// What a task came to, for table, page and JSON alike.
enum class TaskState {
  kCertified,   // a winner
  kNotDecided,  // certification could not measure: no answer, neither yes nor no
  kNotFaster,   // certification measured, and no kernel is significantly faster
  kNoneHeld,    // correct at first, wrong when judged again
  kConfirmed,   // without certification: judged under the full protocol
  kScreened,    // … or by a turn's own verdict alone
  kUnsolved,    // no correct kernel
};
TaskState StateOf(const TaskView& task);
// "certified", "not decided: machine busy", …
std::string_view StateText(TaskState state);
// The kernel that certification ended with: winner, else not decided, else not faster; else null.
const Winner* BestKernel(const TaskView& task);
// The verdict that stands for the task: BestKernel()'s, and without certification the one whose
// speedup is the largest for sure. Null for an unsolved task, and where none held.
const Evaluation* HeadlineOf(const TaskView& task);

struct RunView {
  std::string title;      // "davinci optimize softmax.py"
  std::string folder;     // of the run
  std::string target;     // "cpu", "cuda"
  std::string device;     // as the judge names it
  bool recorded = false;  // the replies were recorded earlier; the report says so on top
  bool finished = true;   // false: interrupted; what is there is shown
  double started_unix_s = 0;
  double finished_unix_s = 0;                                 // of the last unit
  std::vector<std::pair<std::string, std::string>> settings;  // name and value, as resolved
  std::vector<TaskView> tasks;
  // Wall seconds in which at least one unit of a stage was under way, or summed over units: the
  // title of `stage_note` says which. In order of the pipeline.
  std::vector<std::pair<std::string, double>> stage_seconds;
  std::string stage_note;
  std::map<std::string, std::string> sources;  // candidate text by code hash
};

// The author of a kernel.
enum class Author {
  kModel,
  kExpert,  // rules, without a model (rollout/rule_author.h)
  kUser,    // the run started from it
};
std::string_view AuthorName(Author author);  // "model", "expert", "user"
Author AuthorOf(const Trajectory& trajectory);
Author AuthorOf(const TaskView& task, const TurnId& turn);
// Under both a model and the expert: the best verdict of each for the task, null where it has no
// correct kernel; both null where only one of them wrote.
struct Rivals {
  const Evaluation* model = nullptr;
  const Evaluation* expert = nullptr;
  bool both = false;
};
Rivals RivalsOf(const TaskView& task);
// "the expert won; the expert's best: 3.05x; the model's best: at least 1.20x"; "" without rivals.
std::string RivalsText(const TaskView& task);

// The task's trajectories with the confirmed verdicts in their turns.
std::vector<Trajectory> WithConfirmedVerdicts(const TaskView& task);

// Model costs, every call once, by agent: "selection", "policy", "summary", "verification". An
// agent that was not asked is left out. (A control sample that several experiments share carries
// its cost in the first of them; rollout/lesson.h.)
std::map<std::string, LlmCost> CostsByAgent(const TaskView& task);
std::map<std::string, LlmCost> CostsByAgent(const RunView& run);

// For score::Score. The result refers to `run`, which must outlive it.
score::ScoreInput ScoreInputOf(const RunView& run);

}  // namespace davinci::report
