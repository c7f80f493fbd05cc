// davinci sft-data: rows of supervised fine-tuning from runs and from files of rows.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/dataset/sft_dataset.h"
#include "installation.h"
#include "python_texts.h"
#include "training_flags.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

struct SftDataArguments {
  std::vector<std::string> inputs;
  std::string out;
  std::string format = "native";
  std::string turns = "correct";
  std::vector<std::string> decontaminate;
  bool parquet = false;
  dataset::DatasetRequest request;
};

// Parquet is pyarrow's business, on both sides of the JSON lines.
Status ConvertParquet(const std::string& python, const std::vector<std::string>& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const Installation installation, FindInstallation(python));
  DAVINCI_ASSIGN_OR_RETURN(
      const int code, RunPython(installation, "python/davinci_worker/parquet_rows.py", arguments));
  if (code == 0) return Status::Ok();
  return FailedPrecondition(
      fmt::format("Parquet needs pyarrow in {}; {} -m pip install pyarrow, "
                  "or give JSONL",
                  installation.python, installation.python));
}

Status Run(SftDataArguments arguments, const GlobalOptions& global) {
  dataset::DatasetRequest& request = arguments.request;
  request.out = arguments.out;
  request.version = DAVINCI_VERSION;
  request.format = sftdata::ParseFormat(arguments.format).value();
  request.rules.trajectory.turns = sftdata::ParseTurnChoice(arguments.turns).value();
  DAVINCI_ASSIGN_OR_RETURN(request.evaluation, ReadPythonTexts(arguments.decontaminate));
  DAVINCI_ASSIGN_OR_RETURN(const TempDir scratch, MakeTempDir("sft-data"));
  for (const std::string& input : arguments.inputs) {
    if (fs::path(input).extension() != ".parquet") {
      request.inputs.emplace_back(input);
      continue;
    }
    const fs::path rows = scratch.path() / fmt::format("{}-{}.jsonl", request.inputs.size(),
                                                       fs::path(input).stem().string());
    DAVINCI_RETURN_IF_ERROR(ConvertParquet(global.python, {input, rows.string()}));
    request.inputs.push_back(rows);
  }
  DAVINCI_ASSIGN_OR_RETURN(const dataset::DatasetResult result, dataset::WriteDataset(request));
  for (const fs::path& file : result.files) {
    if (!arguments.parquet) continue;
    fs::path parquet = file;
    parquet.replace_extension(".parquet");
    DAVINCI_RETURN_IF_ERROR(
        ConvertParquet(global.python, {"--write", file.string(), parquet.string()}));
  }
  for (const auto& [rule, count] : result.left_out)
    fmt::print("left out  {:>7}  {}\n", count, rule);
  for (const auto& [rule, count] : result.dropped) fmt::print("dropped   {:>7}  {}\n", count, rule);
  for (const auto& [agent, count] : result.kept) fmt::print("kept      {:>7}  {}\n", count, agent);
  fmt::print("{} rows for training, {} held out, of {} examples: {}\n", result.train, result.eval,
             result.candidates, (request.out / "manifest.json").string());
  return Status::Ok();
}

}  // namespace

void AddSftDataCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<SftDataArguments>();
  CLI::App* command = app.add_subcommand(
      "sft-data", "Rows for davinci sft from what runs recorded, filtered; published formats, too");
  command
      ->add_option("INPUT", arguments->inputs,
                   "Runs of optimize, bench, collect and train, and files of rows "
                   "(.jsonl, .parquet), native or published")
      ->required();
  command->add_option("-o,--out", arguments->out, "Folder for train.jsonl and manifest.json")
      ->required();
  command
      ->add_option("--format", arguments->format,
                   "native (what davinci sft reads); published: merged, trajectories, selections, "
                   "summaries, rl")
      ->check(CLI::IsMember({"native", "merged", "trajectories", "selections", "summaries", "rl"}));
  command->add_flag("--parquet", arguments->parquet, "Also write Parquet; needs pyarrow");
  dataset::ExampleRules& rules = arguments->request.rules;
  command
      ->add_option("--turns", arguments->turns,
                   "Turns that are trained: correct (default), improving, best, all; the others "
                   "are context")
      ->check(CLI::IsMember({"correct", "improving", "best", "all"}));
  command
      ->add_option("--min-speedup", rules.trajectory.min_speedup,
                   "Of a trajectory's best turn (default 0: any)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--min-selection-uplift", rules.min_selection_uplift,
                   "A selection's rollouts over those without skills (default 1; 0: any)")
      ->check(CLI::NonNegativeNumber);
  sftdata::DiversityOptions& diversity = arguments->request.diversity;
  command->add_option("--seed", diversity.seed,
                      "Decides between rows of which only some are kept (default 0)");
  command
      ->add_option("--per-reference", diversity.per_reference,
                   "Most rows of one agent for references that are near-duplicates (default 16; "
                   "0: no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--per-cell", diversity.per_cell,
                   "Most rows of one agent for one operator family and speedup bucket (default 0: "
                   "no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--near-reference", diversity.near_reference,
                   "Similarity from which references count as one (default 0.9)")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--near-skill", diversity.near_skill,
                   "Similarity from which proposed skills count as one (default 0.7)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--decontaminate", arguments->decontaminate,
                      "Folders or files of Python that no reference may resemble: your evaluation");
  command
      ->add_option("--eval-share", arguments->request.eval_share,
                   "Share of the groups of references that goes to eval.jsonl (default 0)")
      ->check(CLI::Range(0.0, 0.9));
  command->footer(
      "Examples:\n"
      "  davinci sft-data davinci-runs/* --decontaminate KernelBench --out data\n"
      "  davinci sft --set data.train='[\"data/train.jsonl\"]' …\n"
      "  davinci sft-data collected --per-cell 400 --eval-share 0.05 --out data\n"
      "  davinci sft-data cold_start.parquet --format native --out data\n"
      "  davinci sft-data davinci-runs/* --format merged --parquet --out published\n"
      "Exit status: 0 written, 2 bad input or nothing left, 3 failed.\n"
      "docs/training.md defines rows, rules and formats.");
  OnCommand(command, "sft-data", exit_code,
            [arguments, &global] { return Run(*arguments, global); });
}

}  // namespace davinci::app
