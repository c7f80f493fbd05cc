#include "batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/interrupt.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/plural.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "davinci/judge/batch_job.h"
#include "davinci/judge/batch_order.h"
#include "davinci/runs/run_folder.h"
#include "davinci/store/journal.h"
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

// Entries that ask the same question, answered by one evaluation.
struct Question {
  std::vector<size_t> entries;
};

class Batch {
 public:
  Batch(const BatchOptions& options, JudgeSetup setup)
      : options_(options), setup_(std::move(setup)) {}

  int Run();

 private:
  Status Open();
  // Answers what needs no evaluation: bad lines, and what an earlier run finished.
  void Plan();
  void Work();
  Evaluation Answer(const BatchEntry& entry, int* attempts);
  // Its condition is known, and not correct.
  bool IsLeftOut(const BatchEntry& entry);
  void Record(const BatchEntry& entry, const Evaluation& evaluation, int attempts,
              const std::string& same_as);
  void Count(const std::string& id, const Evaluation& evaluation) DAVINCI_REQUIRES(mutex_);
  void Stop(const Status& why);
  void ShowProgress() DAVINCI_REQUIRES(mutex_);
  void PrintRow(const BatchEntry& entry, const Evaluation& evaluation) DAVINCI_REQUIRES(mutex_);
  int Summarise() DAVINCI_REQUIRES(mutex_);

  const BatchOptions& options_;
  JudgeSetup setup_;
  std::optional<OwnJudges> judges_;  // made by Run()
  std::vector<BatchEntry> entries_;
  std::vector<Question> questions_;
  std::unique_ptr<store::Journal> journal_;
  std::map<std::string, Evaluation> verdicts_;  // by hash, from earlier runs
  std::map<std::string, std::string> verdict_ids_;
  std::map<std::pair<std::string, std::string>, bool> finished_;  // (id, hash) of earlier runs
  std::set<std::string> reported_;  // what was wrong with jobs of earlier runs

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
  std::map<Outcome, int> outcomes_ DAVINCI_GUARDED_BY(mutex_);
  std::vector<double> speedups_ DAVINCI_GUARDED_BY(mutex_);
  int num_significant_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int num_recorded_ DAVINCI_GUARDED_BY(mutex_) = 0;  // answered in this run
  int num_judged_ DAVINCI_GUARDED_BY(mutex_) = 0;    // by an evaluation of this run
  int num_resumed_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int num_repeated_ DAVINCI_GUARDED_BY(mutex_) = 0;  // identical to another job
  int num_left_out_ DAVINCI_GUARDED_BY(mutex_) = 0;  // their conditions are not correct
  std::map<std::string, bool> correct_ DAVINCI_GUARDED_BY(mutex_);  // by job
  int num_bad_input_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int num_ours_ DAVINCI_GUARDED_BY(mutex_) = 0;
  Status trouble_ DAVINCI_GUARDED_BY(mutex_);
  bool header_shown_ DAVINCI_GUARDED_BY(mutex_) = false;
  Stopwatch watch_;
  ProgressLine progress_ DAVINCI_GUARDED_BY(mutex_){kPlainProgressSeconds};
};

// Where stdout takes no more main() says so in the end; fmt::print would end a worker's thread, and
// everything with it.
void Say(const std::string& text) { std::fputs(text.c_str(), stdout); }

bool IsFaultOfInput(const Evaluation& evaluation) {
  return evaluation.outcome == Outcome::kJudgeError &&
         evaluation.evidence.value("kind", "") == "bad_input";
}

// Of a record that is no verdict: which job, and what stood in its way.
std::string Trouble(const json& record) {
  const json job = record.value("job", json::object());
  return JsonText(json::array(
      {record.value("id", json()), job.value("hash", json()), record.value("message", json())}));
}

Status Batch::Open() {
  DAVINCI_ASSIGN_OR_RETURN(entries_, judge::ReadBatchFile(options_.jobs_path, options_.defaults));
  for (BatchEntry& entry : entries_) {
    if (options_.export_folder.empty() || !entry.bad.ok()) continue;
    DAVINCI_RETURN_IF_ERROR(PrepareExport(*options_.installation, &entry.request));
    entry.hash = entry.request.Hash();
  }
  if (options_.out_path.empty()) return Status::Ok();
  std::error_code error;
  if (std::filesystem::equivalent(options_.jobs_path, options_.out_path, error))
    return InvalidArgument("--out names the job file itself; choose another file for the results");
  // Before the journal takes a last line without an end for one of its own, and cuts it off.
  std::ifstream results(options_.out_path);
  if (results && results.peek() != '{' && results.peek() != std::ifstream::traits_type::eof())
    return InvalidArgument(
        fmt::format("{} holds something else than results of a batch; choose another --out",
                    options_.out_path));
  DAVINCI_ASSIGN_OR_RETURN(journal_, store::Journal::Open(options_.out_path));
  DAVINCI_ASSIGN_OR_RETURN(auto earlier, store::Journal::Read(options_.out_path));
  for (const json& record : earlier.records) {
    auto evaluation = EvaluationFromJson(record);
    if (!evaluation.ok())
      return InvalidArgument(
          fmt::format("{} holds something else than results of a batch ({}); choose another --out",
                      options_.out_path, evaluation.status().message()));
    const auto job = record.find("job");
    if (IsFaultOfInput(*evaluation)) reported_.insert(Trouble(record));
    if (evaluation->outcome == Outcome::kJudgeError || job == record.end() || !job->is_object())
      continue;
    const auto hash = job->find("hash");
    const auto id = record.find("id");
    if (hash == job->end() || !hash->is_string() || id == record.end() || !id->is_string())
      continue;
    finished_[{id->get<std::string>(), hash->get<std::string>()}] = true;
    verdict_ids_[hash->get<std::string>()] = id->get<std::string>();
    verdicts_.insert_or_assign(hash->get<std::string>(), *std::move(evaluation));
  }
  return Status::Ok();
}

void Batch::Plan() {
  std::map<std::string, size_t> by_hash;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const BatchEntry& entry = entries_[i];
    if (!entry.bad.ok()) {
      Record(entry, FailedEvaluation(entry.bad), 0, "");
    } else if (const auto done = verdicts_.find(entry.hash); done != verdicts_.end()) {
      if (finished_.contains({entry.job.id, entry.hash})) {
        MutexLock lock(mutex_);
        ++num_resumed_;
        Count(entry.job.id, done->second);
      } else {
        Record(entry, done->second, 0, verdict_ids_[entry.hash]);
      }
    } else if (const auto [slot, fresh] = by_hash.try_emplace(entry.hash, questions_.size());
               fresh) {
      questions_.push_back({{i}});
    } else {
      questions_[slot->second].entries.push_back(i);
    }
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
  MutexLock lock(mutex_);
  const auto known = correct_.find(condition->second);
  return known != correct_.end() && !known->second;
}

void Batch::Work() {
  std::optional<size_t> index;
  while (!stopping_ && !interrupt_.value().requested()) {
    index = order_->Next(index);
    if (!index) break;
    const Question& question = questions_[*index];
    if (std::ranges::all_of(question.entries, [&](size_t i) { return IsLeftOut(entries_[i]); })) {
      MutexLock lock(mutex_);
      num_left_out_ += static_cast<int>(question.entries.size());
      continue;
    }
    const BatchEntry& leader = entries_[question.entries.front()];
    ++in_flight_;
    int attempts = 0;
    const Evaluation evaluation = Answer(leader, &attempts);
    --in_flight_;
    if (stopping_ && evaluation.outcome == Outcome::kJudgeError)
      break;  // not an answer to the question
    Record(leader, evaluation, attempts, "");
    for (size_t i = 1; i < question.entries.size(); ++i)
      Record(entries_[question.entries[i]], evaluation, 0, leader.job.id);
    for (const size_t i : question.entries) entries_[i].request = {};  // its texts
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

void Batch::Count(const std::string& id, const Evaluation& evaluation) {
  correct_[id] = evaluation.correct.value_or(false);
  ++outcomes_[evaluation.outcome];
  if (IsFaultOfInput(evaluation))
    ++num_bad_input_;
  else if (evaluation.outcome == Outcome::kJudgeError)
    ++num_ours_;
  if (evaluation.outcome == Outcome::kOk && evaluation.speedup && evaluation.speedup->median > 0) {
    if (const SpeedFigure figure = FigureOf(*evaluation.speedup);
        figure.kind != SpeedFigure::Kind::kNone)
      speedups_.push_back(figure.value);
    if (evaluation.speedup->significant) ++num_significant_;
  }
}

void Batch::Record(const BatchEntry& entry, const Evaluation& evaluation, int attempts,
                   const std::string& same_as) {
  json document = ToJson(evaluation);
  document["id"] = entry.job.id;
  json& job = document["job"];
  job = {{"line", entry.line},
         {"reference", entry.job.reference_path},
         {"candidate", entry.job.candidate_path},
         {"target", TargetName(entry.job.target)},
         {"hash", entry.hash},
         {"attempts", attempts}};
  if (!same_as.empty()) job["same_as"] = same_as;
  // What an earlier run has said in the same words is not written again.
  const bool repeated = IsFaultOfInput(evaluation) && reported_.contains(Trouble(document));
  if (journal_ && !repeated) {
    if (const Status written = journal_->Append(document); !written.ok()) Stop(written);
  }
  if (!options_.export_folder.empty()) {
    const Status written = WriteExport(
        entry.request, entry.job.candidate_path, evaluation, *options_.installation,
        std::filesystem::path(options_.export_folder) / (runs::FileNameFor(entry.job.id) + ".py"));
    if (!written.ok()) Stop(written);
  }
  MutexLock lock(mutex_);
  ++num_recorded_;
  if (attempts > 0) ++num_judged_;
  if (!same_as.empty()) ++num_repeated_;
  Count(entry.job.id, evaluation);
  progress_.Clear();
  if (rows_) {
    PrintRow(entry, evaluation);
  } else if (options_.json || !journal_) {  // what --out takes is not printed as well
    Say(JsonText(document) + "\n");
  }
  std::fflush(stdout);
  if (std::ferror(stdout) != 0 && !journal_) stopping_ = true;  // the results cannot be delivered
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
      fmt::format("{} of {} done, {} in flight, {} ok, {:.1f} per minute{}",
                  num_recorded_ + num_resumed_ + num_left_out_, entries_.size(), in_flight_.load(),
                  outcomes_[Outcome::kOk], 60 * num_judged_ / std::max(watch_.Seconds(), 1e-3),
                  interrupt_.value().requested()
                      ? "; finishing what is in flight (interrupt again to leave at once)"
                      : ""));
}

int Batch::Summarise() {
  const double seconds = watch_.Seconds();
  const int left = static_cast<int>(entries_.size()) - num_recorded_ - num_resumed_ - num_left_out_;
  std::string counts;
  for (const auto& [outcome, count] : outcomes_) {
    if (count > 0)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, OutcomeName(outcome));
  }
  fmt::print(stderr, "{}: {}\n", Counted(static_cast<int64_t>(entries_.size()), "job"),
             counts.empty() ? "none judged" : counts);
  if (num_resumed_ + num_repeated_ > 0)
    fmt::print(stderr, "{} were done by an earlier run, {} repeat another job\n", num_resumed_,
               num_repeated_);
  if (!speedups_.empty()) {
    double sum = 0;
    for (const double speedup : speedups_) sum += std::log(speedup);
    fmt::print(
        stderr,
        "geometric mean speedup of the {} correct: {:.3g}x ({} of them significantly off 1)\n",
        speedups_.size(), std::exp(sum / static_cast<double>(speedups_.size())), num_significant_);
  }
  fmt::print(stderr, "{} judged in {:.1f} s, {:.1f} candidates per minute\n", num_judged_, seconds,
             60 * num_judged_ / std::max(seconds, 1e-3));
  if (num_left_out_ > 0)
    fmt::print(stderr, "{} left out: what they vary is not correct\n", num_left_out_);
  if (journal_) fmt::print(stderr, "results: {}\n", options_.out_path);
  if (num_bad_input_ > 0)
    fmt::print(stderr, "{} bad input: see message of each record\n", num_bad_input_);
  if (!trouble_.ok()) fmt::print(stderr, "davinci judge: {}\n", trouble_.ToString());
  if (left > 0)
    fmt::print(stderr, "{} not judged; {}\n", left,
               journal_ ? "the same command continues from here"
                        : "with --out the next run continues where this one stopped");
  if (!trouble_.ok() || left > 0 || num_ours_ > 0) return 3;
  return num_bad_input_ > 0 ? 2 : 0;
}

int Batch::Run() {
  if (const Status opened = Open(); !opened.ok()) {
    fmt::print(stderr, "davinci judge: {}\n", opened.ToString());
    return opened.code() == StatusCode::kInvalidArgument || opened.code() == StatusCode::kNotFound
               ? 2
               : 3;
  }
  interrupt_.emplace();
  for (const BatchEntry& entry : entries_)
    setup_.options.triton =
        setup_.options.triton || (entry.bad.ok() && entry.job.target == Target::kCuda);
  Plan();
  std::vector<std::string> tasks;
  for (const Question& question : questions_)
    tasks.push_back(entries_[question.entries.front()].job.reference_path);
  order_.emplace(tasks);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int wanted = options_.in_flight > 0 ? options_.in_flight : std::max(1, cores / 2);
  const int num_workers = std::min(wanted, static_cast<int>(questions_.size()));
  const int num_devices = std::max(1, static_cast<int>(setup_.devices.size()));
  if (questions_.size() > 1)
    setup_.options.in_flight = (num_workers + num_devices - 1) / num_devices;
  judges_.emplace(setup_, num_workers);
  {
    std::vector<std::jthread> workers;
    MutexLock lock(mutex_);
    workers_left_ = num_workers;
    for (int i = 0; i < num_workers; ++i) workers.emplace_back([this] { Work(); });
    while (workers_left_ > 0) {
      ShowProgress();
      idle_.wait_for(lock, kTick);
    }
    progress_.Clear();
  }
  const MutexLock lock(mutex_);
  return Summarise();
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

Result<std::map<std::string, nlohmann::json>> ReadVerdicts(const std::filesystem::path& results) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(results, size_t{4} << 30));
  std::map<std::string, nlohmann::json> verdicts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("id") || !row["id"].is_string()) continue;
    const std::string id = row["id"];
    verdicts[id] = row.contains("evaluation") ? nlohmann::json(row["evaluation"]) : std::move(row);
  }
  return verdicts;
}

}  // namespace davinci::app
