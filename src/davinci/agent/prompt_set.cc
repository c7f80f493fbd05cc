#include "davinci/agent/prompt_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/suggest.h"

namespace davinci::agent {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxPromptBytes = 256 << 10;

// What the code hands to each prompt. The one list of variables: files must agree with it.
const std::map<std::string, std::vector<std::string>, std::less<>>& Contracts() {
  static const auto* contracts = new std::map<std::string, std::vector<std::string>, std::less<>>{
      {"selection_system", {"max_skills"}},
      {"selection_task", {"language", "device", "reference", "sizes", "candidates", "max_skills"}},
      {"policy_system",
       {"language", "contract", "device", "entry", "function", "class_name", "precision", "delta"}},
      {"policy_task",
       {"language", "example_reference", "example_candidate", "skills", "reference", "steps",
        "plan", "sizes", "other_shapes", "class_name", "delta"}},
      {"kevin_task",
       {"language", "example_reference", "example_candidate", "skills", "reference", "sizes",
        "other_shapes", "class_name"}},
      {"kevin_verdict",
       {"turn", "num_turns", "correct", "outcome", "message", "timing", "class_name"}},
      {"evolve_task",
       {"language", "example_reference", "example_candidate", "skills", "reference", "sizes",
        "other_shapes", "best", "solutions", "insights", "mutation", "crossover", "class_name"}},
      {"user_notes", {"hints", "start", "start_measurement", "floor", "class_name"}},
      {"contract_triton", {"class_name"}},
      {"delta_triton", {"class_name", "base"}},
      {"contract_cuda", {"class_name"}},
      {"contract_cuda-inline", {"class_name"}},
      {"contract_cpp", {"class_name"}},
      {"feedback",
       {"turn", "num_turns", "correct", "outcome", "message", "timing", "kernels", "coverage",
        "roofline", "labels", "best", "class_name", "delta", "left_out"}},
      {"no_code", {"turn", "num_turns", "problem", "best", "class_name", "delta"}},
      {"device_cuda",
       {"name", "compute_capability", "num_sms", "memory", "l2", "shared", "bandwidth", "fp32"}},
      {"device_cpu", {"name", "num_cores", "isa", "l1", "l2", "l3", "memory"}},
      {"summary_system", {"max_skills", "language"}},
      {"summary_task",
       {"language", "device", "reference", "sizes", "skills", "existing", "first_turn",
        "first_measurement", "first_code", "best_turn", "best_measurement", "best_code", "gain",
        "max_skills"}},
  };
  return *contracts;
}

const std::vector<Language>& WrittenLanguages() {
  static const auto* languages = new std::vector<Language>{Language::kTriton, Language::kCuda,
                                                           Language::kCudaInline, Language::kCpp};
  return *languages;
}

constexpr char kExampleReference[] = "example/reference.py";
constexpr char kDeltaExample[] = "example/delta-triton.py";

std::string ExampleFile(Language language) {
  return fmt::format("example/{}.py", LanguageName(language));
}

std::vector<std::string> KnownFiles() {
  std::vector<std::string> files;
  for (const auto& [name, variables] : Contracts()) files.push_back(name + ".md");
  files.emplace_back(kExampleReference);
  files.emplace_back(kDeltaExample);
  for (const Language language : WrittenLanguages()) files.push_back(ExampleFile(language));
  return files;
}

void CheckNames(const fs::path& folder, const std::vector<std::string>& known,
                std::vector<std::string>* problems) {
  auto found = ListFiles(folder, "", true);
  if (!found.ok()) {
    problems->push_back(found.status().message());
    return;
  }
  for (const fs::path& file : *found) {
    const std::string name = fs::relative(file, folder).generic_string();
    if (name == "README.md" || std::ranges::find(known, name) != known.end()) continue;
    problems->push_back(
        fmt::format("{}: no prompt has this name{}", file.string(), DidYouMean(name, known)));
  }
}

}  // namespace

Result<PromptSet> PromptSet::Load(const fs::path& installed_folder,
                                  const fs::path& override_folder) {
  PromptSet set;
  std::vector<std::string> problems;
  const std::vector<std::string> known = KnownFiles();
  if (!override_folder.empty()) CheckNames(override_folder, known, &problems);

  Sha256 hash;
  const auto read =
      [&](const std::string& name) -> std::optional<std::pair<fs::path, std::string>> {
    fs::path file = installed_folder / name;
    std::error_code error;
    if (!override_folder.empty() && fs::exists(override_folder / name, error))
      file = override_folder / name;
    auto text = ReadFile(file, kMaxPromptBytes);
    if (!text.ok()) {
      problems.push_back(text.status().message());
      return std::nullopt;
    }
    hash.Field(name).Field(*text);
    return std::pair{file, std::move(*text)};
  };
  for (const auto& [name, variables] : Contracts()) {
    const auto file = read(name + ".md");
    if (!file) continue;
    auto parsed = PromptTemplate::Parse(file->second, file->first.string());
    const Status status = parsed.ok() ? parsed->CheckDeclares(variables) : parsed.status();
    if (status.ok()) {
      set.templates_.emplace(name, std::move(*parsed));
    } else {
      problems.push_back(status.message());
    }
  }
  const auto reference = read(kExampleReference);
  for (const Language language : WrittenLanguages()) {
    const auto candidate = read(ExampleFile(language));
    if (reference && candidate)
      set.examples_[{language, ReplyForm::kFile}] = {reference->second, candidate->second};
  }
  const auto delta = read(kDeltaExample);
  if (reference && delta)
    set.examples_[{Language::kTriton, ReplyForm::kDelta}] = {reference->second, delta->second};
  const fs::path prelude =
      installed_folder.lexically_normal().parent_path() / "python/davinci_runtime/prelude.py";
  std::error_code error;
  if (fs::exists(prelude, error)) {
    DAVINCI_ASSIGN_OR_RETURN(set.prelude_, Prelude::Load(prelude));
    hash.Field("prelude").Field(set.prelude_->hash());
  }
  if (!problems.empty())
    return InvalidArgument(fmt::format("prompts: {}", fmt::join(problems, "\n")));
  set.hash_ = hash.FinishHex();
  return set;
}

Result<std::string> PromptSet::Render(std::string_view name, const PromptValues& values) const {
  const auto found = templates_.find(name);
  if (found == templates_.end()) return Internal(fmt::format("there is no prompt {}", name));
  return found->second.Render(values);
}

const WorkedExample* PromptSet::Example(Language language, ReplyForm reply) const {
  const auto found = examples_.find({language, reply});
  return found == examples_.end() ? nullptr : &found->second;
}

}  // namespace davinci::agent
