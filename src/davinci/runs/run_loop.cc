#include "davinci/runs/run_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/plural.h"
#include "davinci/config/task_config.h"
#include "davinci/report/html.h"
#include "davinci/rollout/parallel.h"
#include "davinci/runs/bench_results.h"
#include "davinci/runs/certify.h"
#include "davinci/runs/export_kernel.h"
#include "davinci/runs/run_library.h"
#include "davinci/runs/step_engine.h"
#include "davinci/runs/task_inputs.h"
#include "davinci/runs/view.h"
#include "davinci/score/protocol.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using rollout::UnitKind;

// Ends the run when its minutes are over. Gone with the object.
class Deadline {
 public:
  Deadline(double minutes, rollout::StopFlag* stop) {
    if (minutes <= 0) return;
    thread_ = std::jthread([minutes, stop](const std::stop_token& token) {
      if (SleepUnlessCancelled(60 * minutes, token))
        stop->Stop(TrajectoryEnd::kBudget,
                   ResourceExhausted(
                       fmt::format("the {:g} minutes of --budget-minutes are over", minutes)));
    });
  }

 private:
  std::jthread thread_;
};

// What earlier processes of this run paid counts against its budget.
Status RestoreLedger(store::RunStore& run, llm::Ledger* ledger) {
  if (ledger == nullptr) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const SegmentTotals totals, TotalsOf(run));
  ledger->Restore(totals.spending);
  return Status::Ok();
}

// A run being executed or replayed.
class Loop {
 public:
  Loop(RunRequest request, const RunParts& parts, rollout::StopFlag* stop, const RunEvents& events,
       std::unique_ptr<store::RunStore> run)
      : request_(std::move(request)),
        parts_(parts),
        stop_(stop),
        events_(events),
        run_(std::move(run)),
        replaying_(!run_->writable() || request_.recertify),
        engine_(run_.get(),
                replaying_ ? rollout::UnitLog::Mode::kReplay : rollout::UnitLog::Mode::kLive,
                request_.recipe, parts.judges, parts.verdict_cache, parts.num_cores, stop),
        certification_log_(
            run_.get(),
            run_->writable() ? rollout::UnitLog::Mode::kLive : rollout::UnitLog::Mode::kReplay,
            [stop](const Status& why) { stop->Stop(TrajectoryEnd::kFailed, why); }),
        calls_(&engine_.log, parts.backbones, &engine_.llm_lane) {}

  Result<RunResult> Run();

 private:
  Status Prepare();
  Status RunSteps();
  Status CloseStep(int step, const std::vector<rollout::TaskOutcome>& outcomes);
  Status Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes);
  void CertifyWinners();
  void CertifyTask(size_t index);
  Status Export(size_t index);
  Status WriteResults();
  Status EndSession();
  void Note(const std::string& text) const {
    if (events_.note) events_.note(text);
  }
  fs::path ResultsFolder() const { return run_->folder() / "results"; }
  std::string RunName() const { return run_->folder().filename().string(); }

  RunRequest request_;
  const RunParts& parts_;
  rollout::StopFlag* const stop_;
  const RunEvents& events_;
  const std::unique_ptr<store::RunStore> run_;
  const bool replaying_;  // the steps; whether anything is written is the run's writable()
  StepEngine engine_;
  rollout::UnitLog certification_log_;
  rollout::ModelCalls calls_;

  std::unique_ptr<skill::Library> library_;
  std::vector<rollout::TaskInput> inputs_;
  std::vector<int> steps_;  // of each task
  std::vector<rollout::TaskOutcome> outcomes_;
  RunResult result_;
  const double started_unix_s_ = NowUnixSeconds();
  const Stopwatch watch_;
  int64_t rollouts_before_ = 0;
};

Status Loop::Prepare() {
  if (replaying_) {
    for (const task::TaskEntry& entry : request_.header.tasks) {
      DAVINCI_ASSIGN_OR_RETURN(auto input, InputFromRecord(entry, request_.recipe.step));
      inputs_.push_back(std::move(input));
    }
    if (request_.recertify) {
      DAVINCI_RETURN_IF_ERROR(PlaceTaskRows(run_->folder(), &request_.header.tasks));
      DAVINCI_ASSIGN_OR_RETURN(inputs_,
                               MakeTaskInputs(request_.header.tasks, request_.recipe.step));
    }
    DAVINCI_ASSIGN_OR_RETURN(result_.stages, MeasureStages(*run_));
    rollouts_before_ = result_.stages.rollouts;
    for (const SessionTimes& session : result_.stages.sessions)
      if (const auto end = ParseTrajectoryEnd(session.ended)) stop_->Presume(*end);
    return Status::Ok();
  }
  DAVINCI_RETURN_IF_ERROR(PlaceTaskRows(run_->folder(), &request_.header.tasks));
  DAVINCI_ASSIGN_OR_RETURN(inputs_, MakeTaskInputs(request_.header.tasks, request_.recipe.step));
  for (rollout::TaskInput& input : inputs_)
    if (const auto found = request_.start.find(input.id); found != request_.start.end())
      input.brief.start = found->second;
  for (rollout::TaskInput& input : inputs_)
    if (const auto found = request_.rollouts.find(input.id); found != request_.rollouts.end())
      input.rollouts = found->second;
  if (parts_.add_steps) parts_.add_steps(&inputs_);
  if (parts_.prepare_tasks) DAVINCI_RETURN_IF_ERROR(parts_.prepare_tasks(&inputs_));
  const bool uses_skills = request_.recipe.step.schemes > 0 || request_.recipe.step.learn;
  if (uses_skills) {
    DAVINCI_ASSIGN_OR_RETURN(library_, OpenRunLibrary(run_->folder(), request_.library_sources));
  }
  DAVINCI_RETURN_IF_ERROR(RestoreLedger(*run_, parts_.ledger));
  DAVINCI_ASSIGN_OR_RETURN(const RunStages before, MeasureStages(*run_));
  rollouts_before_ = before.rollouts;
  int64_t units = 0;
  for (const auto& [kind, times] : before.stages) units += times.count;
  if (units > 0)
    Note(fmt::format("continuing {}: done so far: {} (replies, judgements, …), {}",
                     run_->folder().string(), Counted(units, "record"),
                     Counted(before.rollouts, "rollout")));
  for (const std::string& line : run_->damaged_lines())
    Note(fmt::format("{} of the journal is damaged; what stood there is done again", line));
  return Status::Ok();
}

Status Loop::RunSteps() {
  const RunRecipe& recipe = request_.recipe;
  rollout::StepContext context =
      engine_.Context(&calls_, library_.get(), parts_.prompts, {parts_.device}, events_.step);
  if (!replaying_) {
    context.author = parts_.author;
    context.author_alone = parts_.author_alone;
  }
  const size_t per_step = recipe.step.learn ? static_cast<size_t>(recipe.tasks_per_step)
                                            : std::max<size_t>(inputs_.size(), 1);
  for (size_t begin = 0; begin < inputs_.size(); begin += per_step) {
    const size_t end = std::min(inputs_.size(), begin + per_step);
    const auto step = static_cast<int>(begin / per_step) + 1;
    const std::vector<rollout::TaskInput> tasks(inputs_.begin() + static_cast<ptrdiff_t>(begin),
                                                inputs_.begin() + static_cast<ptrdiff_t>(end));
    auto outcomes = rollout::RunStep(context, recipe.step, step, tasks, recipe.tasks_in_flight);
    if (recipe.step.learn && !stop_->stopped()) {
      DAVINCI_RETURN_IF_ERROR(Flush(step, outcomes));
    }
    DAVINCI_RETURN_IF_ERROR(CloseStep(step, outcomes));
    for (rollout::TaskOutcome& outcome : outcomes) {
      outcomes_.push_back(std::move(outcome));
      steps_.push_back(step);
    }
  }
  return Status::Ok();
}

// A step whose every task is done gets its sums written down, and its index is forgotten.
Status Loop::CloseStep(int step, const std::vector<rollout::TaskOutcome>& outcomes) {
  const bool done =
      !stop_->stopped() && std::ranges::all_of(outcomes, [](const rollout::TaskOutcome& outcome) {
        return outcome.status.ok() && outcome.complete;
      });
  Status recorded;
  if (done && !replaying_) {
    rollout::UnitId id;
    id.kind = UnitKind::kStep;
    id.step = step;
    DAVINCI_ASSIGN_OR_RETURN(const SegmentTotals totals, TotalsOf(*run_, step));
    recorded = engine_.log.Do(id, [&]() -> Result<json> { return ToJson(totals); }).status();
  }
  run_->Release(step);
  return recorded;
}

// What a step learned enters the run's library and the user's. Tasks that failed now and are done
// when the run goes on flush what they learn then.
Status Loop::Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes) {
  std::set<std::string> flushed;
  int num_flushes = 0;  // of all steps: the run library's steps are counted through
  int num_of_step = 0;
  DAVINCI_RETURN_IF_ERROR(run_->ForEachIn(store::kRunSegment, [&](const store::Unit& unit) {
    if (unit.kind != rollout::UnitKindName(UnitKind::kFlush)) return true;
    ++num_flushes;
    num_of_step += unit.body.value("step", 0) == step;
    for (const auto& key : unit.body.value("keys", json::array()))
      flushed.insert(key.get<std::string>());
    for (const auto& name : unit.body.value("admitted", json::array()))
      if (unit.body.value("step", 0) == step) result_.learned.push_back(name.get<std::string>());
    return true;
  }));
  if (replaying_) return Status::Ok();
  Learned learned = CollectLearned(outcomes, request_.recipe.step, RunName(), library_.get());
  std::erase_if(learned.skills,
                [&](const skill::Staged& staged) { return flushed.contains(staged.key); });
  if (flushed.contains(learned.usage.key)) learned.usage.usage.clear();
  if (learned.skills.empty() && learned.usage.usage.empty() && num_of_step > 0) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const skill::FlushResult result,
                           FlushStep(*library_, num_flushes + 1, learned));
  json body = {{"step", step}, {"keys", json::array()}, {"admitted", json::array()}};
  if (!learned.usage.usage.empty()) body["keys"].push_back(learned.usage.key);
  for (const skill::Staged& staged : learned.skills) body["keys"].push_back(staged.key);
  for (const auto& [key, admission] : result.admissions) {
    body["admissions"].push_back({{"key", key},
                                  {"result", skill::AdmissionName(admission.admission)},
                                  {"name", admission.name},
                                  {"reason", admission.reason}});
    if (admission.admission != skill::Admission::kAdded &&
        admission.admission != skill::Admission::kMerged)
      continue;
    body["admitted"].push_back(admission.name);
    result_.learned.push_back(admission.name);
  }
  if (!request_.publish_library.empty() && !learned.skills.empty()) {
    // The user's library may be busy or full; what was learned is safe in the run's.
    const auto published = Publish(request_.publish_library, RunName(), learned);
    body["published"] = published.ok();
    if (!published.ok())
      Note(fmt::format("not entered into {}: {}; later: davinci skills import {}",
                       request_.publish_library.string(), published.status().message(),
                       (run_->folder() / "library.sqlite").string()));
  }
  rollout::UnitId id;
  id.kind = UnitKind::kFlush;
  id.step = step;
  id.sample = num_of_step;
  return engine_.log.Record(id, std::move(body));
}

void Loop::CertifyTask(size_t index) {
  const rollout::TaskInput& input = inputs_[index];
  const rollout::TaskOutcome& outcome = outcomes_[index];
  report::TaskView& task = result_.view.tasks[index];
  Certifier certifier;
  certifier.log = &certification_log_;
  certifier.service = &engine_.service;
  certifier.parts = {parts_.runtime_source, parts_.guard_source, "", parts_.harness_source, ""};
  certifier.recipe = &request_.recipe;
  certifier.hurry = stop_->stopped() && !request_.recertify;
  certifier.again = request_.recertify;
  std::string remark;
  // Not the run's token: a run that was stopped still certifies its best.
  auto certified = Certify(certifier, steps_[index], input, outcome.best, task.trajectories,
                           CancelToken(), &remark);
  if (!certified.ok())
    remark = "the best kernel could not be certified: " + certified.status().message();
  if (!remark.empty()) task.remark += (task.remark.empty() ? "" : "; ") + remark;
  if (!certified.ok()) return;
  task.winner = std::move(certified->winner);
  task.not_decided = std::move(certified->not_decided);
  task.not_faster = std::move(certified->not_faster);
  task.none_held = !outcome.best.empty() && report::BestKernel(task) == nullptr;
  if (!task.winner) return;
  task.winner->explanation = Explain(input, task.trajectories, *task.winner, *run_);
}

void Loop::CertifyWinners() {
  if (stop_->stopped() && !replaying_) {
    if (stop_->reason() == TrajectoryEnd::kFailed) return;
    Note("certifying the best kernels so far (interrupt again to leave at once)");
  }
  if (run_->writable()) Note("judging the best kernels again, in fresh processes");
  const size_t workers =
      std::min<size_t>(inputs_.size(), static_cast<size_t>(engine_.judge_places) + 1);
  std::atomic<size_t> next{0};
  rollout::ForEachInParallel(workers, [&](size_t) {
    for (size_t i; (i = next++) < inputs_.size();) {
      const Status done = rollout::Guarded([&] {
        CertifyTask(i);
        return Status::Ok();
      });
      if (!done.ok()) result_.view.tasks[i].remark += done.message();
    }
  });
}

Status Loop::Export(size_t index) {
  report::TaskView& task = result_.view.tasks[index];
  if (!task.winner) {
    // What an earlier certification exported is not a result of this run any more.
    std::error_code error;
    if (request_.recertify)
      for (const char* extension : {".py", ".txt"})
        fs::remove(ResultsFolder() / (FileNameFor(task.task.id) + extension), error);
    return Status::Ok();
  }
  const fs::path folder = request_.export_folder.empty() ? ResultsFolder() : request_.export_folder;
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  const fs::path file = folder / (FileNameFor(task.task.id) + ".py");
  DAVINCI_ASSIGN_OR_RETURN(const std::string source, run_->GetBlob(task.winner->code_hash));
  std::vector<std::string> remarks = {fmt::format(
      "{}: found by davinci-kernel. Runs in plain PyTorch; davinci is not needed.", task.task.id)};
  const std::string& text = task.winner->explanation;
  remarks.push_back(text.substr(0, text.find('\n')));
  if (!result_.view.device.empty())
    remarks.push_back(fmt::format("Measured on {}.", result_.view.device));
  DAVINCI_ASSIGN_OR_RETURN(const config::TaskConfig config,
                           config::ParseTaskConfig(task.task.sidecar, task.task.id + ".toml"));
  const auto& read = inputs_[index].task;
  const ExportParts parts{parts_.runtime_source, parts_.guard_source, task.reference,
                          parts_.harness_source, read == nullptr ? "" : read->imports.package};
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(file, ExportSource(source, config, request_.recipe.step.target,
                                         task.winner->certified, parts, std::move(remarks))));
  std::error_code error;
  task.winner->exported_path = fs::absolute(file, error).lexically_normal().string();
  return WriteFileAtomic(folder / (FileNameFor(task.task.id) + ".txt"), text);
}

Status Loop::WriteResults() {
  if (!run_->writable()) return Status::Ok();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(ResultsFolder()));
  for (size_t i = 0; i < result_.view.tasks.size(); ++i) DAVINCI_RETURN_IF_ERROR(Export(i));
  report::HtmlInput html;
  html.run = &result_.view;
  if (request_.header.command == "bench") {
    html.scores.push_back(score::Score(report::ScoreInputOf(result_.view), score::BenchProtocol()));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(ResultsFolder() / "score.json",
                                            JsonText(score::ToJson(html.scores.front()), 2)));
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(ResultsFolder() / "samples.csv", SamplesCsv(BenchTasksOf(result_.view))));
  }
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(run_->folder() / "report.html", report::RenderHtml(html)));
  return WriteFileAtomic(ResultsFolder() / "result.json", JsonText(ToJson(result_), 2));
}

Status Loop::EndSession() {
  if (run_->writable() && engine_.log.broken().ok() && certification_log_.broken().ok()) {
    SessionTimes session;
    session.started_unix_s = started_unix_s_;
    session.wall_seconds = watch_.Seconds();
    DAVINCI_ASSIGN_OR_RETURN(const RunStages now, MeasureStages(*run_));
    session.rollouts = now.rollouts - rollouts_before_;
    session.llm = engine_.llm_lane.stats();
    session.judge = engine_.judge_lane.stats();
    session.journal = run_->write_cost();
    session.ended = std::string(result_.stopped      ? TrajectoryEndName(*result_.stopped)
                                : result_.finished() ? "finished"
                                                     : "not finished");
    if (parts_.notices) session.notices = parts_.notices();
    if (parts_.ledger != nullptr) session.lost = parts_.ledger->Lost();
    // A session that found everything done has nothing to tell.
    if (session.journal.num_units > 0 || !session.lost.empty()) {
      rollout::UnitId id;
      id.kind = UnitKind::kSession;
      id.step = static_cast<int>(now.sessions.size()) + 1;
      DAVINCI_RETURN_IF_ERROR(certification_log_.Record(id, SessionBody(session)));
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(result_.stages, MeasureStages(*run_));
  if (parts_.notices) result_.notices = parts_.notices();
  for (const SessionTimes& session : result_.stages.sessions)
    for (const std::string& notice : session.notices)
      if (std::ranges::find(result_.notices, notice) == result_.notices.end())
        result_.notices.push_back(notice);
  result_.view.finished_unix_s = result_.stages.last_unix_s;
  for (const auto& [kind, times] : result_.stages.stages)
    if (times.seconds > 0) result_.view.stage_seconds.emplace_back(kind, times.seconds);
  result_.view.stage_note = "seconds of work, summed over calls that ran at the same time";
  return Status::Ok();
}

Result<RunResult> Loop::Run() {
  DAVINCI_RETURN_IF_ERROR(Prepare());
  Status trouble;
  {
    const Deadline deadline(replaying_ ? 0 : request_.recipe.budget.minutes, stop_);
    trouble = RunSteps();
  }
  for (const rollout::TaskOutcome& outcome : outcomes_)
    if (!outcome.status.ok()) result_.failed_tasks.emplace_back(outcome.task, outcome.status);
  bool over_budget = false;
  for (const rollout::TaskOutcome& outcome : outcomes_)
    for (const Trajectory& trajectory : outcome.trajectories)
      over_budget = over_budget || trajectory.end == TrajectoryEnd::kBudget;
  if (stop_->stopped())
    result_.stopped = stop_->reason();
  else if (over_budget)
    result_.stopped = TrajectoryEnd::kBudget;
  if (trouble.ok() && stop_->stopped()) trouble = stop_->why();
  if (trouble.ok()) trouble = engine_.log.broken();
  result_.trouble = trouble;
  // Certification needs the kernels, the view the rest: the outcomes' records move there.
  std::vector<rollout::TaskOutcome> moved = outcomes_;
  for (rollout::TaskOutcome& outcome : outcomes_) outcome.trajectories.clear();
  DAVINCI_ASSIGN_OR_RETURN(
      result_.view,
      MakeView(request_.header, request_.resolved_recipe,
               std::string(TargetName(request_.recipe.step.target)), std::move(moved), *run_));
  if (request_.winners) CertifyWinners();
  for (const auto& [agent, cost] : report::CostsByAgent(result_.view)) result_.cost += cost;
  if (result_.trouble.ok()) result_.trouble = certification_log_.broken();
  DAVINCI_RETURN_IF_ERROR(EndSession());
  result_.cost += LostCost(result_.stages);
  // A full disk is reported once, by what it stopped.
  const Status written = WriteResults();
  if (result_.trouble.ok()) result_.trouble = written;
  return std::move(result_);
}

}  // namespace

Result<RunResult> ExecuteRun(RunRequest request, const RunParts& parts, rollout::StopFlag* stop,
                             const RunEvents& events) {
  DAVINCI_RETURN_IF_ERROR(KeepSources(&request.header.tasks));
  DAVINCI_ASSIGN_OR_RETURN(auto run,
                           OpenRun(request.folder, request.header, request.resolved_recipe));
  return Loop(std::move(request), parts, stop, events, std::move(run)).Run();
}

namespace {

// The request that the run in `folder` was made with.
Result<RunRequest> RequestOf(store::RunStore& run) {
  RunRequest request;
  request.folder = run.folder();
  DAVINCI_ASSIGN_OR_RETURN(request.header, HeaderFrom(run));
  DAVINCI_ASSIGN_OR_RETURN(request.recipe, RecipeOf(request.folder, &request.resolved_recipe));
  request.winners = request.header.command == "optimize";
  return request;
}

// The files of the tasks must be what the run judged.
Status CheckTaskFiles(const RunHeader& header) {
  for (const task::TaskEntry& task : header.tasks) {
    if (task.path.empty()) continue;
    std::vector<task::TaskEntry> now = {task};
    now[0].source.clear();
    now[0].sidecar.clear();
    const Status read = KeepSources(&now);
    if (!read.ok() || now[0].source != task.source || now[0].sidecar != task.sidecar)
      return InvalidArgument(fmt::format(
          "{} {} since the run was made; its kernels can be measured again only against the same "
          "reference: restore the file",
          task.path.string(), read.ok() ? "has changed" : "is gone"));
  }
  return Status::Ok();
}

}  // namespace

Result<RunResult> RecertifyRun(const fs::path& folder, const fs::path& export_folder,
                               const RunParts& parts, rollout::StopFlag* stop,
                               const RunEvents& events) {
  DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::Open(folder));
  DAVINCI_ASSIGN_OR_RETURN(RunRequest request, RequestOf(*run));
  if (!request.winners)
    return InvalidArgument(fmt::format("{} is a run of `davinci {}`, which certifies no kernels",
                                       folder.string(), request.header.command));
  DAVINCI_RETURN_IF_ERROR(CheckTaskFiles(request.header));
  request.recertify = true;
  request.export_folder = export_folder;
  return Loop(std::move(request), parts, stop, events, std::move(run)).Run();
}

Result<RunResult> ReplayRun(const fs::path& folder, const RunEvents& events) {
  DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::OpenForReading(folder));
  DAVINCI_ASSIGN_OR_RETURN(RunRequest request, RequestOf(*run));
  RunParts parts;
  rollout::StopFlag stop;
  return Loop(std::move(request), parts, &stop, events, std::move(run)).Run();
}

}  // namespace davinci::runs
