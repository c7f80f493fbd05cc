#include "davinci/judge/roles/shared_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/data/language.h"
#include "davinci/score/python_words.h"

namespace davinci::judge {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kImports = {"torch"sv,  "torch.nn"sv,        "torch.nn.functional"sv,
                                 "triton"sv, "triton.language"sv, "davinci_runtime"sv,
                                 "math"sv,   "typing"sv,          "__future__"sv};
constexpr std::array kOfTriton = {"jit"sv,        "cdiv"sv,   "next_power_of_2"sv, "autotune"sv,
                                  "heuristics"sv, "Config"sv, "language"sv};
constexpr std::array kOfCuda = {"get_device_properties"sv, "get_device_capability"sv,
                                "current_device"sv, "is_available"sv};
constexpr std::array kDunders = {"__init__"sv, "__name__"sv, "__future__"sv};
// Parts of dotted names by which Python, or torch, reaches beyond a module's own objects.
constexpr std::array kFar = {"exec"sv,
                             "eval"sv,
                             "compile"sv,
                             "open"sv,
                             "getattr"sv,
                             "setattr"sv,
                             "delattr"sv,
                             "globals"sv,
                             "locals"sv,
                             "vars"sv,
                             "dir"sv,
                             "breakpoint"sv,
                             "memoryview"sv,
                             "os"sv,
                             "sys"sv,
                             "ctypes"sv,
                             "gc"sv,
                             "inspect"sv,
                             "builtins"sv,
                             "importlib"sv,
                             "threading"sv,
                             "subprocess"sv,
                             "signal"sv,
                             "types"sv,
                             "pickle"sv,
                             "atexit"sv,
                             "weakref"sv,
                             "mmap"sv,
                             "warnings"sv,
                             "backends"sv,
                             "library"sv,
                             "ops"sv,
                             "overrides"sv,
                             "utils"sv,
                             "multiprocessing"sv,
                             "jit_utils"sv,
                             "storage"sv,
                             "untyped_storage"sv,
                             "set_"sv,
                             "data_ptr"sv,
                             "driver"sv,
                             "as_strided_"sv,
                             "frombuffer"sv,
                             "from_file"sv,
                             "from_blob"sv,
                             "hub"sv,
                             "classes"sv,
                             "cpp_extension"sv,
                             "load_inline"sv,
                             "cpp_module"sv,
                             "nonlocal"sv,
                             "f_back"sv,
                             "manual_seed"sv,
                             "share_memory_"sv};
constexpr std::array kFarOfTorch = {"load"sv, "save"sv, "seed"sv};
constexpr std::array kFarBeginnings = {
    "register_forward"sv, "register_full"sv, "register_module"sv, "register_backward"sv,
    "register_state"sv,   "register_load"sv, "set_default"sv,     "set_num"sv,
    "set_grad"sv,         "set_float"sv,     "use_determin"sv,    "inline_asm"sv};

bool Holds(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

std::vector<std::string_view> Parts(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(between);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsPlain(std::string_view word) {
  const std::vector<std::string_view> parts = Parts(word, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::string_view before = i > 0 ? parts[i - 1] : std::string_view();
    if (Holds(kFar, part)) return false;
    for (const std::string_view beginning : kFarBeginnings)
      if (part.starts_with(beginning)) return false;
    if (part.starts_with("__") && !Holds(kDunders, part)) return false;
    if (i > 0 && part.starts_with('_') && !part.starts_with("__") && parts[0] != "self")
      return false;
    if (before == "triton" && !Holds(kOfTriton, part)) return false;
    if (before == "cuda" && !Holds(kOfCuda, part)) return false;
    if (before == "torch" && Holds(kFarOfTorch, part)) return false;
  }
  return true;
}

// Does a quote follow letters that make its literal a formatted one? Such a literal may hold code.
bool HoldsFormattedLiteral(std::string_view text) {
  for (size_t quote = 0; (quote = text.find_first_of("'\"", quote)) != std::string_view::npos;
       ++quote) {
    size_t begin = quote;
    while (begin > 0 && std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    const std::string_view letters = text.substr(begin, quote - begin);
    if (letters.find_first_of("fFtT") != std::string_view::npos &&
        letters.find_first_not_of("fFtTrR") == std::string_view::npos)
      return true;
  }
  return false;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// "import a.b as c, d" or "from a.b import …"; false where another module is named.
bool ImportsWhatIsKnown(std::string_view line) {
  if (line.starts_with("from ")) {
    const size_t import = line.find(" import ");
    if (import == std::string_view::npos) return false;
    const std::string_view from = Trimmed(line.substr(5, import - 5));
    const std::vector<std::string_view> names = Parts(line.substr(import + 8), ',');
    return Holds(kImports, from) &&
           (from != "triton" || std::ranges::all_of(names, [](std::string_view name) {
              name = Trimmed(name);
              return Holds(kOfTriton, name.substr(0, name.find(' ')));
            }));
  }
  const std::vector<std::string_view> modules = Parts(line.substr(7), ',');
  return std::ranges::all_of(modules, [](std::string_view module) {
    module = Trimmed(module);
    return Holds(kImports, module.substr(0, module.find(' ')));
  });
}

// Position of the first sign that assigns in a line.
size_t FirstAssignment(std::string_view line) {
  for (size_t at = 0; (at = line.find('=', at)) != std::string_view::npos; ++at) {
    if (line.substr(at).starts_with("==")) {
      ++at;
      continue;
    }
    if (at == 0 || std::string_view("<>!:").find(line[at - 1]) == std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// Does the line assign to an attribute of anything but self?
bool AssignsElsewhere(std::string_view line) {
  const size_t equals = FirstAssignment(line);
  if (equals == std::string_view::npos) return false;
  std::string_view target = line.substr(0, equals);
  if (target.find('(') != std::string_view::npos) return false;  // a keyword of a call
  target = target.substr(0, target.find(':'));                   // without an annotation
  for (const std::string_view one : Parts(target, ','))
    if (one.find('.') != std::string_view::npos && !Trimmed(one).starts_with("self.")) return true;
  return false;
}

// Removes `part` wherever it begins a line. What is left of a definition that was continued is a
// line of the text.
void Remove(std::string_view part, std::string* text) {
  for (size_t at = 0; (at = text->find(part, at)) != std::string::npos;)
    if (at == 0 || (*text)[at - 1] == '\n')
      text->erase(at, part.size());
    else
      ++at;
}

void RemovePrelude(const Prelude& prelude, std::string* text) {
  for (const auto* pieces : {&prelude.definitions(), &prelude.imports()})
    for (const Prelude::Piece& piece : *pieces) Remove(score::WithoutComments(piece.text), text);
}

}  // namespace

const Prelude* InstalledPrelude(const std::string& python_path) {
  static Mutex mutex;
  static std::map<std::string, Result<Prelude>> known;
  const MutexLock lock(mutex);
  const auto [found, is_new] = known.try_emplace(python_path, NotFound("the prelude"));
  if (is_new)
    found->second =
        Prelude::Load(std::filesystem::path(python_path) / "davinci_runtime/prelude.py");
  return found->second.ok() ? &*found->second : nullptr;
}

bool MayShareProcess(std::string_view text, const Prelude* prelude) {
  const Language language = DetectLanguage(text);
  if (language != Language::kTriton && language != Language::kCuda) return false;
  std::string plain = score::WithoutComments(text);
  if (prelude != nullptr) RemovePrelude(*prelude, &plain);
  long imports = 0;
  for (const std::string_view whole : Parts(plain, '\n')) {
    const std::string_view line = Trimmed(whole);
    if (AssignsElsewhere(line)) return false;
    if (!line.starts_with("import ") && !line.starts_with("from ")) continue;
    if (!ImportsWhatIsKnown(line)) return false;
    ++imports;
  }
  if (HoldsFormattedLiteral(plain)) return false;
  const std::vector<std::string> words = score::PythonWords(plain);
  return std::ranges::count(words, "import") == imports &&
         std::ranges::all_of(words, [](const std::string& word) { return IsPlain(word); });
}

std::string WhyJudgedAlone(const Evaluation& evaluation) {
  const auto process = evaluation.provenance.find("process");
  if (process == evaluation.provenance.end() || process->value("served", 0) == 0) return {};
  if (!process->value("clean", true)) return "its process is not what it was";
  switch (evaluation.outcome) {
    case Outcome::kOk:
    case Outcome::kCompileOnly:
      break;
    // A text that cannot be loaded and a wrong answer are the candidate's own, as far as the
    // process is what it was.
    case Outcome::kParseError:
    case Outcome::kCompileError:
    case Outcome::kLoadError:
    case Outcome::kMismatch:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
      return {};
    default:
      return std::string(OutcomeName(evaluation.outcome));
  }
  if (evaluation.speedup && evaluation.speedup->median >= kSuspiciousSpeedup)
    return fmt::format("{:.3g} times as fast", evaluation.speedup->median);
  return {};
}

}  // namespace davinci::judge
