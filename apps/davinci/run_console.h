// A run as people see it: progress while it runs, the result when it is over, and their Ctrl-C.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "davinci/base/clock.h"
#include "davinci/base/interrupt.h"
#include "davinci/base/mutex.h"
#include "davinci/base/progress_line.h"
#include "davinci/runs/run_loop.h"
#include "silence_watch.h"

namespace davinci::app {

// Prints to stderr. A terminal gets a line that is repainted; anything else a line per event, and
// after ten silent seconds one that says what is awaited.
class RunConsole {
 public:
  explicit RunConsole(bool quiet);
  // How many tasks there are, for "3 of 12 tasks over".
  void Expect(size_t num_tasks);
  runs::RunEvents Events();
  void Done();

 private:
  void On(const rollout::StepEvent& event);
  void Note(const std::string& text);
  // `speaks`: counts as something said.
  void Line(const std::string& text, bool speaks = true) DAVINCI_REQUIRES(mutex_);
  // What the ids of turns mean; once.
  void Legend() DAVINCI_REQUIRES(mutex_);
  void Repaint() DAVINCI_REQUIRES(mutex_);
  void SayAwaited(double silent_seconds);
  // "12 replies, 10 judged, 3 rollouts over, 1 of 4 tasks over".
  std::string Counts() const DAVINCI_REQUIRES(mutex_);
  std::string Awaited() const DAVINCI_REQUIRES(mutex_);

  const bool quiet_;
  const bool color_;
  Stopwatch watch_;
  Mutex mutex_;
  ProgressLine progress_ DAVINCI_GUARDED_BY(mutex_);
  bool legend_shown_ DAVINCI_GUARDED_BY(mutex_) = false;
  int generated_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int judged_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int rollouts_over_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int tasks_over_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int not_judged_ DAVINCI_GUARDED_BY(mutex_) = 0;
  size_t num_tasks_ DAVINCI_GUARDED_BY(mutex_) = 0;
  struct Best {
    TurnId turn;
    Speedup speedup;
  };
  std::map<std::string, Best> best_ DAVINCI_GUARDED_BY(mutex_);  // by task
  std::unique_ptr<SilenceWatch> silence_;  // last: its thread uses all of the above
};

// For the InterruptWatch of a run: stops it in an orderly way (best kernels are certified and
// reported).
std::function<void()> OnInterrupt(rollout::StopFlag* stop);

// The table of winners, what was learned, what it cost and where things lie.
std::string RenderResult(const runs::RunResult& result, bool color);
// Why tasks have no kernel, and what went wrong with them: tasks with the same text in one line.
std::string RemarksText(const report::RunView& view);
// What was spent on answers that broke off; "" for none.
std::string LostText(const runs::RunResult& result);
// The trouble of the run unless RemarksText() says it already.
Status UntoldTrouble(const runs::RunResult& result);
// "412 rollouts, 33.1 per minute; …" and a table of stages.
std::string RenderStages(const runs::RunStages& stages, bool color);

// The failure of a task whose reference (or its file) is to be mended; null for other tasks.
const Status* BrokenReference(const runs::RunResult& result, const std::string& task);
// Is nothing left to do but to mend references?
bool OnlyBroken(const runs::RunResult& result);

// 2: nothing is missing but tasks whose references are broken. 0: every task has a winner; 1: some
// task has no correct kernel that held; 4: all have one, but some is not significantly faster than
// the baseline, or could not be measured; 3: not finished, or davinci failed.
int ExitCode(const runs::RunResult& result);

}  // namespace davinci::app
