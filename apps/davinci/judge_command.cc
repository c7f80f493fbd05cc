// davinci judge: one candidate, or a batch.

#include <unistd.h>

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "commands.h"
#include "davinci/judge/judge.h"
#include "installation.h"
#include "report.h"

namespace davinci::app {
namespace {

struct JudgeArguments {
  std::string reference;
  std::string candidate;
  std::string target = "";
  std::string language = "auto";
  std::string protocol = "davinci";
  std::string baseline = "eager";
  bool json = false;
  bool no_sandbox = false;
  int threads = 0;
};

int Fail(const Status& status) {
  fmt::print(stderr, "davinci judge: {}\n", status.ToString());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kPermissionDenied: return 2;
    default: return 3;
  }
}

int RunJudge(const JudgeArguments& arguments, const GlobalOptions& global) {
  auto installation = FindInstallation(global.python);
  if (!installation.ok()) return Fail(installation.status());
  judge::JudgeOptions options = MakeJudgeOptions(*installation);
  options.threads = arguments.threads;
  options.unsafe_no_sandbox = arguments.no_sandbox;
  judge::Job job;
  job.reference_path = arguments.reference;
  job.candidate_path = arguments.candidate;
  job.protocol = arguments.protocol;
  job.baseline = arguments.baseline;
  job.target = *ParseTarget(arguments.target.empty() ? "cpu" : arguments.target);
  job.language = *ParseLanguage(arguments.language);
  options.triton = job.target == Target::kCuda;
  auto judge = judge::Judge::Create(options);
  if (!judge.ok()) return Fail(judge.status());
  const bool terminal = isatty(STDERR_FILENO) != 0;
  auto evaluation = (*judge)->Evaluate(job, [&](std::string_view stage) {
    if (terminal) fmt::print(stderr, "\r\033[K{} …", stage);
  });
  if (terminal) fmt::print(stderr, "\r\033[K");
  if (!evaluation.ok()) {
    const int code = Fail(evaluation.status());
    if (arguments.json) {
      Evaluation failed;
      failed.message = evaluation.status().ToString();
      failed.evidence["kind"] = code == 2 ? "bad_input" : "internal";
      fmt::print("{}\n", ToJson(failed).dump(2));
    }
    return code;
  }
  if (arguments.json)
    fmt::print("{}\n", ToJson(*evaluation).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", RenderEvaluation(*evaluation, job, isatty(STDOUT_FILENO) != 0));
  return ExitCode(*evaluation);
}

}  // namespace

void AddJudgeCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<JudgeArguments>();
  CLI::App* command = app.add_subcommand(
      "judge", "Decide whether a candidate kernel is correct and how much faster it is");
  command->add_option("--reference,-r", arguments->reference,
                      "Task file: class Model, get_inputs(), get_init_inputs()");
  command->add_option("--candidate,-c", arguments->candidate, "Candidate file: class ModelNew");
  command->add_option("--target,-t", arguments->target, "cpu or cuda (default: cuda if there is a GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--language,-l", arguments->language, "What the candidate is written in")
      ->check(CLI::IsMember({"auto", "triton", "cuda", "cuda-inline", "cpp", "python"}));
  command->add_option("--protocol,-p", arguments->protocol, "How much evidence the verdict needs")
      ->check(CLI::IsMember({"davinci", "screening", "kernelbench"}));
  command->add_option("--baseline,-b", arguments->baseline, "What the candidate is compared with")
      ->check(CLI::IsMember({"eager", "compile", "compile-max-autotune"}));
  command->add_option("--threads", arguments->threads, "Threads of reference and candidate (default: all cores)");
  command->add_flag("--json", arguments->json, "One JSON document on stdout, nothing else");
  command->add_flag("--unsafe-no-sandbox", arguments->no_sandbox, "Run candidates without isolation");
  command->callback([arguments, &global, exit_code] { *exit_code = RunJudge(*arguments, global); });
}

}  // namespace davinci::app
