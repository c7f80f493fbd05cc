// davinci judge: one candidate, or a batch.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "admit.h"
#include "batch.h"
#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/judge/request/baselines.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/task/task.h"
#include "export_file.h"
#include "installation.h"
#include "judge_repeat.h"
#include "judging.h"
#include "kernel_file.h"
#include "python_syntax.h"
#include "report.h"
#include "silence_watch.h"
#include "task_from_file.h"

namespace davinci::app {
namespace {

constexpr int kMostThreads = 256;  // a sandbox takes 512 in all

struct JudgeArguments {
  std::string batch;
  std::string out;
  std::vector<std::string> admit;
  int in_flight = 0;
  std::string record;
  std::string reference;
  std::string candidate;
  EntryFlags entry;
  std::string target = "";
  std::string language = "auto";
  std::string protocol = "davinci";
  std::string baseline = "eager";
  std::vector<std::string> shapes;
  std::string against;
  int repeat = 1;
  std::string export_to;  // file; with --batch a folder
  bool json = false;
  bool no_sandbox = false;
  int threads = 0;
  std::string devices;
  double load_timeout = 0;
  double call_timeout = 0;
  double compile_timeout = 0;
};

std::string WhyNoSeconds(const std::string& text) {
  double seconds = 0;  // nan is outside of every range
  const bool good = CLI::detail::lexical_cast(text, seconds) && seconds >= 0.1 && seconds <= 86400;
  return good ? "" : fmt::format("{} is no number of seconds from 0.1 to 86400", text);
}

std::string WhyNoFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error)
             ? fmt::format("{} is a folder; name a file in it", path)
             : "";
}

Target DefaultTarget() {
  return gpu::VisibleDevices(*gpu::DeviceMonitor::Create()).empty() ? Target::kCpu : Target::kCuda;
}

// Another language than the user named is judged all the same: no verdict depends on it.
void WarnOfLanguage(const JudgeArguments& arguments, const judge::EvaluationRequest& request) {
  const Language found = DetectLanguage(request.candidate);
  if (request.language == Language::kAuto || request.language == found) return;
  fmt::print(
      stderr,
      "davinci judge: warning: --language is {}, but {} is {}; it is judged as what it is. "
      "Leave --language out, or name {}\n",
      LanguageName(request.language), Printable(arguments.candidate),
      found == Language::kPython ? "python (it builds no kernel of its own)" : LanguageName(found),
      LanguageName(found));
}

// `task`: that of the job, where it has been read.
int RunOne(const JudgeArguments& arguments, const judge::JobFiles& job,
           const std::shared_ptr<const task::Task>& task, const std::string& against,
           JudgeSetup setup, const Installation& installation) {
  for (const auto& [option, path] : {std::pair{"--reference", &job.reference_path},
                                     std::pair{"--candidate", &job.candidate_path}}) {
    if (!path->empty()) continue;
    fmt::print(stderr,
               "davinci judge: {} is missing; give a task and a candidate (-r task.py -c "
               "kernel.py), or many with "
               "--batch jobs.jsonl\n",
               option);
    if (arguments.json)
      PrintErrorDocument("judge", InvalidArgument(fmt::format("{} is missing", option)), 2);
    return 2;
  }
  setup.options.triton = job.target == Target::kCuda;
  if (arguments.repeat > 1 || !arguments.against.empty())
    return RunRepeated(
        job, task, setup,
        {arguments.repeat, against, arguments.candidate, arguments.against, arguments.json});
  ProgressLine progress;
  // End, with all their processes, after the verdict has been written.
  OwnJudges judges(setup);
  auto request = judge::ReadRequest(job, task);
  if (request.ok() && !arguments.export_to.empty()) {
    const Status prepared = PrepareExport(installation, &*request);
    if (!prepared.ok()) return FailCommand("judge", prepared);
  }
  Result<Evaluation> evaluation = request.status();
  if (request.ok()) {
    WarnOfLanguage(arguments, *request);
    Mutex mutex;  // guards stage and line
    std::string stage = "starting the processes that load torch";
    const auto say = [&](double silent) {
      MutexLock lock(mutex);
      if (!progress.live())
        fmt::print(stderr, "davinci judge: {} … ({:.0f} s)\n", Printable(stage), silent);
    };
    SilenceWatch silence(say);
    request->progress = [&](std::string_view now) {
      MutexLock lock(mutex);
      stage = now;
      progress.Show(stage + " …");
    };
    auto reply = judges.Evaluate(*request);
    evaluation = reply.ok() ? Result<Evaluation>(std::move(reply->evaluation)) : reply.status();
  }
  progress.Clear();
  if (!evaluation.ok())
    evaluation = OrSyntaxError(evaluation.status(), {job.reference_path}, setup.options.python);
  if (evaluation.ok() && !arguments.export_to.empty()) {
    const Status written =
        WriteExport(*request, arguments.candidate, *evaluation, installation, arguments.export_to);
    if (!written.ok()) return FailCommand("judge", written);
  }
  const Evaluation verdict = evaluation.ok() ? *evaluation : FailedEvaluation(evaluation.status());
  int code = evaluation.ok() ? ExitCode(*evaluation) : FailCommand("judge", evaluation.status());
  if (evaluation.ok() && !arguments.export_to.empty() && verdict.outcome == Outcome::kCompileOnly) {
    fmt::print(stderr,
               "davinci judge: {} is not written: a check without a GPU certifies nothing; judge "
               "the candidate where there is one\n",
               arguments.export_to);
    code = 4;
  }
  if (arguments.json)
    fmt::print("{}\n", JsonText(ToJson(verdict), 2));
  else if (evaluation.ok()) {
    judge::JobFiles shown = job;  // as the user calls it
    shown.reference_path = arguments.reference;
    shown.candidate_path = arguments.candidate;
    fmt::print("{}", RenderEvaluation(verdict, shown, UseColor(STDOUT_FILENO)));
  }
  std::fflush(stdout);
  return code;
}

// `*path`, where it names a file of kernels alone, becomes a candidate in `folder` that calls them.
Status AddHarness(const task::Task& task, const std::filesystem::path& folder, const char* name,
                  std::string* path) {
  const auto kernel = ReadFile(*path, kMaxKernelBytes);
  if (!kernel.ok()) return Status::Ok();  // the judge's message names the file
  if (!IsKernelFile(*path, *kernel, task)) return Status::Ok();
  const auto harness = folder / name;
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(harness, HarnessOf(*path, *kernel, task)));
  *path = harness.string();
  return Status::Ok();
}

// The files of a reference that is named as FILE.py:NAME, and of candidates that are kernels alone.
Status MadeOf(const JudgeArguments& arguments, judge::JobFiles* job,
              std::shared_ptr<const task::Task>* task, std::string* against, TempDir* folder) {
  job->candidate_has_neighbours = true;
  if (job->reference_path.empty() || job->candidate_path.empty()) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(*folder, MakeTempDir("davinci-task"));
  if (IsFromFile(job->reference_path, arguments.entry)) {
    DAVINCI_ASSIGN_OR_RETURN(auto made, TasksFrom({job->reference_path}, arguments.entry));
    DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(folder->path(), &made));
    job->reference_path = made.front().path.string();
  }
  if (!std::filesystem::exists(job->candidate_path)) return Status::Ok();  // as below
  DAVINCI_ASSIGN_OR_RETURN(const auto read, task::ReadTask(job->reference_path));
  if (job->shapes.empty()) *task = read;
  DAVINCI_RETURN_IF_ERROR(AddHarness(*read, folder->path(), "harness.py", &job->candidate_path));
  if (against->empty()) return Status::Ok();
  return AddHarness(*read, folder->path(), "harness_against.py", against);
}

int RunJudge(const JudgeArguments& arguments, const GlobalOptions& global) {
  auto installation = FindInstallation(global.python);
  if (!installation.ok()) return FailCommand("judge", installation.status());
  // A batch takes all by default, one judgement the first.
  const std::string wanted = !arguments.devices.empty() ? arguments.devices
                             : arguments.batch.empty()  ? ""
                                                        : "all";
  auto setup = SetUpJudges(*installation, wanted);
  if (!setup.ok()) return FailCommand("judge", setup.status());
  judge::JudgeOptions& options = setup->options;
  options.threads = arguments.threads;
  options.load_timeout_seconds = arguments.load_timeout;
  options.call_timeout_seconds = arguments.call_timeout;
  options.compile_timeout_seconds = arguments.compile_timeout;
  options.unsafe_no_sandbox = arguments.no_sandbox;
  options.record_folder = arguments.record;
  judge::JobFiles job;
  job.reference_path = arguments.reference;
  job.candidate_path = arguments.candidate;
  job.protocol = arguments.protocol;
  job.baseline = arguments.baseline;
  job.shapes = arguments.shapes;
  job.target = arguments.target.empty() ? DefaultTarget() : ParseTarget(arguments.target).value();
  job.language = ParseLanguage(arguments.language).value();
  if (!arguments.admit.empty())
    return RunAdmit(arguments.admit, job.target, options, arguments.json);
  if (arguments.batch.empty()) {
    TempDir made;
    std::shared_ptr<const task::Task> task;
    std::string against = arguments.against;
    if (const Status status = MadeOf(arguments, &job, &task, &against, &made); !status.ok())
      return FailCommand("judge", OrSyntaxError(status, {arguments.reference}, options.python));
    setup->devices.clear();  // one judgement needs one
    return RunOne(arguments, job, task, against, *setup, *installation);
  }
  BatchOptions batch;
  batch.jobs_path = arguments.batch;
  batch.out_path = arguments.out;
  batch.in_flight = arguments.in_flight;
  batch.json = arguments.json;
  batch.export_folder = arguments.export_to;
  batch.installation = &*installation;
  batch.defaults = job;
  return RunBatch(batch, *std::move(setup));
}

// The flags say how a candidate is judged.
void AddHowFlags(CLI::App* command, JudgeArguments* arguments) {
  command
      ->add_option("--target,-t", arguments->target,
                   "cpu or cuda (default: cuda if there is a GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--language,-l", arguments->language, "What the candidate is written in")
      ->check(CLI::IsMember({"auto", "triton", "cuda", "cuda-inline", "cpp", "python"}))
      ->capture_default_str();
  command->add_option("--protocol,-p", arguments->protocol, "How much evidence the verdict needs")
      ->check(CLI::IsMember(judge::ProtocolNames()))
      ->capture_default_str();
  command
      ->add_option("--baseline,-b", arguments->baseline,
                   "What the candidate is timed against: eager, compile, compile-max-autotune, or "
                   "several: eager,compile")
      ->check([](const std::string& text) {
        const auto baselines = judge::ParseBaselines(text);
        return baselines.ok() ? std::string() : baselines.status().message();
      })
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->threads,
                   "Threads of reference and candidate (default: all cores, on cuda one)")
      ->check(CLI::Range(1, kMostThreads));
  command->add_option(
      "--devices", arguments->devices,
      "GPUs: \"all\", \"none\", positions from 0 or beginnings of uuids, with commas; a batch "
      "uses each (default: all, one judgement the first)");
  const judge::Protocol limits;
  for (const auto& [name, value, usual, what] :
       {std::tuple{"--load-timeout", &arguments->load_timeout, limits.load_timeout_seconds,
                   "importing and constructing"},
        std::tuple{"--call-timeout", &arguments->call_timeout, limits.call_timeout_seconds,
                   "one forward of a small task"},
        std::tuple{"--compile-timeout", &arguments->compile_timeout, limits.compile_timeout_seconds,
                   "all compilations of one candidate"}})
    command->add_option(name, *value, fmt::format("Seconds for {} (default: {:g})", what, usual))
        ->check(CLI::Validator(WhyNoSeconds, "0.1 to 86400"));
}

// The flags belong to `batch` alone.
void AddBatchFlags(CLI::App* command, CLI::Option* batch, JudgeArguments* arguments) {
  command
      ->add_option("--jobs,-j", arguments->in_flight,
                   "Evaluations in flight (default: half the cores)")
      ->check(CLI::Range(1, 1024))
      ->needs(batch);
  command
      ->add_option("--out,-o", arguments->out,
                   "File for the results of --batch, one per line; what is finished there is not "
                   "judged again. Where a job has several, the last one counts")
      ->check(CLI::Validator(WhyNoFile, ""))
      ->needs(batch);
}

}  // namespace

void AddJudgeCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<JudgeArguments>();
  CLI::App* command = app.add_subcommand(
      "judge", "Decide whether a candidate kernel is correct and how much faster it is");
  command->add_option("--reference,-r", arguments->reference,
                      "Task file: class Model, get_inputs(), get_init_inputs(); or FILE.py:NAME");
  AddEntryFlags(command, &arguments->entry);
  command->add_option(
      "--candidate,-c", arguments->candidate,
      "Candidate file: class ModelNew; or kernels alone (.cu, .cpp, Triton), called as "
      "their comments say (docs/judge.md)");
  AddHowFlags(command, arguments.get());
  command->add_flag("--json", arguments->json,
                    "One JSON document on stdout, nothing else (--batch: one per line)");
  auto* batch = command
                    ->add_option("--batch", arguments->batch,
                                 "Job file: one {\"reference\": …, \"candidate\": …} per line, "
                                 "paths relative to the file's "
                                 "folder; may also set id, target, language, protocol, baseline")
                    ->excludes("--reference")
                    ->excludes("--candidate");
  AddBatchFlags(command, batch, arguments.get());
  command
      ->add_option("--shapes", arguments->shapes,
                   "A further shape to check, as globals of the task file: ROWS=1024,COLS=77 (may "
                   "be repeated)")
      ->allow_extra_args(false)
      ->excludes(batch);
  command
      ->add_option("--against", arguments->against,
                   "Another candidate of the same task: judged in turn with the first, and "
                   "compared with it")
      ->excludes(batch);
  command
      ->add_option("--repeat", arguments->repeat,
                   "Judgements of the candidate, each under new seeds")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000))
      ->excludes(batch);
  command->add_option("--export", arguments->export_to,
                      "Write a correct candidate as a file that runs without davinci and guards "
                      "its inputs (--batch: folder, ID.py)");
  command
      ->add_option("--admit", arguments->admit,
                   "Task files: which wrong answers (zeros, a constant, an input, an older output, "
                   "other weights) would pass?")
      ->excludes("--reference")
      ->excludes("--candidate")
      ->excludes(batch);
  command->add_flag("--unsafe-no-sandbox", arguments->no_sandbox,
                    "Run candidates without isolation");
  command->add_option("--record", arguments->record,
                      "Folder for a record of each trial, to be replayed without torch");
  command->footer(
      "Exit status: 0 correct, 1 the candidate failed, 2 bad usage or input, 3 davinci failed,\n"
      "4 checked without a device, which could not tell whether it is correct.\n"
      "--batch: 0 every job was judged, whatever came of it, 2 some line was bad input, 3 some "
      "job\n"
      "was not judged.\n"
      "Examples:\n"
      "  davinci judge -r tasks/softmax/softmax_rows.py -c tests/honest/cpu/softmax_rows.py -t "
      "cpu\n"
      "  davinci judge -r task.py -c kernel.py --json > verdict.json\n"
      "  davinci judge -r task.py -c kernel.py --baseline compile --protocol screening\n"
      "  davinci judge -r net.py:Net --inputs 'torch.randn(8, 1024)' -c kernel.py\n"
      "  davinci judge --batch jobs.jsonl -j 2 -o results.jsonl\n"
      "docs/judge.md explains verdicts, docs/tasks.md task files.");
  command->callback([arguments, &global, exit_code] { *exit_code = RunJudge(*arguments, global); });
}

}  // namespace davinci::app
