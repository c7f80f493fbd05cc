// A run as people see it: progress while it runs, the result when it is over, and their Ctrl-C.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/orchestrator/run_loop.h"

namespace davinci::app {

// Prints to stderr. A terminal gets a line that is repainted; anything else a line per event.
class RunConsole {
 public:
  explicit RunConsole(bool quiet);
  orchestrator::RunEvents Events();
  void Done();

 private:
  void On(const rollout::StepEvent& event);
  void Note(const std::string& text);
  void Line(const std::string& text);
  // What the ids of turns mean; once.
  void Legend();
  void Repaint();

  const bool quiet_;
  const bool live_;
  const bool color_;
  Stopwatch watch_;
  std::mutex mutex_;  // guards everything below
  bool legend_shown_ = false;
  int generated_ = 0;
  int judged_ = 0;
  int rollouts_over_ = 0;
  int tasks_over_ = 0;
  struct Best {
    TurnId turn;
    Speedup speedup;
  };
  std::map<std::string, Best> best_;  // by task
};

// While it lives, the first SIGINT, SIGTERM or SIGUSR1 (from mpirun or Slurm) stops the run in an
// orderly way (best kernels are certified and reported); a second SIGINT or SIGTERM ends the
// process at once.
class InterruptWatch {
 public:
  explicit InterruptWatch(rollout::StopFlag* stop);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct Handlers;
  std::unique_ptr<Handlers> previous_;
  std::jthread watcher_;
};

// The table of winners, what was learned, what it cost and where things lie.
std::string RenderResult(const orchestrator::RunResult& result, bool color);
// Why tasks have no kernel, and what went wrong with them: tasks with the same text in one line.
std::string RemarksText(const report::RunView& view);
// What was spent on answers that broke off; "" for none.
std::string LostText(const orchestrator::RunResult& result);
// The trouble of the run unless RemarksText() says it already.
Status UntoldTrouble(const orchestrator::RunResult& result);
// "412 rollouts, 33.1 per minute; …" and a table of stages.
std::string RenderStages(const orchestrator::RunStages& stages, bool color);

// 0: every task has a winner; 1: some task has no correct kernel that held; 4: all have one, but
// some is not significantly faster than the baseline, or could not be measured; 3: not finished, or
// davinci failed.
int ExitCode(const orchestrator::RunResult& result);

}  // namespace davinci::app
