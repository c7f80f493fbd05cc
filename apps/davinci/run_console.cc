#include "run_console.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "davinci/base/mutex.h"
#include "davinci/base/plural.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "report.h"

namespace davinci::app {
namespace {

std::string FigureWithBounds(const Speedup& speedup) {
  return fmt::format("{} ({})", FigureText(speedup), BoundsText(Shown(speedup)));
}

// Where a kernel was found, for people who have not read the ids' grammar.
std::string FoundIn(const report::TaskView& task, const TurnId& id) {
  const report::Author author = report::AuthorOf(task, id);
  if (author == report::Author::kUser) return "start kernel";
  if (author == report::Author::kExpert)
    return fmt::format("expert, rollout {}, turn {}", id.rollout.rollout, id.turn);
  return fmt::format("skill set {}, rollout {}, turn {}", id.rollout.scheme, id.rollout.rollout,
                     id.turn);
}

// The judge's message in what a turn's line leaves of the terminal; a log gets more of it.
std::string MessageCell(const TurnId& turn, const Evaluation& evaluation) {
  constexpr size_t kIdWidth = 28;
  constexpr size_t kLeast = 40;
  constexpr size_t kLogWidth = 200;
  const size_t used = 2 + std::max(kIdWidth, DisplayWidth(ToString(turn))) + 1 +
                      OutcomeName(evaluation.outcome).size() + 2;
  const size_t width = TerminalWidth(STDERR_FILENO, kLogWidth);
  return Ellipsize(Printable(evaluation.message), width > used + kLeast ? width - used : kLeast);
}

std::string Seconds(double seconds) {
  const int whole = static_cast<int>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

RunConsole::RunConsole(bool quiet) : quiet_(quiet), color_(UseColor(STDERR_FILENO)) {
  if (!quiet)
    silence_ = std::make_unique<SilenceWatch>([this](double silent) { SayAwaited(silent); });
}

void RunConsole::Expect(size_t num_tasks) {
  MutexLock lock(mutex_);
  num_tasks_ = num_tasks;
}

std::string RunConsole::Counts() const {
  return fmt::format("{} replies, {} judged, {} rollouts over, {}{} tasks over", generated_,
                     judged_, rollouts_over_, tasks_over_,
                     num_tasks_ > 0 ? fmt::format(" of {}", num_tasks_) : "");
}

std::string RunConsole::Awaited() const {
  const int in_judge = generated_ - judged_ - not_judged_;
  if (generated_ == 0)
    return "the first replies; references may be judged before them (the first use of a device "
           "or of Triton takes minutes)";
  if (num_tasks_ > 0 && static_cast<size_t>(tasks_over_) >= num_tasks_)
    return "the best kernels are measured again";
  if (in_judge > 0) return Counted(in_judge, "verdict");
  return "replies of the model";
}

void RunConsole::SayAwaited(double silent_seconds) {
  MutexLock lock(mutex_);
  if (progress_.live()) {
    Repaint();
    return;
  }
  Line(fmt::format("{}  {}; silent for {:.0f} s, awaiting: {}", Seconds(watch_.Seconds()), Counts(),
                   silent_seconds, Awaited()),
       /*speaks=*/false);
}

runs::RunEvents RunConsole::Events() {
  return {[this](const rollout::StepEvent& event) { On(event); },
          [this](const std::string& text) { Note(text); }};
}

void RunConsole::Line(const std::string& text, bool speaks) {
  if (quiet_) return;
  if (speaks && silence_) silence_->Spoke();
  progress_.Clear();
  fmt::print(stderr, "{}\n", text);
}

void RunConsole::Note(const std::string& text) {
  MutexLock lock(mutex_);
  Line(Printable(text));
}

void RunConsole::Legend() {
  if (legend_shown_) return;
  legend_shown_ = true;
  Line(Styled("TASK@STEP#sSrRtT: skill set S, rollout R, turn T; speedup with its 99.9 % interval",
              TextStyle::kDim, color_));
}

void RunConsole::Repaint() {
  if (quiet_) return;
  std::string best;
  for (const auto& [task, kernel] : best_)
    best += fmt::format("  {} {}", task, FigureText(kernel.speedup));
  progress_.Show(fmt::format("{}  {}{}", Seconds(watch_.Seconds()), Counts(), best));
}

void RunConsole::On(const rollout::StepEvent& event) {
  using Kind = rollout::StepEvent::Kind;
  MutexLock lock(mutex_);
  switch (event.kind) {
    case Kind::kGenerated:
      ++generated_;
      break;
    case Kind::kNotJudged:
      ++not_judged_;
      Legend();
      Line(fmt::format("  {:<28} {}  {}", Printable(ToString(event.turn.value())),
                       Styled(OutcomeName(event.evaluation->outcome), TextStyle::kBad, color_),
                       MessageCell(event.turn.value(), *event.evaluation)));
      break;
    case Kind::kSelected:
      Line(Printable(fmt::format("{}: {}", event.task, event.text)));
      break;
    case Kind::kJudged:
    case Kind::kConfirmed: {
      if (event.kind == Kind::kJudged) ++judged_;
      Legend();
      const Evaluation& evaluation = *event.evaluation;
      const bool good = evaluation.outcome == Outcome::kOk;
      std::string text = fmt::format("  {:<28} {}", Printable(ToString(event.turn.value())),
                                     Styled(OutcomeName(evaluation.outcome),
                                            good ? TextStyle::kGood : TextStyle::kBad, color_));
      if (evaluation.speedup) text += "  " + FigureWithBounds(*evaluation.speedup);
      if (event.kind == Kind::kConfirmed) text += "  (full protocol)";
      if (event.from_journal) text += "  (known)";
      if (!event.text.empty()) text += "  (" + event.text + ")";
      if (evaluation.speedup) {
        const auto best = best_.find(event.task);
        if (best == best_.end() ||
            SureSpeedup(*evaluation.speedup) > SureSpeedup(best->second.speedup))
          best_[event.task] = {event.turn.value(), *evaluation.speedup};
      } else if (!good) {
        text += "  " + MessageCell(event.turn.value(), evaluation);
      }
      Line(text);
      break;
    }
    case Kind::kTrajectoryEnded:
      ++rollouts_over_;
      if (!event.text.empty())  // the reason stands in the result
        Line(
            Styled(Printable(fmt::format("  {} ended early", ToString(event.turn.value().rollout))),
                   TextStyle::kDim, color_));
      break;
    case Kind::kVerified:
      Line(Printable(fmt::format("  skill {}", event.text)));
      break;
    case Kind::kTaskEnded:
      ++tasks_over_;  // why one failed stands in the result
      break;
  }
  Repaint();
}

void RunConsole::Done() {
  MutexLock lock(mutex_);
  progress_.Clear();
}

std::function<void()> OnInterrupt(rollout::StopFlag* stop) {
  return [stop] { stop->Stop(TrajectoryEnd::kStopped, Cancelled("interrupted")); };
}

std::string RemarksText(const report::RunView& view) {
  std::vector<std::pair<std::string, std::vector<std::string>>> tasks_of;
  for (const report::TaskView& task : view.tasks) {
    if (task.remark.empty()) continue;
    auto same = std::find_if(tasks_of.begin(), tasks_of.end(),
                             [&](const auto& entry) { return entry.first == task.remark; });
    if (same == tasks_of.end()) same = tasks_of.insert(same, {task.remark, {}});
    same->second.push_back(task.task.id);
  }
  constexpr size_t kNamed = 4;
  std::string text;
  for (const auto& [remark, tasks] : tasks_of) {
    const size_t shown = std::min(tasks.size(), kNamed);
    text +=
        Printable(fmt::format(
            "{}{}: {}", fmt::join(tasks.begin(), tasks.begin() + static_cast<long>(shown), ", "),
            tasks.size() > shown ? fmt::format(" and {} more", tasks.size() - shown) : "",
            remark)) +
        "\n";
  }
  return text;
}

const Status* BrokenReference(const runs::RunResult& result, const std::string& task) {
  for (const auto& [name, status] : result.failed_tasks)
    if (name == task && status.code() == StatusCode::kInvalidArgument) return &status;
  return nullptr;
}

bool OnlyBroken(const runs::RunResult& result) {
  if (result.failed_tasks.empty() || result.stopped || !result.trouble.ok()) return false;
  for (const report::TaskView& task : result.view.tasks) {
    if (BrokenReference(result, task.task.id) != nullptr) continue;
    for (const auto& [name, status] : result.failed_tasks)
      if (name == task.task.id) return false;
    for (const Trajectory& trajectory : task.trajectories)
      if (trajectory.end == TrajectoryEnd::kFailed || trajectory.end == TrajectoryEnd::kStopped ||
          trajectory.end == TrajectoryEnd::kBudget)
        return false;
  }
  return true;
}

std::string RenderResult(const runs::RunResult& result, bool color) {
  std::string text;
  Table table({{"task"},
               {"speedup", Align::kRight},
               {"99.9 % interval"},
               {"time", Align::kRight},
               {"roofline", Align::kRight},
               {"also"},
               {"found in"}});
  for (const report::TaskView& task : result.view.tasks) {
    if (!task.winner) {
      const report::Winner* best = report::BestKernel(task);
      if (best == nullptr)
        table.AddRow({task.task.id, {"none", TextStyle::kWarn}});
      else
        table.AddRow({task.task.id,
                      {task.not_decided ? "not decided" : "not faster", TextStyle::kWarn},
                      BoundsText(Shown(best->certified.speedup.value())),
                      "",
                      "",
                      "",
                      FoundIn(task, best->turn)});
      continue;
    }
    const report::Winner& winner = *task.winner;
    const Evaluation& certified = winner.certified;
    std::string also;
    for (const Evaluation& other : winner.also)
      if (other.speedup)
        also +=
            fmt::format("{}{} over {} ({})", also.empty() ? "" : ", ", FigureText(*other.speedup),
                        other.speedup->baseline, BoundsText(Shown(*other.speedup)));
    const bool sure = certified.speedup && certified.speedup.value().significant;
    table.AddRow(
        {task.task.id,
         {certified.speedup ? FigureText(certified.speedup.value()) : "not timed",
          sure ? TextStyle::kGood : TextStyle::kWarn},
         certified.speedup
             ? BoundsText(Shown(certified.speedup.value())) + (sure ? "" : " (not significant)")
             : "",
         certified.candidate_time
             ? fmt::format("{:.4g} ms", certified.candidate_time.value().median_ms)
             : "",
         winner.roofline_share ? fmt::format("{:.0f} %", 100 * winner.roofline_share.value()) : "",
         also,
         FoundIn(task, winner.turn)});
  }
  Table::Options options;
  options.color = color;
  text += table.Render(options);
  text += RemarksText(result.view);
  for (const report::TaskView& task : result.view.tasks) {
    if (BrokenReference(result, task.task.id) != nullptr)
      text += Printable(fmt::format(
                  "{}: its reference cannot be judged; mend {}", task.task.id,
                  task.task.path.empty() ? task.task.origin : task.task.path.string())) +
              "\n";
    const report::Winner* shown = report::BestKernel(task);
    if (shown != nullptr && !shown->certified.labels.empty())
      text += Printable(fmt::format("{}: labels: {}", task.task.id,
                                    fmt::join(shown->certified.labels, "; "))) +
              "\n";
    if (task.winner && !task.winner->exported_path.empty())
      text += fmt::format("{}: {}\n", Printable(task.task.id), task.winner->exported_path);
    if (const std::string rivals = report::RivalsText(task); !rivals.empty())
      text += fmt::format("{}: {}\n", Printable(task.task.id), rivals);
  }
  for (const std::string& skill : result.learned)
    text += fmt::format("learned: {}\n", Printable(skill));
  for (const std::string& notice : result.notices)
    text += fmt::format("note: {}\n", Printable(notice));
  text += fmt::format("{}, {} prompt + {} reply tokens, {}{}; {} judged\n",
                      Counted(result.cost.calls, "model call"), result.cost.prompt_tokens,
                      result.cost.completion_tokens, MoneyText(result.cost),
                      result.view.recorded ? " when they were recorded" : "",
                      Counted(result.stages.candidates, "candidate"));
  for (const auto& [agent, cost] : report::CostsByAgent(result.view))
    text += fmt::format("  {}: {}, {} + {} tokens, {}\n", agent, Counted(cost.calls, "call"),
                        cost.prompt_tokens, cost.completion_tokens, MoneyText(cost));
  text += LostText(result);
  text += fmt::format("run: {}\n", result.view.folder);
  if (result.stopped && result.trouble.ok())
    text += fmt::format("stopped early ({}); the same command continues from here\n",
                        TrajectoryEndName(*result.stopped));
  else if (!result.finished())
    text += OnlyBroken(result)
                ? std::string(
                      "broken references end their tasks; once they are mended, the same "
                      "command begins a new run\n")
                : std::string("not finished; the same command continues from here\n");
  return text;
}

std::string LostText(const runs::RunResult& result) {
  const LlmCost lost = runs::LostCost(result.stages);
  if (lost.calls == 0) return "";
  return fmt::format("  lost: {} broke off, {} + {} tokens (estimated), {}\n",
                     Counted(lost.calls, "stream"), lost.prompt_tokens, lost.completion_tokens,
                     MoneyText(lost));
}

Status UntoldTrouble(const runs::RunResult& result) {
  for (const report::TaskView& task : result.view.tasks)
    if (task.remark.find(result.trouble.message()) != std::string::npos) return Status::Ok();
  return result.trouble;
}

std::string RenderStages(const runs::RunStages& stages, bool color) {
  std::string text = fmt::format(
      "{}, {} judged; {:.1f} rollouts per minute\n"
      "idle: judge {:.1f} %, language model {:.1f} % of their time\n"
      "journal: {:.2f} ms per record, {:.3f} % of all working time\n"
      "A record is one finished piece of work: a reply, a judgement, a rollout.\n",
      Counted(stages.rollouts, "rollout"), Counted(stages.candidates, "candidate"),
      stages.rollouts_per_minute, 100 * stages.judge_idle_share, 100 * stages.llm_idle_share,
      stages.journal_ms_per_unit, 100 * stages.journal_share);
  Table table({{"stage"},
               {"records", Align::kRight},
               {"taken over", Align::kRight},
               {"work s", Align::kRight},
               {"queue s", Align::kRight},
               {"mean s", Align::kRight}});
  for (const auto& [kind, times] : stages.stages) {
    const auto worked = times.count - times.taken_over;
    table.AddRow({kind, std::to_string(times.count),
                  times.taken_over > 0 ? std::to_string(times.taken_over) : "",
                  times.seconds > 0 ? fmt::format("{:.1f}", times.seconds) : "",
                  times.queue_seconds > 0 ? fmt::format("{:.1f}", times.queue_seconds) : "",
                  times.seconds > 0 && worked > 0
                      ? fmt::format("{:.2f}", times.seconds / static_cast<double>(worked))
                      : ""});
  }
  Table::Options options;
  options.color = color;
  return text + table.Render(options);
}

int ExitCode(const runs::RunResult& result) {
  if (OnlyBroken(result)) return 2;
  if (!result.trouble.ok() && result.stopped != TrajectoryEnd::kBudget) return 3;
  if (!result.finished() && result.stopped != TrajectoryEnd::kBudget) return 3;
  bool all_faster = true;
  for (const report::TaskView& task : result.view.tasks) {
    if (report::BestKernel(task) == nullptr) return 1;
    all_faster = all_faster && task.winner;
  }
  return all_faster ? 0 : 4;
}

}  // namespace davinci::app
