#include "davinci/teacher/candidate/shared_attributes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

constexpr std::string_view kSelf = "self";

bool IsNameChar(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The end of the step ".name" or "[3]" that begins at `at`; `at`: there is none. A method is no
// step.
size_t StepEnd(const std::string& line, size_t at) {
  size_t end = at + 1;
  if (at < line.size() && line[at] == '.') {
    while (end < line.size() && IsNameChar(line[end])) ++end;
    return end == at + 1 || (end < line.size() && line[end] == '(') ? at : end;
  }
  if (at < line.size() && line[at] == '[') {
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
    return end > at + 1 && end < line.size() && line[end] == ']' ? end + 1 : at;
  }
  return at;
}

// Calls `visit(begin, end)` for each path from "self" and each part of it that begins there.
void ForEachPath(const std::string& line, const std::function<void(size_t, size_t)>& visit) {
  for (size_t at = line.find(kSelf); at != std::string::npos; at = line.find(kSelf, at + 1)) {
    if (at > 0 && (IsNameChar(line[at - 1]) || line[at - 1] == '.')) continue;
    size_t end = at + kSelf.size();
    for (size_t next = StepEnd(line, end); next != end; next = StepEnd(line, end)) {
      end = next;
      visit(at, end);
    }
  }
}

// `line` with `name` for each path that is, or begins with, `path`.
std::string Replaced(const std::string& line, const std::string& path, const std::string& name) {
  std::string text;
  size_t from = 0;
  ForEachPath(line, [&](size_t begin, size_t end) {
    if (line.compare(begin, end - begin, path) != 0) return;
    text += line.substr(from, begin - from) + name;
    from = end;
  });
  return text + line.substr(from);
}

std::string NameOf(const std::string& path) {
  std::string name = "own";
  for (const char c : path.substr(kSelf.size())) name += IsNameChar(c) ? c : '_';
  for (size_t at = 0; (at = name.find("__", at)) != std::string::npos;) name.erase(at, 1);
  if (name.back() == '_') name.pop_back();
  return name;
}

}  // namespace

std::vector<std::string> WithSharedAttributes(
    const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& taken) {
  std::map<std::string, int> uses;
  for (const std::string& line : lines) {
    if (line.starts_with("self.") && line.find(" = ") < line.find('(')) return lines;
    ForEachPath(line, [&](size_t begin, size_t end) { ++uses[line.substr(begin, end - begin)]; });
  }
  // The longest first: what they read of shorter ones counts as one use.
  std::vector<std::string> paths;
  for (const auto& [path, count] : uses)
    if (count > 1) paths.push_back(path);
  std::stable_sort(paths.begin(), paths.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  std::vector<std::string> text = lines, defined;
  for (const std::string& path : paths) {
    int count = 0;
    for (const auto* all : {&text, &defined})
      for (const std::string& line : *all)
        ForEachPath(line, [&](size_t begin, size_t end) {
          count += line.compare(begin, end - begin, path) == 0 ? 1 : 0;
        });
    const std::string name = NameOf(path);
    const auto has = [&](const std::string& line) { return synth::HasWord(line, name); };
    if (count < 2 || taken(name) || std::any_of(text.begin(), text.end(), has) ||
        std::any_of(defined.begin(), defined.end(), has))
      continue;
    for (auto* all : {&text, &defined})
      for (std::string& line : *all) line = Replaced(line, path, name);
    defined.push_back(name + " = " + path);
  }
  std::reverse(defined.begin(), defined.end());
  defined.insert(defined.end(), text.begin(), text.end());
  return defined;
}

}  // namespace davinci::teacher
