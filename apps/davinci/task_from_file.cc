#include "task_from_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"
#include "davinci/config/toml_tree.h"
#include "davinci/runs/task_inputs.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxSourceBytes = 4u << 20;
constexpr uint64_t kMaxSidecarBytes = 1u << 20;

bool InName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "net.py:Net" -> {"net.py", "Net"}; a path without a name as it is.
std::pair<std::string, std::string> Split(const std::string& path) {
  const size_t colon = path.rfind(".py:");
  if (colon == std::string::npos) return {path, ""};
  return {path.substr(0, colon + 3), path.substr(colon + 4)};
}

// Names of the top-level classes or functions of a source.
std::vector<std::string> Defined(std::string_view source, std::string_view keyword) {
  std::vector<std::string> names;
  while (!source.empty()) {
    const size_t newline = source.find('\n');
    std::string_view line = source.substr(0, newline);
    source.remove_prefix(newline == std::string_view::npos ? source.size() : newline + 1);
    if (!line.starts_with(keyword)) continue;
    line.remove_prefix(keyword.size());
    size_t end = 0;
    while (end < line.size() && InName(line[end])) ++end;
    if (end > 0) names.emplace_back(line.substr(0, end));
  }
  return names;
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Past the Python string that begins at `at` with its quote.
size_t AfterString(std::string_view text, size_t at) {
  const std::string_view thrice = text.substr(at, 3);
  const bool is_long = thrice == "\"\"\"" || thrice == "'''";
  const std::string_view quote = is_long ? thrice : text.substr(at, 1);
  for (at += quote.size(); at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at, quote.size()) == quote) {
      return at + quote.size();
    }
  }
  return text.size();
}

// Python's arguments of a call, one by one: what lies between the commas outside of all brackets.
std::vector<std::string_view> EachArgument(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = AfterString(text, at);
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
    ++at;
  }
  parts.push_back(text.substr(begin));
  std::erase_if(parts, [](std::string_view part) {
    return part.find_first_not_of(" \t\n") == std::string_view::npos;
  });
  return parts;
}

// "name=value", or "**names".
bool IsKeyword(std::string_view argument) {
  argument.remove_prefix(std::min(argument.find_first_not_of(" \t\n"), argument.size()));
  if (argument.starts_with("**")) return true;
  size_t end = 0;
  while (end < argument.size() && InName(argument[end])) ++end;
  const size_t next = argument.find_first_not_of(" \t", end);
  return end > 0 && next != std::string_view::npos && argument[next] == '=' &&
         next + 1 < argument.size() && argument[next + 1] != '=';
}

// Python's arguments of a call as what get_inputs() and get_init_inputs() return: [a, b],
// dict(a=…, b=…), or [[a], {"b": …}].
std::string AsValue(std::string_view arguments) {
  const std::vector<std::string_view> each = EachArgument(arguments);
  const auto keywords = std::count_if(each.begin(), each.end(), IsKeyword);
  if (keywords == 0) return fmt::format("[{}]", each.empty() ? "" : arguments);
  if (keywords == std::ssize(each)) return fmt::format("dict({})", arguments);
  return fmt::format("(lambda *args, **kwargs: [args, kwargs])({})", arguments);
}

std::string Defining(std::string_view function, std::string_view arguments) {
  return fmt::format("\n\ndef {}():\n    import torch\n    return {}\n", function,
                     AsValue(arguments));
}

// get_inputs() of several shapes, which a global selects; `sidecar` gets the lines that name them.
std::string DefiningShapes(const std::vector<std::string>& inputs, std::string_view source,
                           std::string* sidecar) {
  std::string shape = "SHAPE";
  while (source.find(shape) != std::string_view::npos) shape += '_';
  std::string text = fmt::format("\n\n{} = 0\n\n\ndef get_inputs():\n    import torch\n", shape);
  for (size_t i = 1; i < inputs.size(); ++i) {
    text += fmt::format("    if {} == {}:\n        return {}\n", shape, i, AsValue(inputs[i]));
    *sidecar += fmt::format("[[variants]]\n{} = {}\n", shape, i);
  }
  return text + fmt::format("    return {}\n", AsValue(inputs[0]));
}

// The sidecar's lines but for those that set one of `keys` at the top.
std::string Without(std::string_view sidecar, const std::vector<std::string>& keys) {
  std::string kept;
  bool top = true;
  while (!sidecar.empty()) {
    const size_t newline = sidecar.find('\n');
    const std::string_view line = sidecar.substr(0, newline);
    sidecar.remove_prefix(newline == std::string_view::npos ? sidecar.size() : newline + 1);
    top = top && !line.starts_with('[');
    size_t end = 0;
    while (end < line.size() && InName(line[end])) ++end;
    if (top && Contains(keys, std::string(line.substr(0, end)))) continue;
    kept += line;
    kept += '\n';
  }
  return kept;
}

}  // namespace

void AddEntryFlags(CLI::App* command, EntryFlags* flags) {
  command->add_option("--entry", flags->entry,
                      "The class or function of FILE to work on (or name it as FILE.py:NAME)");
  command
      ->add_option("--inputs", flags->inputs,
                   "Arguments of forward as Python, where FILE has no get_inputs(): "
                   "'torch.randn(8, 1024)' or 'x=torch.randn(8, 1024), scale=2'; again for "
                   "each further shape that kernels serve")
      ->allow_extra_args(false);
  command->add_option("--init", flags->init,
                      "Arguments of the constructor as Python: '1024, bias=False'");
}

bool IsFromFile(const std::string& path, const EntryFlags& flags) {
  return flags.given() || !Split(path).second.empty();
}

Result<task::TaskEntry> TaskFromFile(const std::string& path, const EntryFlags& flags) {
  const auto [file, named] = Split(path);
  std::error_code error;
  if (fs::is_directory(file, error) || fs::path(file).extension() != ".py")
    return InvalidArgument(fmt::format(
        "{}: --entry, --inputs and --init go with one Python file, as in net.py:Net", file));
  DAVINCI_ASSIGN_OR_RETURN(std::string source, ReadFile(file, kMaxSourceBytes));
  std::string sidecar;
  const fs::path own_sidecar = fs::path(file).replace_extension(".toml");
  if (fs::exists(own_sidecar, error)) {
    DAVINCI_ASSIGN_OR_RETURN(sidecar, ReadFile(own_sidecar, kMaxSidecarBytes));
  }
  const std::string entry = flags.entry.empty() ? named : flags.entry;
  std::string head;
  if (!entry.empty()) {
    const auto classes = Defined(source, "class ");
    const auto functions = Defined(source, "def ");
    const bool is_class = Contains(classes, entry);
    if (!is_class && !Contains(functions, entry)) {
      std::vector<std::string> known = classes;
      known.insert(known.end(), functions.begin(), functions.end());
      return NotFound(fmt::format("{}: defines no class or function {}{}", file, entry,
                                  DidYouMean(entry, known)));
    }
    sidecar = Without(sidecar, {"entry", "function", "op"});
    head = fmt::format("{} = \"{}\"\n", is_class ? "entry" : "function", entry);
  }
  const bool has_inputs = Contains(Defined(source, "def "), "get_inputs");
  if (flags.inputs.empty() && !has_inputs)
    return InvalidArgument(fmt::format(
        "{}: no get_inputs(); say what {} is called with: --inputs 'torch.randn(8, 1024)'", file,
        entry.empty() ? "forward" : entry));
  if (!source.empty() && source.back() != '\n') source += '\n';
  std::string shapes;
  if (flags.inputs.size() == 1) source += Defining("get_inputs", flags.inputs[0]);
  if (flags.inputs.size() > 1) source += DefiningShapes(flags.inputs, source, &shapes);
  if (!flags.init.empty()) source += Defining("get_init_inputs", flags.init);
  const std::string absolute = fs::absolute(file, error).lexically_normal().string();
  sidecar = Without(sidecar, {"origin"});
  head += fmt::format("origin = {}\n", config::TomlLiteral(nlohmann::json(absolute)));
  task::TaskEntry task;
  task.id = fs::path(file).stem().string() + (entry.empty() ? "" : "-" + entry);
  task.source = std::move(source);
  if (!sidecar.empty() && sidecar.back() != '\n') sidecar += '\n';
  task.sidecar = head + sidecar + shapes;
  task.origin = absolute;
  return task;
}

Result<std::vector<task::TaskEntry>> TasksFrom(const std::vector<std::string>& paths,
                                               const EntryFlags& flags) {
  if (flags.given() && paths.size() > 1)
    return InvalidArgument(
        "--entry, --inputs and --init go with one file; name the classes of "
        "several as FILE.py:NAME");
  std::vector<std::string> plain;
  std::vector<task::TaskEntry> made;
  for (const std::string& path : paths) {
    if (!IsFromFile(path, flags)) {
      plain.push_back(path);
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(task::TaskEntry task, TaskFromFile(path, flags));
    made.push_back(std::move(task));
  }
  std::vector<task::TaskEntry> tasks;
  if (!plain.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(tasks, runs::LoadTasks(plain, {}));
  }
  for (task::TaskEntry& task : made) {
    for (const task::TaskEntry& other : tasks)
      if (other.id == task.id)
        return InvalidArgument(fmt::format("{} and {} are both called \"{}\"; rename one of them",
                                           other.origin, task.origin, task.id));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace davinci::app
