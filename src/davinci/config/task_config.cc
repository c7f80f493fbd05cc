#include "davinci/config/task_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"

namespace davinci::config {
namespace {

constexpr uint64_t kLargestSidecar_bytes = 1 << 20;
constexpr double kLargestToleranceMultiple = 1e6;

constexpr std::array<std::pair<std::string_view, Precision>, 5> kPrecisions = {{
    {"fp32", Precision::kFp32},
    {"tf32", Precision::kTf32},
    {"fp16", Precision::kFp16},
    {"bf16", Precision::kBf16},
    {"fp64", Precision::kFp64},
}};

const std::vector<std::string> kKeys = {
    "title", "entry", "function", "op",     "precision", "mode", "inplace", "tolerance_multiple",
    "tags",  "sizes", "variants", "inputs", "origin",    "split"};
const std::vector<std::string> kTargets = {"cpu", "cuda"};
const std::vector<std::string> kPrecisionNames = {"fp32", "tf32", "fp16", "bf16", "fp64"};
const std::vector<std::string> kModes = {"train", "eval"};
// Entries of an input's specification that a sidecar may override, and their words
// (python/davinci_worker/specification.py).
const std::map<std::string, std::vector<std::string>> kInputWords = {
    {"varies", {"drawn", "never", "fixed"}},
    {"values", {"free", "kept", "constant", "mask", "system", "lengths", "groups", "begins"}},
    {"sums", {"none", "one", "unit"}},
    {"order", {"none", "ascending", "descending"}},
    {"zeros", {"free", "kept"}},
    {"symmetry", {"none", "kept"}},
    {"sign", {"any", "positive", "negative"}},
    {"fractions", {"none", "taken"}},
};

constexpr std::array<std::string_view, 35> kPythonKeywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool IsIdentifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  if (!std::all_of(name.begin(), name.end(),
                   [&](char c) { return letter(c) || (c >= '0' && c <= '9'); })) {
    return false;
  }
  return std::find(kPythonKeywords.begin(), kPythonKeywords.end(), name) == kPythonKeywords.end();
}

bool IsDottedName(std::string_view name) {
  while (true) {
    const size_t dot = name.find('.');
    if (!IsIdentifier(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

// As the inputs of a task are numbered.
bool IsInputNumber(std::string_view text) {
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() < 5 && (text == "0" || text[0] != '0');
}

// Values that mean the same in TOML, JSON and Python.
bool IsGlobalValue(const Json& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), IsGlobalValue);
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return value.is_number() || value.is_boolean() || value.is_string();
}

class Parser {
 public:
  explicit Parser(const TomlTree& tree) : tree_(tree) {}

  Result<TaskConfig> Run() {
    for (const auto& [key, value] : tree_.values.items()) {
      if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
      // The usual mistake: a size written above the first table.
      const bool is_size = IsIdentifier(key) && std::none_of(key.begin(), key.end(), [](char c) {
                             return c >= 'a' && c <= 'z';
                           });
      Add(PointerStep(key),
          fmt::format("unknown key \"{}\"{}", key,
                      is_size ? "; a module global belongs under [sizes.cpu] or [sizes.cuda]"
                              : DidYouMean(key, kKeys)));
    }
    Text("title", &config_.title);
    Text("origin", &config_.origin);
    Text("split", &config_.split);
    EntryPoint();
    Choice("precision", kPrecisionNames,
           [&](const std::string& name) { config_.precision = *ParsePrecision(name); });
    Choice("mode", kModes, [&](const std::string& name) {
      config_.mode = name == "train" ? ModuleMode::kTrain : ModuleMode::kEval;
    });
    Inplace();
    ToleranceMultiple();
    Tags();
    Sizes();
    Variants();
    Inputs();
    if (!problems_.empty()) return InvalidArgument(fmt::format("{}", fmt::join(problems_, "\n")));
    return std::move(config_);
  }

 private:
  void Add(std::string_view pointer, std::string_view what) {
    problems_.push_back(fmt::format("{}: {}", tree_.Locate(pointer).ToString(), what));
  }
  void WrongType(std::string_view pointer, std::string_view key, std::string_view wanted,
                 const Json& found) {
    Add(pointer, fmt::format("{} must be {}, not {} ({})", key, wanted, TypeName(found),
                             TomlLiteral(found)));
  }
  const Json* Find(const char* key) const {
    auto found = tree_.values.find(key);
    return found == tree_.values.end() ? nullptr : &*found;
  }

  bool Text(const char* key, std::string* out) {
    const Json* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_string()) {
      WrongType(PointerStep(key), key, "text in quotes", *value);
      return false;
    }
    *out = value->get<std::string>();
    return true;
  }

  void EntryPoint() {
    if (Text("entry", &config_.entry) && !IsIdentifier(config_.entry)) {
      Add("/entry",
          fmt::format("entry must be the name of a class, not {}", TomlLiteral(config_.entry)));
    }
    if (Text("function", &config_.function) && !IsIdentifier(config_.function)) {
      Add("/function",
          fmt::format("function must be the name of a function of the task's module, not {}{}",
                      TomlLiteral(config_.function),
                      IsDottedName(config_.function) ? "; for a path such as this use op" : ""));
    }
    if (Text("op", &config_.op) &&
        !(IsDottedName(config_.op) && config_.op.find('.') != std::string::npos)) {
      Add("/op",
          fmt::format("op must be the path of a function (\"torch.nn.functional.gelu\"), not {}",
                      TomlLiteral(config_.op)));
    }
    const int given =
        (Find("entry") != nullptr) + (Find("function") != nullptr) + (Find("op") != nullptr);
    if (given > 1) {
      Add(Find("op") != nullptr ? "/op" : "/function",
          "entry, function and op exclude each other; keep one of them");
    }
    if (Find("function") != nullptr || Find("op") != nullptr) config_.entry.clear();
  }

  template <typename Set>
  void Choice(const char* key, const std::vector<std::string>& choices, Set set) {
    std::string name;
    if (!Text(key, &name)) return;
    if (std::find(choices.begin(), choices.end(), name) == choices.end()) {
      Add(PointerStep(key), fmt::format("{} {} is not one of {}{}", key, TomlLiteral(name),
                                        fmt::join(choices, ", "), DidYouMean(name, choices)));
      return;
    }
    set(name);
  }

  void Inplace() {
    const Json* value = Find("inplace");
    if (value == nullptr) return;
    if (!value->is_boolean()) return WrongType("/inplace", "inplace", "true or false", *value);
    config_.inplace = value->get<bool>();
  }

  void ToleranceMultiple() {
    const Json* value = Find("tolerance_multiple");
    if (value == nullptr) return;
    if (!value->is_number())
      return WrongType("/tolerance_multiple", "tolerance_multiple", "a number", *value);
    const double multiple = value->get<double>();
    // Written so that nan fails.
    if (!(multiple > 0 && multiple <= kLargestToleranceMultiple)) {
      return Add("/tolerance_multiple",
                 fmt::format("tolerance_multiple must be above 0 and at most {:g}, not {}",
                             kLargestToleranceMultiple, TomlLiteral(*value)));
    }
    config_.tolerance_multiple = multiple;
  }

  void Tags() {
    const Json* value = Find("tags");
    if (value == nullptr) return;
    const auto is_tag = [](const Json& tag) {
      return tag.is_string() && !tag.get<std::string>().empty();
    };
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_tag)) {
      return WrongType("/tags", "tags", "a list of texts", *value);
    }
    config_.tags = value->get<std::vector<std::string>>();
  }

  // `globals` as it will be set in the task's module, or an empty object when something is wrong
  // with it.
  Json Globals(const Json& globals, const std::string& pointer, std::string_view name) {
    if (!globals.is_object()) {
      WrongType(pointer, name, "a table of module globals", globals);
      return Json::object();
    }
    for (const auto& [key, value] : globals.items()) {
      const std::string child = pointer + PointerStep(key);
      // __name__ and the like steer the module, they are no sizes.
      if (!IsIdentifier(key) || key.starts_with("__")) {
        Add(child, fmt::format("{} is not a name that a module global can have", TomlLiteral(key)));
      } else if (!IsGlobalValue(value)) {
        WrongType(child, key, "a finite number, true or false, text, or a list of these", value);
      }
    }
    return globals;
  }

  void Sizes() {
    const Json* sizes = Find("sizes");
    if (sizes == nullptr) return;
    if (!sizes->is_object())
      return WrongType("/sizes", "sizes", "a table ([sizes.cpu], [sizes.cuda])", *sizes);
    for (const auto& [target, globals] : sizes->items()) {
      const std::string pointer = "/sizes" + PointerStep(target);
      if (target == "cpu") {
        config_.sizes_cpu = Globals(globals, pointer, "sizes.cpu");
      } else if (target == "cuda") {
        config_.sizes_cuda = Globals(globals, pointer, "sizes.cuda");
      } else {
        Add(pointer, fmt::format("sizes.{} is not a target; the targets are cpu and cuda{}", target,
                                 DidYouMean(target, kTargets)));
      }
    }
  }

  void Variants() {
    const Json* variants = Find("variants");
    if (variants == nullptr) return;
    if (!variants->is_array())
      return WrongType("/variants", "variants", "tables written [[variants]]", *variants);
    for (size_t i = 0; i < variants->size(); ++i) {
      const std::string pointer = fmt::format("/variants/{}", i);
      const Json& variant = (*variants)[i];
      if (variant.is_object() && variant.empty()) {
        Add(pointer, "this variant is empty; set at least one module global in it");
        continue;
      }
      config_.variants.push_back(Globals(variant, pointer, "a variant"));
    }
  }

  void Inputs() {
    const Json* inputs = Find("inputs");
    if (inputs == nullptr) return;
    if (!inputs->is_object()) return WrongType("/inputs", "inputs", "tables ([inputs.0])", *inputs);
    for (const auto& [number, entries] : inputs->items()) {
      const std::string pointer = "/inputs" + PointerStep(number);
      const std::string name = "inputs." + number;
      if (!IsInputNumber(number)) {
        Add(pointer,
            fmt::format("{} is not the number of an input; the tensors of get_inputs() are "
                        "numbered from 0, as davinci judge --admit lists them",
                        name));
      } else if (!entries.is_object()) {
        WrongType(pointer, name, "a table of entries", entries);
      } else {
        for (const auto& [entry, word] : entries.items())
          InputEntry(pointer + PointerStep(entry), name, entry, word);
        config_.inputs[number] = entries;
      }
    }
  }

  void InputEntry(const std::string& pointer, const std::string& input, const std::string& entry,
                  const Json& word) {
    const auto known = kInputWords.find(entry);
    if (known == kInputWords.end()) {
      std::vector<std::string> names;
      for (const auto& [name, words] : kInputWords) names.push_back(name);
      return Add(pointer, fmt::format("{} has no entry {}; it may have {}{}", input, entry,
                                      fmt::join(names, ", "), DidYouMean(entry, names)));
    }
    const std::vector<std::string>& words = known->second;
    if (!word.is_string()) return WrongType(pointer, input + "." + entry, "a word", word);
    if (std::find(words.begin(), words.end(), word.get<std::string>()) == words.end())
      Add(pointer, fmt::format("{}.{} {} is not one of {}{}", input, entry, TomlLiteral(word),
                               fmt::join(words, ", "), DidYouMean(word.get<std::string>(), words)));
  }

  const TomlTree& tree_;
  TaskConfig config_;
  std::vector<std::string> problems_;
};

}  // namespace

std::string_view PrecisionName(Precision precision) {
  for (const auto& [name, value] : kPrecisions) {
    if (value == precision) return name;
  }
  return "unknown";
}

std::optional<Precision> ParsePrecision(std::string_view name) {
  for (const auto& [known, value] : kPrecisions) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string_view ModuleModeName(ModuleMode mode) {
  switch (mode) {
    case ModuleMode::kAsConstructed:
      return "as-constructed";
    case ModuleMode::kTrain:
      return "train";
    case ModuleMode::kEval:
      return "eval";
  }
  return "unknown";
}

Json TaskConfig::Globals(std::string_view target, std::optional<size_t> variant) const {
  Json globals = target == "cuda" ? sizes_cuda : sizes_cpu;
  if (variant && *variant < variants.size()) globals.update(variants[*variant]);
  return globals;
}

std::string TaskConfig::CandidateEntry() const {
  if (!function.empty()) return function + "_new";
  if (!op.empty()) return op.substr(op.rfind('.') + 1) + "_new";
  return entry + "New";
}

std::string TaskConfig::CandidateClass() const {
  return function.empty() && op.empty() ? entry + "New" : "ModelNew";
}

Result<TaskConfig> ParseTaskConfig(std::string_view text, std::string_view source) {
  DAVINCI_ASSIGN_OR_RETURN(TomlTree tree, ParseToml(text, source));
  return Parser(tree).Run();
}

Result<TaskConfig> LoadTaskConfig(const std::filesystem::path& task_file) {
  std::filesystem::path sidecar = task_file;
  sidecar.replace_extension(".toml");
  Result<std::string> text = ReadFile(sidecar, kLargestSidecar_bytes);
  if (!text.ok()) {
    if (text.status().code() == StatusCode::kNotFound) return TaskConfig{};
    return text.status();
  }
  return ParseTaskConfig(*text, sidecar.string());
}

}  // namespace davinci::config
