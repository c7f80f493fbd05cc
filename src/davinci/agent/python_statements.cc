#include "davinci/agent/python_statements.h"

namespace davinci::agent {

std::vector<std::string> ItemsOf(std::string_view text) {
  std::vector<std::string> items;
  int depth = 0;
  std::string item;
  const auto add = [&] {
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    if (!item.empty()) items.push_back(item);
    item.clear();
  };
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      add();
    else
      item += c;
  }
  add();
  return items;
}

bool HasName(std::string_view text, std::string_view name) {
  const auto is_part = [&](size_t at) { return at < text.size() && IsNamePart(text[at]); };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + name.size())) return true;
  return false;
}

size_t IndentOf(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

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

std::set<std::string> NamesIn(std::string_view text) {
  std::set<std::string> names;
  WithNames(text, [&](std::string_view name) {
    names.emplace(name);
    return std::string();
  });
  return names;
}

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

std::set<std::string> FunctionsOf(const std::string& code) {
  std::set<std::string> names;
  for (const std::string_view line : LinesOf(code))
    if (line.starts_with("def ")) names.emplace(line.substr(4, line.find('(') - 4));
  return names;
}

std::vector<TopStatement> TopStatements(const std::string& code) {
  constexpr std::string_view kOthers[] = {"@",   "#",      "def ", "class ", "import ", "from ",
                                          "if ", "while ", "for ", "with ",  "try:",    "\"\"\""};
  std::vector<TopStatement> statements;
  size_t begin = 0, at = 0;
  int open = 0;
  std::string text;
  for (const std::string_view line : LinesOf(code)) {
    // No bracket is open where a function begins.
    const bool function =
        line.starts_with("@") || line.starts_with("def ") || line.starts_with("class ");
    if (!text.empty() && function) {
      statements.push_back({begin, at, {text, {}, {}}});
      Describe(&statements.back().statement);
      text.clear();
    }
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

}  // namespace davinci::agent
