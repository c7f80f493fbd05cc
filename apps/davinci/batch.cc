#include "batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/interrupt.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "davinci/judge/batch_job.h"
#include "davinci/judge/batch_order.h"
#include "davinci/runs/batch_plan.h"
#include "davinci/runs/batch_results.h"
#include "davinci/runs/batch_tally.h"
#include "davinci/runs/run_folder.h"
#include "export_file.h"
#include "report.h"

namespace davinci::app {
namespace {

using judge::BatchEntry;
using nlohmann::json;

constexpr auto kTick = std::chrono::milliseconds(200);
constexpr double kPlainProgressSeconds = 15;  // without a terminal
constexpr size_t kIdWidth = 24;

// FigureText() in nine columns: "3.05x", ">2.98x", "<0.41x"; "?" where nothing is decided, and with
// a "?" what is not significant.
std::string ShortFigure(const Speedup& speedup) {
  const SpeedFigure figure = FigureOf(speedup);
  switch (figure.kind) {
    case SpeedFigure::Kind::kMedian:
      return fmt::format("{:.3g}x{}", figure.value, speedup.significant ? "" : "?");
    case SpeedFigure::Kind::kAtLeast:
      return fmt::format(">{:.3g}x", figure.value);
    case SpeedFigure::Kind::kAtMost:
      return fmt::format("<{:.3g}x", figure.value);
    case SpeedFigure::Kind::kNone:
      break;
  }
  return "?";
}

class Batch {
 public:
  Batch(const BatchOptions& options, JudgeSetup setup)
      : options_(options), setup_(std::move(setup)) {}

  int Run();

 private:
  Status Open();
  // Answers what needs no evaluation.
  void AnswerKnown();
  void StartJudges();
  void Work();
  Evaluation Answer(const BatchEntry& entry, int* attempts);
  // Its condition is known, and not correct.
  bool IsLeftOut(const BatchEntry& entry);
  void Record(const BatchEntry& entry, const Evaluation& evaluation, int attempts,
              const std::string& same_as);
  void Stop(const Status& why);
  void ShowProgress() DAVINCI_REQUIRES(mutex_);
  void PrintRow(const BatchEntry& entry, const Evaluation& evaluation) DAVINCI_REQUIRES(mutex_);
  void Summarise() DAVINCI_REQUIRES(mutex_);

  const BatchOptions& options_;
  JudgeSetup setup_;
  std::optional<OwnJudges> judges_;  // made by Run()
  std::vector<BatchEntry> entries_;
  runs::BatchResults results_;
  runs::BatchPlan plan_;

  const bool rows_ = !options_.json && isatty(STDOUT_FILENO) != 0;
  const bool color_ = UseColor(STDOUT_FILENO);

  std::optional<judge::BatchOrder> order_;   // of questions; made by Run()
  std::optional<InterruptWatch> interrupt_;  // made by Run(); lets what is in flight finish
  std::atomic<int> in_flight_{0};
  std::atomic<bool> stopping_{false};

  // Guards everything below, stdout and stderr.
  Mutex mutex_;
  std::condition_variable_any idle_;
  int workers_left_ DAVINCI_GUARDED_BY(mutex_) = 0;
  std::optional<runs::BatchTally> tally_ DAVINCI_GUARDED_BY(mutex_);  // made by Run()
  Status trouble_ DAVINCI_GUARDED_BY(mutex_);
  bool header_shown_ DAVINCI_GUARDED_BY(mutex_) = false;
  Stopwatch watch_;
  ProgressLine progress_ DAVINCI_GUARDED_BY(mutex_){kPlainProgressSeconds};
};

// Where stdout takes no more main() says so in the end; fmt::print would end a worker's thread, and
// everything with it.
void Say(const std::string& text) { std::fputs(text.c_str(), stdout); }

Status Batch::Open() {
  DAVINCI_ASSIGN_OR_RETURN(entries_, judge::ReadBatchFile(options_.jobs_path, options_.defaults));
  for (BatchEntry& entry : entries_) {
    if (options_.export_folder.empty() || !entry.bad.ok()) continue;
    DAVINCI_RETURN_IF_ERROR(PrepareExport(*options_.installation, &entry.request));
    entry.hash = entry.request.Hash();
  }
  if (options_.out_path.empty()) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(results_,
                           runs::BatchResults::Open(options_.jobs_path, options_.out_path));
  return Status::Ok();
}

void Batch::AnswerKnown() {
  using Kind = runs::KnownAnswer::Kind;
  for (const runs::KnownAnswer& known : plan_.known) {
    const BatchEntry& entry = entries_[known.entry];
    if (known.kind == Kind::kBadLine) {
      Record(entry, FailedEvaluation(entry.bad), 0, "");
      continue;
    }
    const runs::BatchResults::Verdict& verdict = *results_.Find(entry.hash);
    if (known.kind == Kind::kRepeats) {
      Record(entry, verdict.evaluation, 0, verdict.id);
      continue;
    }
    const MutexLock lock(mutex_);
    tally_->AddResumed(entry.job.id, verdict.evaluation);
  }
}

Evaluation Batch::Answer(const BatchEntry& entry, int* attempts) {
  const auto reply = judges_.value().Evaluate(entry.request);
  *attempts = reply.ok() ? reply->attempts : 1;
  if (reply.ok()) return reply->evaluation;
  // Without an interpreter or a sandbox no job of the batch can be judged.
  if (reply.status().code() == StatusCode::kFailedPrecondition) Stop(reply.status());
  if (judge::IsOurFailure(reply.status())) *attempts = judge::kServiceAttempts;
  return FailedEvaluation(reply.status());
}

bool Batch::IsLeftOut(const BatchEntry& entry) {
  const auto condition = options_.conditions.find(entry.job.id);
  if (condition == options_.conditions.end()) return false;
  const MutexLock lock(mutex_);
  return tally_->IsCorrect(condition->second) == false;
}

void Batch::Work() {
  std::optional<size_t> index;
  while (!stopping_ && !interrupt_.value().requested()) {
    index = order_->Next(index);
    if (!index) break;
    const std::vector<size_t>& question = plan_.questions[*index];
    if (std::ranges::all_of(question, [&](size_t i) { return IsLeftOut(entries_[i]); })) {
      const MutexLock lock(mutex_);
      tally_->AddLeftOut(static_cast<int>(question.size()));
      continue;
    }
    const BatchEntry& leader = entries_[question.front()];
    ++in_flight_;
    int attempts = 0;
    const Evaluation evaluation = Answer(leader, &attempts);
    --in_flight_;
    if (stopping_ && evaluation.outcome == Outcome::kJudgeError)
      break;  // not an answer to the question
    Record(leader, evaluation, attempts, "");
    for (size_t i = 1; i < question.size(); ++i)
      Record(entries_[question[i]], evaluation, 0, leader.job.id);
    for (const size_t i : question) entries_[i].request = {};  // its texts
  }
  MutexLock lock(mutex_);
  --workers_left_;
  idle_.notify_all();
}

void Batch::Stop(const Status& why) {
  stopping_ = true;
  MutexLock lock(mutex_);
  if (trouble_.ok()) trouble_ = why;
}

void Batch::Record(const BatchEntry& entry, const Evaluation& evaluation, int attempts,
                   const std::string& same_as) {
  const json document = runs::BatchRecord(entry, evaluation, attempts, same_as);
  if (const Status written = results_.Append(document); !written.ok()) Stop(written);
  if (!options_.export_folder.empty()) {
    const Status written = WriteExport(
        entry.request, entry.job.candidate_path, evaluation, *options_.installation,
        std::filesystem::path(options_.export_folder) / (runs::FileNameFor(entry.job.id) + ".py"));
    if (!written.ok()) Stop(written);
  }
  MutexLock lock(mutex_);
  tally_->AddRecorded(entry.job.id, evaluation, attempts, same_as);
  progress_.Clear();
  if (rows_) {
    PrintRow(entry, evaluation);
  } else if (options_.json || !results_.keeps()) {  // what --out takes is not printed as well
    Say(JsonText(document) + "\n");
  }
  std::fflush(stdout);
  if (std::ferror(stdout) != 0 && !results_.keeps())
    stopping_ = true;  // the results cannot be delivered
}

void Batch::PrintRow(const BatchEntry& entry, const Evaluation& evaluation) {
  if (!header_shown_) {
    Say(Styled(fmt::format("{:<{}} {:<17} {:>9}  {:<15} {:>9}  {}", "job", kIdWidth, "verdict",
                           "speedup", "interval", "time", "remark"),
               TextStyle::kDim, color_) +
        "\n");
    header_shown_ = true;
  }
  const bool good = evaluation.outcome == Outcome::kOk;
  std::string speedup;
  std::string interval;
  std::string time;
  if (evaluation.speedup) {
    speedup = ShortFigure(*evaluation.speedup);
    interval = BoundsText(Shown(*evaluation.speedup));
  }
  if (evaluation.candidate_time)
    time = fmt::format("{:.4g} ms", evaluation.candidate_time->median_ms);
  // A remedy is useless when it is cut off, so messages of this kind follow on a line of their own.
  const bool ours = evaluation.outcome == Outcome::kJudgeError;
  std::string remark = good || ours ? "" : evaluation.message;
  if (good)
    for (const std::string& label : evaluation.labels)
      remark += (remark.empty() ? "" : "; ") + label;
  // Padding by hand: fmt counts bytes of "–" and of names that are not ASCII.
  auto cell = [](std::string text, size_t width, bool right) {
    text = Ellipsize(Printable(text), width);
    const std::string pad(width - std::min(width, DisplayWidth(text)), ' ');
    return right ? pad + text : text + pad;
  };
  const std::string head = cell(entry.job.id, kIdWidth, false);
  const std::string verdict = cell(std::string(OutcomeName(evaluation.outcome)), 17, false);
  const size_t used = kIdWidth + 1 + 17 + 1 + 9 + 2 + 15 + 1 + 9 + 2;
  const size_t width = std::max<size_t>(TerminalWidth(STDOUT_FILENO), used + 20);
  Say(fmt::format("{} {} {}  {} {}  {}\n", head,
                  Styled(verdict, good ? TextStyle::kGood : TextStyle::kBad, color_),
                  cell(speedup, 9, true), cell(interval, 15, false), cell(time, 9, true),
                  Ellipsize(Printable(remark), width - used)));
  if (ours) Say(fmt::format("  {}\n", Printable(evaluation.message)));
}

void Batch::ShowProgress() {
  progress_.Show(
      fmt::format("{} of {} done, {} in flight, {} ok, {:.1f} per minute{}", tally_->num_answered(),
                  entries_.size(), in_flight_.load(), tally_->num_ok(),
                  60 * tally_->num_judged() / std::max(watch_.Seconds(), 1e-3),
                  interrupt_.value().requested()
                      ? "; finishing what is in flight (interrupt again to leave at once)"
                      : ""));
}

void Batch::Summarise() {
  for (const std::string& line : tally_->Summary(watch_.Seconds()))
    fmt::print(stderr, "{}\n", line);
  if (results_.keeps()) fmt::print(stderr, "results: {}\n", options_.out_path);
  if (const std::string line = tally_->BadInputLine(); !line.empty())
    fmt::print(stderr, "{}\n", line);
  if (!trouble_.ok()) fmt::print(stderr, "davinci judge: {}\n", trouble_.ToString());
  if (const int left = tally_->num_missing(); left > 0)
    fmt::print(stderr, "{} not judged; {}\n", left,
               results_.keeps() ? "the same command continues from here"
                                : "with --out the next run continues where this one stopped");
}

void Batch::StartJudges() {
  for (const BatchEntry& entry : entries_)
    setup_.options.triton =
        setup_.options.triton || (entry.bad.ok() && entry.job.target == Target::kCuda);
  const runs::BatchWorkers workers =
      runs::WorkersFor(plan_.questions.size(), options_.in_flight,
                       static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
                       static_cast<int>(setup_.devices.size()));
  if (plan_.questions.size() > 1) setup_.options.in_flight = workers.per_device;
  judges_.emplace(setup_, workers.total);
  const MutexLock lock(mutex_);
  workers_left_ = workers.total;
}

int Batch::Run() {
  if (const Status opened = Open(); !opened.ok()) return FailCommand("judge", opened);
  interrupt_.emplace();
  {
    const MutexLock lock(mutex_);
    tally_.emplace(static_cast<int>(entries_.size()));
  }
  plan_ = runs::PlanBatch(entries_, results_);
  AnswerKnown();
  order_.emplace(runs::TasksOfQuestions(plan_, entries_));
  StartJudges();
  {
    std::vector<std::jthread> workers;
    MutexLock lock(mutex_);
    for (int i = workers_left_; i > 0; --i) workers.emplace_back([this] { Work(); });
    while (workers_left_ > 0) {
      ShowProgress();
      idle_.wait_for(lock, kTick);
    }
    progress_.Clear();
  }
  const MutexLock lock(mutex_);
  Summarise();
  return tally_->ExitStatus(!trouble_.ok());
}

}  // namespace

int RunBatch(const BatchOptions& options, JudgeSetup setup) {
  return Batch(options, std::move(setup)).Run();
}

Result<int> RunBatchIn(const std::filesystem::path& folder, BatchOptions options,
                       const GlobalOptions& global) {
  DAVINCI_ASSIGN_OR_RETURN(const Installation installation, FindInstallation(global.python));
  options.jobs_path = (folder / "jobs.jsonl").string();
  options.out_path = (folder / "results.jsonl").string();
  options.installation = &installation;
  return RunBatch(options, {MakeJudgeOptions(installation), {}});
}

}  // namespace davinci::app
