// The sidecar of a task: tasks/<family>/<name>.toml next to <name>.py.
//
// A KernelBench-layout file needs none. The sidecar adds what the layout cannot say: sizes per
// target, further shapes to check, the precision that counts as correct, functional tasks. Format
// (all keys optional):
//
//   title = "Row softmax"
//   entry = "Model"             # the reference class; a candidate defines <entry>New
//   function = "softmax_rows"   # instead: a function of the module that takes the tensors
//   op = "torch.nn.functional.gelu"  # instead: a function or torch.library operator by its path
//   precision = "fp32"          # fp32 | tf32 | fp16 | bf16 | fp64; tf32 also accepts candidates
//                               # that are as accurate as TF32
//   mode = "eval"               # train | eval; default: as the class constructs itself
//   inplace = false             # true: the reference may change its inputs
//   tolerance_multiple = 64     # overrides the judge's multiple of the reference's own rounding
//   split = "train"             # of generated tasks (docs/synth.md); rows of fine-tuning carry it
//   tags = ["constant-output"]  # known degeneracies; task admission finds others
//   origin = "/srv/project/net.py"  # the file that davinci made this task from: its place, for
//   imports
//                               # and messages
//
//   [sizes.cpu]                 # module globals set before get_inputs() and get_init_inputs()
//   ROWS = 1024
//   [sizes.cuda]
//   ROWS = 16384
//   [[variants]]                # further shapes, checked for correctness; over the target's sizes
//   ROWS = 1023
//   [inputs.0]                  # what the first tensor of get_inputs() is like, where the judge
//   order = "none"              # takes it for something else (docs/tasks.md)
//
// Strict: an unknown key, a wrong type or a name that is no Python identifier is an error with
// file, line and remedy.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/toml_tree.h"

namespace davinci::config {

enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp64 };
enum class ModuleMode { kAsConstructed, kTrain, kEval };

std::string_view PrecisionName(Precision precision);
std::optional<Precision> ParsePrecision(std::string_view name);
std::string_view ModuleModeName(ModuleMode mode);  // "as-constructed", "train", "eval"

// What stands in a sidecar. A default-constructed one is a task without a sidecar.
struct TaskConfig {
  std::string title;
  std::string entry = "Model";  // empty when `function` or `op` is set
  std::string function;
  std::string op;
  Precision precision = Precision::kFp32;
  ModuleMode mode = ModuleMode::kAsConstructed;
  bool inplace = false;
  std::optional<double> tolerance_multiple;
  std::string split;  // of generated tasks; the judge does not read it
  std::vector<std::string> tags;
  std::string origin;  // absolute path; empty: the task file itself
  Json sizes_cpu =
      Json::object();  // global name -> integer, number, boolean, text or list of these
  Json sizes_cuda = Json::object();
  std::vector<Json> variants;    // each an object like the sizes
  Json inputs = Json::object();  // number of a tensor that get_inputs() draws -> entry -> word

  // Module globals to set for `target` ("cpu", "cuda"): its sizes, and over them variant `variant`
  // when one is given.
  Json Globals(std::string_view target, std::optional<size_t> variant = std::nullopt) const;
  // What a candidate has to define: "ModelNew", or "softmax_rows_new".
  std::string CandidateEntry() const;
  // The class that a candidate may define in any case: a function is a module without state.
  std::string CandidateClass() const;
};

// `source` names the text in errors. All problems are reported at once, one per line.
Result<TaskConfig> ParseTaskConfig(std::string_view text, std::string_view source);

// The sidecar beside `task_file` ("x.py" -> "x.toml"), or the defaults when there is none.
Result<TaskConfig> LoadTaskConfig(const std::filesystem::path& task_file);

}  // namespace davinci::config
