#include "davinci/agent/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace davinci::agent {
namespace {

using Tokens = std::vector<Token>;

// These functions make values out of places: their results are no places.
bool IsLoad(std::string_view name) {
  return IsOneOf(name, {"ld", "load", "with_bias", "dot_nt", "dot_nn"});
}

// Finds the parameters that stand, through other names, in places that a kernel stores to.
class Stores {
 public:
  Stores(const Kernel& kernel, const std::set<std::string>& functions) : functions_(functions) {
    for (const Parameter& parameter : kernel.parameters.list)
      from_[parameter.name] = loose_[parameter.name] = {parameter.name};
  }

  void Read(const LogicalLine& line, bool in_block) {
    for (size_t i = 0; i + 1 < line.tokens.size(); ++i) {
      if (line.tokens[i].kind != TokenKind::kName || line.tokens[i + 1].text != "(") continue;
      const size_t end = BehindBracket(line.tokens, i + 1);
      const std::string_view name = line.tokens[i].text;
      const std::string_view before = i > 0 ? line.tokens[i - 1].text : "";
      if (functions_.contains(std::string(name))) {
        Take(line.tokens, i + 2, end);
      } else if (name == "st" ||
                 (before == "." && (name == "store" || name.starts_with("atomic")))) {
        size_t comma = i + 2;  // behind the place
        while (comma < end && line.tokens[comma].text != ",")
          comma = IsOneOf(line.tokens[comma].text, {"(", "[", "{"})
                      ? BehindBracket(line.tokens, comma)
                      : comma + 1;
        Take(line.tokens, i + 2, std::min(comma, end));
      }
    }
    const NamesOfLine names = NamesOf(line);
    std::set<std::string> sources, loose;
    for (const std::string& name : names.reads) Insert(loose_, name, &loose);
    for (const std::string& name : Places(line.tokens, 0, line.tokens.size()))
      if (std::ranges::find(names.reads, name) != names.reads.end()) Insert(from_, name, &sources);
    for (const std::string& name : names.binds) {
      if (!in_block) from_[name].clear();
      from_[name].insert(sources.begin(), sources.end());
      loose_[name].insert(loose.begin(), loose.end());
    }
  }

  bool any = false;
  std::set<std::string> stored;

 private:
  using Sources = std::map<std::string, std::set<std::string>>;

  static void Insert(const Sources& from, const std::string& name, std::set<std::string>* into) {
    if (const auto found = from.find(name); found != from.end())
      into->insert(found->second.begin(), found->second.end());
  }

  // Names outside of loads.
  static std::vector<std::string> Places(const Tokens& tokens, size_t begin, size_t end) {
    std::vector<std::string> names;
    for (size_t i = begin; i < end; ++i) {
      if (tokens[i].kind != TokenKind::kName) continue;
      if (i + 1 < end && tokens[i + 1].text == "(" && IsLoad(tokens[i].text))
        i = BehindBracket(tokens, i + 1) - 1;
      else
        names.emplace_back(tokens[i].text);
    }
    return names;
  }

  void Take(const Tokens& tokens, size_t begin, size_t end) {
    for (const std::string& name : Places(tokens, begin, end)) Insert(from_, name, &stored);
    for (size_t i = begin; i < end; ++i)
      any = any || (loose_.contains(std::string(tokens[i].text)) &&
                    !loose_[std::string(tokens[i].text)].empty());
  }

  const std::set<std::string>& functions_;
  Sources from_;   // parameters that a name's place may be in
  Sources loose_;  // the same, also through what is loaded
};

void Complete(std::string_view text, const std::set<std::string>& functions, Kernel* kernel) {
  PythonLines read = LogicalLines(text);
  kernel->problem = std::move(read.problem);
  kernel->lines = std::move(read.lines);
  if (!kernel->problem.empty() || kernel->lines.empty()) return;
  kernel->parameters = ParametersOf(kernel->lines[0]);
  kernel->problem = kernel->parameters.problem;
  if (kernel->problem.empty()) kernel->problem = SyntaxProblem(kernel->lines);
  if (!kernel->problem.empty()) return;
  // Descriptors, blocks and assembly store in ways of their own.
  for (const std::string_view other : {"descriptor", "block_ptr", "inline_asm", "extern"})
    if (text.find(other) != std::string_view::npos) {
      kernel->stores = true;
      for (const Parameter& parameter : kernel->parameters.list)
        kernel->stored.insert(parameter.name);
      return;
    }
  Stores stores(*kernel, functions);
  for (size_t i = 1; i < kernel->lines.size(); ++i)
    stores.Read(kernel->lines[i], kernel->lines[i].indent > kernel->lines[1].indent);
  kernel->stores = stores.any;
  kernel->stored = std::move(stores.stored);
}

std::string NameBehindDef(std::string_view line) {
  size_t end = 4;
  while (end < line.size() && IsNamePart(line[end])) ++end;
  return std::string(line.substr(4, end - 4));
}

}  // namespace

std::vector<Kernel> KernelsOf(std::string_view code, const std::set<std::string>& functions) {
  std::vector<Kernel> kernels;
  size_t at = 0, comment = std::string_view::npos;
  const std::vector<std::string_view> lines = LinesOf(code);
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t begin = at;
    at += lines[i].size() + 1;
    if (lines[i].starts_with("#")) {
      comment = std::min(comment, begin);
      continue;
    }
    const bool starts =
        lines[i] == "@kernel" && i + 1 < lines.size() && lines[i + 1].starts_with("def ");
    if (!starts) {
      comment = std::string_view::npos;
      continue;
    }
    Kernel kernel;
    kernel.name = NameBehindDef(lines[i + 1]);
    kernel.begin = std::min(comment, begin);
    const size_t def = at;
    size_t text_end = at += lines[++i].size() + 1;
    while (i + 1 < lines.size()) {
      const std::string_view line = lines[i + 1];
      const bool blank = IndentOf(line) == line.size();
      if (!blank && line[0] != ' ' && line[0] != '\t' && line[0] != ')' && line[0] != ']') break;
      at += lines[++i].size() + 1;
      if (!blank) text_end = at;
    }
    kernel.end = std::min(at, code.size());
    Complete(code.substr(def, std::min(text_end, code.size()) - def), functions, &kernel);
    kernels.push_back(std::move(kernel));
    comment = std::string_view::npos;
  }
  return kernels;
}

std::string UndefinedIn(const Kernel& kernel, const std::set<std::string>& known) {
  std::set<std::string> defined;
  for (const Parameter& parameter : kernel.parameters.list) defined.insert(parameter.name);
  for (size_t i = 1; i < kernel.lines.size(); ++i) {
    const LogicalLine& line = kernel.lines[i];
    // Functions within a kernel have parameters of their own.
    if (IsOneOf(line.tokens[0].text, {"def", "class", "import", "from"})) return "";
    const NamesOfLine names = NamesOf(line);
    std::set<std::string> bound(names.binds.begin(), names.binds.end());
    const bool inline_body = IsOneOf(line.tokens[0].text, {"if", "for", "while", "else", "with"});
    for (const std::string& name : names.reads) {
      if (inline_body && bound.contains(name)) continue;
      if (!defined.contains(name) && !known.contains(name)) return name;
    }
    defined.merge(bound);
  }
  return "";
}

Launch LaunchOf(std::string_view text) {
  Launch launch;
  PythonLines read = LogicalLines(text);
  launch.problem = std::move(read.problem);
  if (launch.problem.empty()) launch.problem = SyntaxProblem(read.lines);
  if (!launch.problem.empty() || read.lines.size() != 1) return launch;
  launch.tokens = std::move(read.lines[0].tokens);
  const Tokens& tokens = launch.tokens;
  launch.kernel = tokens[0].text;
  size_t at = 1;
  launch.grid = at < tokens.size() && tokens[at].text == "[";
  if (launch.grid) at = BehindBracket(tokens, at);
  if (at >= tokens.size() || tokens[at].text != "(") return launch;
  const size_t end = BehindBracket(tokens, at);
  if (end != tokens.size()) return launch;
  launch.readable = true;
  for (size_t begin = at + 1; begin + 1 < end;) {
    size_t next = begin;
    while (next + 1 < end && tokens[next].text != ",")
      next = IsOneOf(tokens[next].text, {"(", "[", "{"}) ? BehindBracket(tokens, next) : next + 1;
    Argument argument{begin, next};
    argument.star = IsOneOf(tokens[begin].text, {"*", "**"});
    if (begin + 1 < next && tokens[begin + 1].text == "=") {
      argument.keyword = tokens[begin].text;
      argument.begin += 2;
    }
    launch.arguments.push_back(std::move(argument));
    begin = next + 1;
  }
  return launch;
}

std::string CallProblem(const Launch& launch, const Kernel& kernel) {
  if (!launch.readable || kernel.parameters.star) return "";
  if (std::ranges::any_of(launch.arguments, &Argument::star)) return "";
  const std::vector<Parameter>& parameters = kernel.parameters.list;
  // A launch without a grid adds the number of elements.
  size_t given = launch.grid ? 0 : 1;
  std::set<std::string> keywords;
  for (const Argument& argument : launch.arguments) {
    if (argument.keyword.empty())
      ++given;
    else
      keywords.insert(argument.keyword);
  }
  if (!launch.grid && !keywords.empty()) return "a launch without a grid takes no keywords";
  if (given > parameters.size())
    return fmt::format("a launch gives {} arguments{}, it takes {}", given,
                       launch.grid ? "" : " with the number of elements", parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (i < given && keywords.contains(parameter.name))
      return fmt::format("a launch gives {} twice", parameter.name);
    if (i >= given && !parameter.has_default && !keywords.contains(parameter.name))
      return fmt::format("a launch does not give {}", parameter.name);
  }
  return "";
}

std::set<std::string> WrittenBy(const Launch& launch, const Kernel& kernel) {
  std::set<std::string> written;
  bool known = launch.readable && !kernel.parameters.star;
  const auto take = [&](const Argument& argument) {
    for (size_t i = argument.begin; i < argument.end; ++i)
      if (launch.tokens[i].kind == TokenKind::kName) {
        written.emplace(launch.tokens[i].text);
        return;
      }
  };
  if (!launch.readable)
    for (const Token& token : launch.tokens)
      if (token.kind == TokenKind::kName) written.emplace(token.text);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    known = known && !argument.star;
    const std::string parameter = !argument.keyword.empty() ? argument.keyword
                                  : i < kernel.parameters.list.size()
                                      ? kernel.parameters.list[i].name
                                      : "";
    if (!known || kernel.stored.contains(parameter)) take(argument);
  }
  return written;
}

}  // namespace davinci::agent
