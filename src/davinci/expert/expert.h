// The expert: kernels for any PyTorch module, without a language model. What the judge's oracle
// traces of a task (judge::Judge::Trace) is imported, and the teacher's rules write kernels for it.
// The front header of this module.
//
// It never decides: candidates go to the judge like anybody's. What the rules do not cover stays a
// PyTorch call, with its reason. Threads may share an Expert.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/language.h"
#include "davinci/import/import_graph.h"
#include "davinci/task/task.h"
#include "davinci/teacher/teacher.h"

namespace davinci::expert {

// Some sizes differ between the shapes of a task. This says how kernels get them.
enum class Sizes {
  kSymbols,  // read of the inputs, where the module can be traced so
  kNumbers   // a number: each shape has kernels of its own; other shapes get those with symbols
};

// One way to write the kernels of a task.
struct Variant {
  std::string name;  // "best", "best without compensated_tf32", "better"
  Language language = Language::kTriton;
  teacher::RuleSet allowed = {};  // rules that it may use
  teacher::LaunchSettings launch = {};
  Sizes sizes = Sizes::kSymbols;
  teacher::Candidate candidate = {};
};

// A task that was imported.
struct ExpertTask {
  // A further shape that the task names ([[variants]], --shapes).
  struct Shape {
    std::string name;  // "ROWS=1023"
    std::optional<import::ImportedTask> imported;
    std::string why;  // it is not: its calls go to the module's own forward
  };
  // The task with symbols in place of sizes in which its shapes differ.
  struct Symbolic {
    import::TracedModule module;
    import::CandidateName name;
  };
  import::ImportedTask imported;
  std::vector<import::TracedModule::Kept> kept;  // submodules that stay one call
  std::vector<Shape> shapes;                     // behind the task's own, as the task names them
  std::optional<Symbolic> symbolic;
  std::string why_not_symbolic;  // "": there is no further shape
  // Python: is a call of the one shape that its text holds for, sizes with names or not? "": it
  // holds for all (import::IsOfOneShape).
  std::string one_shape;
};
// Why a candidate leaves a further shape to the module's own forward, for each that it does:
// "ROWS=1023: …".
std::vector<std::string> ShapesWithout(const ExpertTask& task, const teacher::Candidate& candidate);

class Expert {
 public:
  // `synth_folder`: the installation's synth/.
  static Result<Expert> Load(const std::filesystem::path& synth_folder);

  // kNamed: sizes of the task's own shape have names, as replies of models do
  // (import/named_sizes.h).
  enum class OwnSizes { kNumbers, kNamed };
  // kInvalidArgument: the module cannot be traced at its own shape; one line with the place.
  Result<ExpertTask> Import(const nlohmann::json& traced, const task::Task& task,
                            OwnSizes sizes = OwnSizes::kNumbers) const;

  // The ways to write the task's kernels in `language`, the one that promises most first; at most
  // `most`, no text twice. Empty where no kernel of one's own comes of it; `why`, if not null, then
  // says why.
  std::vector<Variant> Variants(const ExpertTask& task, Language language, size_t most,
                                std::string* why = nullptr) const;
  // `variant` once more without some rules; nothing: no kernel of one's own is left.
  std::optional<Variant> Without(const ExpertTask& task, const Variant& variant,
                                 const std::set<std::string>& rules) const;
  // The task's forward as straight-line PyTorch, one call a line (teacher/semantics/steps.h), and
  // as code. Sizes have letters, but for tasks with one that no tensor shows. Errors as Import().
  Result<teacher::Steps> StepsOf(const nlohmann::json& traced, const task::Task& task) const;
  // How the rules divide these steps into kernels of Triton (agent::TaskBrief::plan); "" where they
  // write none.
  std::string PlanOf(const nlohmann::json& traced, const task::Task& task,
                     const teacher::Steps& steps) const;
  // Rules whose gain depends on sizes and machine, in the order in which leaving one out is worth a
  // measurement.
  static std::vector<std::string> CostlyRules();

 private:
  explicit Expert(teacher::Teacher teacher) : teacher_(std::move(teacher)) {}
  // The candidate has kernels for each shape.
  Result<teacher::Candidate> Write(const ExpertTask& task, teacher::Language language,
                                   const teacher::RuleSet& rules,
                                   const teacher::LaunchSettings& launch, Sizes sizes) const;
  // The task with symbols where the rules write one text.
  struct Bounded {
    import::ImportedTask imported;  // whose guard has these bounds
    std::vector<int64_t> least, most;
    std::set<size_t> serves;  // further shapes within
  };
  // Nothing: no kernel of one's own comes of it.
  std::optional<Bounded> Bound(const ExpertTask::Symbolic& symbolic, teacher::Language language,
                               const teacher::RuleSet& rules,
                               const teacher::LaunchSettings& launch) const;
  teacher::Teacher teacher_;
};

// The teacher's name of a language that it writes; nothing: another one.
std::optional<teacher::Language> TeacherLanguage(Language language);

}  // namespace davinci::expert
