// davinci tasks: writes, checks and fetches tasks.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "admit.h"
#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/gpu/device.h"
#include "davinci/judge/judge.h"
#include "installation.h"
#include "report.h"
#include "task_from_file.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

constexpr char kTemplate[] = R"python("""What it computes, and for whom it is slow."""

import torch
from torch import nn

ROWS, COLS = 1024, 1000  # sizes; {0}.toml may set others for each target


class Model(nn.Module):  # the reference: what is right, and what is to become faster
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.softmax(x * self.scale, dim=-1)


def get_init_inputs():  # arguments of the constructor
    return [0.5]


def get_inputs():  # arguments of forward, drawn anew for every call
    return [torch.randn(ROWS, COLS)]
)python";

constexpr char kSidecarTemplate[] = R"toml(title = "{0}"
precision = "fp32"

[sizes.cpu]
ROWS = 1024
COLS = 1000

[sizes.cuda]
ROWS = 16384
COLS = 8192

# A shape that divides by nothing, checked for correctness.
[[variants]]
ROWS = 61
COLS = 1021
)toml";

struct TasksArguments {
  std::string file;
  std::string from;
  EntryFlags entry;
  std::vector<std::string> files;
  std::string target;
  bool json = false;
  std::string name;
  std::string url;
  std::string commit;
  std::string into;
};

Status WriteNew(const TasksArguments& arguments) {
  const fs::path file(arguments.file);
  if (file.extension() != ".py")
    return InvalidArgument(fmt::format("{}: name a Python file to write", arguments.file));
  const fs::path sidecar = fs::path(file).replace_extension(".toml");
  std::error_code error;
  for (const fs::path& path : {file, sidecar})
    if (fs::exists(path, error))
      return InvalidArgument(fmt::format("{} is there already", path.string()));
  const std::string stem = file.stem().string();
  std::string source = fmt::format(fmt::runtime(kTemplate), stem);
  std::string settings = fmt::format(fmt::runtime(kSidecarTemplate), stem);
  if (!arguments.from.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(task::TaskEntry made, TaskFromFile(arguments.from, arguments.entry));
    source = std::move(made.source);
    settings = std::move(made.sidecar);
  } else if (arguments.entry.given()) {
    return InvalidArgument("--entry, --inputs and --init belong to the file that --from names");
  }
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, source));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(sidecar, settings));
  fmt::print("{}\n{}\n", file.string(), sidecar.string());
  return Status::Ok();
}

int Check(const TasksArguments& arguments, const GlobalOptions& global) {
  const auto installation = FindInstallation(global.python);
  if (!installation.ok()) return FailCommand("tasks", installation.status());
  auto tasks = TasksFrom(arguments.files, arguments.entry);
  if (!tasks.ok()) return FailCommand("tasks", tasks.status());
  auto folder = MakeTempDir("davinci-tasks");
  if (!folder.ok()) return FailCommand("tasks", folder.status());
  if (const Status status = task::WriteTaskFiles(folder->path(), &*tasks); !status.ok())
    return FailCommand("tasks", status);
  std::vector<std::string> paths;
  for (const task::TaskEntry& task : *tasks) paths.push_back(task.path.string());
  const bool has_gpu = !gpu::DeviceMonitor::Create()->devices().empty();
  const Target target = !arguments.target.empty() ? ParseTarget(arguments.target).value()
                        : has_gpu                 ? Target::kCuda
                                                  : Target::kCpu;
  return RunAdmit(paths, target, MakeJudgeOptions(*installation), arguments.json);
}

int Pull(const TasksArguments& arguments, const GlobalOptions& global) {
  const auto installation = FindInstallation(global.python);
  if (!installation.ok()) return FailCommand("tasks", installation.status());
  std::vector<std::string> words = {arguments.name};
  for (const auto& [flag, value] :
       {std::pair{"--url", &arguments.url}, std::pair{"--commit", &arguments.commit},
        std::pair{"--into", &arguments.into}})
    if (!value->empty()) words.insert(words.end(), {flag, *value});
  const auto status = RunPython(*installation, "python/task_pull.py", words);
  return status.ok() ? *status : FailCommand("tasks", status.status());
}

}  // namespace

void AddTasksCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<TasksArguments>();
  CLI::App* tasks = app.add_subcommand("tasks", "Write, check and fetch tasks");
  tasks->require_subcommand(1);
  CLI::App* made = tasks->add_subcommand("new", "Write a task file and its sidecar");
  made->add_option("FILE", arguments->file, "Python file to write")->required();
  made->add_option("--from", arguments->from,
                   "Module to make it of, FILE.py:NAME (default: a template)");
  AddEntryFlags(made, &arguments->entry);
  made->callback([arguments, exit_code] {
    const Status status = WriteNew(*arguments);
    *exit_code = status.ok() ? 0 : FailCommand("tasks", status);
  });
  CLI::App* check = tasks->add_subcommand(
      "check",
      "Run the references, and see which wrong answers (zeros, a constant, an input, an "
      "older output, other weights) would pass");
  check->add_option("FILE", arguments->files, "Task files, FILE.py:NAME, folders or JSONL")
      ->required();
  AddEntryFlags(check, &arguments->entry);
  check
      ->add_option("--target,-t", arguments->target,
                   "cpu or cuda (default: cuda if there is a GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  check->add_flag("--json", arguments->json, "One JSON document on stdout");
  check->callback([arguments, &global, exit_code] { *exit_code = Check(*arguments, global); });
  CLI::App* pull = tasks->add_subcommand("pull", "Fetch a published set with git: kernelbench");
  pull->add_option("NAME", arguments->name, "kernelbench")->required();
  pull->add_option("--into", arguments->into, "Folder to make (default: NAME)");
  pull->add_option("--url", arguments->url, "Repository (default: the published one)");
  pull->add_option("--commit", arguments->commit,
                   "Commit (default: the one davinci is tested with)");
  pull->callback([arguments, &global, exit_code] { *exit_code = Pull(*arguments, global); });
  tasks->footer(
      "Exit status: 0 done, 2 bad usage or input (check: some task cannot be judged), 3 davinci "
      "failed.\n"
      "Examples:\n"
      "  davinci tasks new softmax.py\n"
      "  davinci tasks new block.py --from net.py:Block --init 1024 --inputs 'torch.randn(8, "
      "1024)'\n"
      "  davinci tasks check softmax.py -t cpu\n"
      "  davinci tasks pull kernelbench --into KernelBench; davinci bench --tasks KernelBench "
      "--llm URL\n"
      "docs/tasks.md has the format.");
}

}  // namespace davinci::app
