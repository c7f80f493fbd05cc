#include "davinci/agent/plain_forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "davinci/data/prelude.h"

namespace davinci::agent {
namespace {

bool IsNameStart(char c) {
  return IsNamePart(c) && std::isdigit(static_cast<unsigned char>(c)) == 0;
}

bool IsSpace(char c) { return c == ' ' || c == '\n'; }

size_t IndentOf(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Calls `see(name, depth of brackets, begin, end)` with each name of a statement that is no
// attribute, no keyword of a call, and in no string or comment. Returns the depth at the end.
template <typename See>
int ForNames(std::string_view text, const See& see) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '\'' || c == '"') {
      for (++i; i < text.size() && text[i] != c; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (IsNamePart(c)) {
      size_t end = i;
      while (end < text.size() && IsNamePart(text[end])) ++end;
      const bool keyword =
          depth > 0 && end + 1 < text.size() && text[end] == '=' && text[end + 1] != '=';
      if (IsNameStart(c) && (i == 0 || text[i - 1] != '.') && !keyword)
        see(text.substr(i, end - i), depth, i, end);
      i = end - 1;
    }
  }
  return depth;
}

// The function finds the "=" of an assignment; npos means that the statement is none.
size_t AssignmentOf(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == '"' || c == '\'' || c == '#' || c == '\n') return std::string_view::npos;
    if (c != '=' || depth > 0) continue;
    const bool compares =
        (i + 1 < text.size() && text[i + 1] == '=') ||
        (i > 0 && std::string_view("=<>!").find(text[i - 1]) != std::string_view::npos);
    if (compares) return std::string_view::npos;
    return i;
  }
  return std::string_view::npos;
}

// A statement of forward, with the lines within it.
struct Statement {
  std::string text;                // without the body's indentation
  std::vector<std::string> makes;  // names that it binds
  std::vector<std::string> reads;  // names that it has, in order
  bool returns = false;
};

void Describe(Statement* statement) {
  const std::string_view text = statement->text;
  size_t begin = 0;
  while (begin < text.size()) {  // each line: a block may bind names within it
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line.remove_prefix(IndentOf(line));
    statement->returns = statement->returns ||
                         (line.starts_with("return") && (line.size() == 6 || !IsNamePart(line[6])));
    const bool loop = line.starts_with("for ");
    const size_t at = loop ? line.find(" in ") : AssignmentOf(line);
    if (at != std::string_view::npos)
      ForNames(line.substr(0, at), [&](std::string_view name, int depth, size_t, size_t last) {
        const bool part = last < at && (line[last] == '.' || line[last] == '[');
        if (depth == 0 && !part && name != "for") statement->makes.emplace_back(name);
      });
    begin = end + 1;
  }
  constexpr std::string_view kBlocks[] = {"for ", "while ", "if ", "with ", "try:", "def "};
  const bool block =
      std::ranges::any_of(kBlocks, [&](std::string_view word) { return text.starts_with(word); });
  const size_t at = AssignmentOf(text);
  const bool augmented = at != std::string_view::npos && at > 0 &&
                         std::string_view("+-*/@%&|^").find(text[at - 1]) != std::string_view::npos;
  ForNames(text, [&](std::string_view name, int, size_t, size_t end) {
    const bool bound = std::ranges::find(statement->makes, name) != statement->makes.end();
    const bool left = at != std::string_view::npos && end <= at && !augmented;
    if (!bound || (!block && !left)) statement->reads.emplace_back(name);
  });
}

// The text around the body of the last forward(), which is that of the class that is asked for, and
// its statements.
struct Forward {
  std::string head, tail;  // `head` ends with the line of the def
  std::string indent;
  std::set<std::string> parameters;
  std::vector<Statement> body;
};

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::optional<Forward> ForwardOf(const std::string& code) {
  constexpr std::string_view kDef = "    def forward(";
  const size_t def = code.starts_with(kDef) ? 0 : code.rfind("\n" + std::string(kDef));
  if (def == std::string::npos) return std::nullopt;
  Forward forward;
  size_t at = code.find('(', def), depth_end = at;
  int depth = 0;
  for (; depth_end < code.size(); ++depth_end) {
    depth += code[depth_end] == '(' ? 1 : code[depth_end] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  if (depth_end >= code.size()) return std::nullopt;
  ForNames(std::string_view(code).substr(at + 1, depth_end - at - 1),
           [&](std::string_view name, int, size_t, size_t) { forward.parameters.emplace(name); });
  const size_t body = code.find('\n', depth_end);
  if (body == std::string::npos) return std::nullopt;
  forward.head = code.substr(0, body + 1);
  size_t end = body + 1, next = end;  // behind the last line of forward; behind this one
  std::string text;
  int open = 0;
  const auto close = [&] {
    if (text.empty()) return;
    Statement statement{text, {}, {}};
    Describe(&statement);
    forward.body.push_back(std::move(statement));
    text.clear();
  };
  for (const std::string_view line : LinesOf(std::string_view(code).substr(body + 1))) {
    const size_t indent = IndentOf(line);
    const bool blank = indent == line.size();
    if (!blank && open == 0 && indent <= 4) break;
    next += line.size() + 1;
    if (blank) continue;
    end = next;
    if (forward.indent.empty()) forward.indent = std::string(indent, ' ');
    if (open == 0 && indent <= forward.indent.size()) close();
    if (!text.empty()) text += '\n';
    text += line.substr(std::min(indent, forward.indent.size()));
    open = std::max(ForNames(text, [](std::string_view, int, size_t, size_t) {}), 0);
  }
  close();
  if (forward.indent.empty()) forward.indent = "        ";
  forward.tail = end < code.size() ? code.substr(end) : "";
  return forward;
}

// Names that the code's functions have at the top: "f1" of "@kernel def f1(x, o):".
std::set<std::string> FunctionsOf(const std::string& code) {
  std::set<std::string> names;
  for (const std::string_view line : LinesOf(code))
    if (line.starts_with("def ")) names.emplace(line.substr(4, line.find('(') - 4));
  return names;
}

// A statement at the top of the code, between `begin` and `end`.
struct TopStatement {
  size_t begin = 0, end = 0;
  Statement statement;
};

std::vector<TopStatement> TopStatements(const std::string& code) {
  constexpr std::string_view kOthers[] = {"@",   "#",      "def ", "class ", "import ", "from ",
                                          "if ", "while ", "for ", "with ",  "try:",    "\"\"\""};
  std::vector<TopStatement> statements;
  size_t begin = 0, at = 0;
  int open = 0;
  std::string text;
  for (const std::string_view line : LinesOf(code)) {
    const bool first = text.empty();
    const bool other =
        std::ranges::any_of(kOthers, [&](std::string_view word) { return line.starts_with(word); });
    if (first) begin = at;
    at = std::min(at + line.size() + 1, code.size());
    if (first && (IndentOf(line) != 0 || line.empty() || other)) continue;
    text += (first ? "" : "\n") + std::string(line);
    open = std::max(ForNames(text, [](std::string_view, int, size_t, size_t) {}), 0);
    if (open > 0) continue;
    statements.push_back({begin, at, {text, {}, {}}});
    Describe(&statements.back().statement);
    text.clear();
  }
  return statements;
}

bool IsLaunchOf(const Statement& statement, const std::set<std::string>& kernels) {
  return statement.makes.empty() && !statement.reads.empty() &&
         kernels.contains(statement.reads[0]);
}

// Launches behind kernels, and what they need, become the first lines of forward. Constants stay
// where kernels see them.
void TakeLaunches(const std::set<std::string>& kernels, Forward* forward) {
  const std::vector<TopStatement> top = TopStatements(forward->head);
  const auto launches = [&](const TopStatement& one) { return IsLaunchOf(one.statement, kernels); };
  if (std::ranges::none_of(top, launches)) return;
  std::vector<Statement> taken;
  for (size_t i = top.size(); i-- > 0;) {
    if (top[i].statement.reads.empty()) continue;
    taken.push_back(top[i].statement);
    forward->head.erase(top[i].begin, top[i].end - top[i].begin);
  }
  std::ranges::reverse(taken);
  std::erase_if(forward->body, [](const Statement& statement) {
    return statement.text == "..." || statement.text == "pass";
  });
  forward->body.insert(forward->body.begin(), taken.begin(), taken.end());
}

class Filler {
 public:
  Filler(const PlainForward& plain, const Forward& base, const Forward& reply,
         std::set<std::string> kernels)
      : base_(base),
        reply_(reply),
        kernels_(std::move(kernels)),
        inputs_(plain.inputs),
        made_(reply.parameters) {
    for (const auto& [name, text] : plain.names) names_[name] = text;
    for (size_t i = 0; i < base.body.size(); ++i)
      for (const std::string& name : base.body[i].makes) makers_[name].push_back(i);
  }

  std::string Run() {
    const bool whole = std::ranges::any_of(reply_.body, &Statement::returns);
    if (!whole)
      for (const std::string& name : reply_.parameters)
        if (inputs_.contains(name)) filled_.insert(name);
    for (const Statement& statement : reply_.body)
      if (IsLaunch(statement)) arguments_.merge(ArgumentsOf(statement.text));
    for (const Statement& statement : reply_.body)
      if (whole || !IsOfTheModule(statement)) Add(statement, true);
    if (!whole)
      for (const Statement& statement : base_.body)
        if (statement.returns) Add(statement, false);
    return text_;
  }

 private:
  bool IsLaunch(const Statement& statement) const { return IsLaunchOf(statement, kernels_); }

  // It makes what the plain forward makes, and is no memory that a kernel gets.
  bool IsOfTheModule(const Statement& statement) const {
    if (statement.makes.empty() || AssignmentOf(statement.text) == std::string::npos) return false;
    const bool memory = statement.text.find("empty") != std::string::npos;
    return std::ranges::all_of(statement.makes, [&](const std::string& name) {
      return name == "_" || names_.contains(name) ||
             (makers_.contains(name) && !(memory && arguments_.contains(name)));
    });
  }

  // In front of it what it reads.
  void Add(const Statement& statement, bool of_reply) {
    for (const std::string& name : statement.reads) Make(name);
    // Memory that is made like a tensor gets the order of its axes, too.
    for (const std::string& name : statement.reads)
      if (of_reply && arguments_.contains(name) && filled_.erase(name) > 0)
        Line(fmt::format("{0} = {0}.contiguous()", name));
    Line(statement.text);
    for (const std::string& name : statement.makes) {
      made_.insert(name);
      if (of_reply) filled_.erase(name);
    }
  }

  void Make(const std::string& name) {
    if (made_.contains(name)) return;
    if (const auto known = names_.find(name); known != names_.end()) {
      made_.insert(name);
      Statement statement{name + " = " + known->second, {}, {}};
      Describe(&statement);
      Add(statement, false);
      return;
    }
    const auto makers = makers_.find(name);
    if (makers == makers_.end()) return;
    made_.insert(name);
    for (const size_t maker : makers->second) {
      if (!used_.insert(maker).second) continue;
      const Statement& statement = base_.body[maker];
      for (const std::string& other : statement.makes)
        if (std::islower(static_cast<unsigned char>(other[0])) != 0) filled_.insert(other);
      Add(statement, false);
    }
  }

  // Names that are whole arguments of a launch: "t2", not "A" of "A * B".
  static std::set<std::string> ArgumentsOf(const std::string& launch) {
    std::set<std::string> names;
    ForNames(launch, [&](std::string_view name, int, size_t begin, size_t end) {
      size_t before = begin, after = end;
      while (before > 0 && IsSpace(launch[before - 1])) --before;
      while (after < launch.size() && IsSpace(launch[after])) ++after;
      const bool left = before > 0 && (launch[before - 1] == '(' || launch[before - 1] == ',');
      const bool right = after < launch.size() && (launch[after] == ')' || launch[after] == ',');
      if (left && right) names.emplace(name);
    });
    return names;
  }

  void Line(const std::string& text) {
    for (const std::string_view line : LinesOf(text))
      text_ += reply_.indent + std::string(line) + "\n";
  }

  const Forward &base_, &reply_;
  const std::set<std::string> kernels_;
  const std::set<std::string>& inputs_;
  std::map<std::string, std::string> names_;
  std::map<std::string, std::vector<size_t>> makers_;  // statements of the base, by name
  std::set<std::string> made_;
  std::set<std::string> arguments_;  // of launches
  std::set<size_t> used_;
  std::set<std::string> filled_;  // tensors of the module that need not be contiguous
  std::string text_;
};

}  // namespace

std::string FilledIn(const PlainForward& plain, const std::string& code) {
  const auto base = ForwardOf(plain.code);
  auto reply = ForwardOf(code);
  if (!base || !reply) return code;
  const std::set<std::string> kernels = FunctionsOf(code);
  TakeLaunches(kernels, &*reply);
  return reply->head + Filler(plain, *base, *reply, kernels).Run() + reply->tail;
}

namespace {

// Batch norms count batches and follow their statistics: nothing else reads these.
bool IsOfBatchNorm(std::string_view text) {
  return text.ends_with(".num_batches_tracked.add_(1)") || text.ends_with(".running_mean") ||
         text.ends_with(".running_var");
}

}  // namespace

std::vector<std::string> WithoutPlainLines(const std::vector<std::string>& lines,
                                           const std::set<std::string>& plain,
                                           const std::set<std::string>& written) {
  std::vector<std::string> kept;
  for (const std::string& line : lines) {
    Statement statement{line, {}, {}};
    Describe(&statement);
    if (statement.returns) continue;
    const bool launch =
        !statement.reads.empty() && line.starts_with(statement.reads[0]) &&
        (line[statement.reads[0].size()] == '[' || line[statement.reads[0].size()] == '(');
    const bool effect = statement.makes.empty() ? !launch : line.find("_(") != std::string::npos;
    if (effect && !IsOfBatchNorm(line)) return lines;
    const bool of_plain = !statement.makes.empty() &&
                          std::ranges::all_of(statement.makes, [&](const std::string& name) {
                            return name == "_" || (plain.contains(name) && !written.contains(name));
                          });
    if (!of_plain) kept.push_back(line);
  }
  for (const std::string& name : written)
    if (name.find('.') != std::string::npos && !IsOfBatchNorm(name)) return lines;
  // A value that no kept line reads served the lines that are left out.
  std::set<std::string> read;
  for (size_t i = kept.size(); i-- > 0;) {
    Statement statement{kept[i], {}, {}};
    Describe(&statement);
    const auto is_read = [&](const std::string& name) { return read.contains(name); };
    if (!statement.makes.empty() && std::ranges::none_of(statement.makes, is_read))
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    else
      read.insert(statement.reads.begin(), statement.reads.end());
  }
  return kept;
}

}  // namespace davinci::agent
