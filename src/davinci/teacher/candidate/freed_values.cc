#include "davinci/teacher/candidate/freed_values.h"

#include <algorithm>
#include <map>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

std::set<std::string> NamesIn(const std::string& line) {
  std::set<std::string> names;
  synth::Renamed(line, [&](const std::string& name) {
    names.insert(name);
    return name;
  });
  return names;
}

// "a" of "a = f(b)", "a" and "b" of "a, b = f(c)"; none of "a[0] = 1", "f(a)".
std::set<std::string> AssignedBy(const std::string& line) {
  const std::string targets = line.substr(0, std::min(line.find(" = "), line.size()));
  if (targets.size() == line.size() || targets.find_first_of("[](){}.'\"=:") != std::string::npos)
    return {};
  return NamesIn(targets);
}

bool MakesValue(const std::string& line) {
  return !AssignedBy(line).empty() && line.find('(') != std::string::npos;
}

}  // namespace

std::vector<std::string> WithFreedValues(const std::vector<std::string>& lines,
                                         const std::set<std::string>& returned) {
  const bool compound = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.empty() || line.front() == ' ' || line.back() == ':' ||
           line.find('\n') != std::string::npos || line.find("lambda") != std::string::npos;
  });
  if (compound) return lines;
  std::set<std::string> assigned;
  std::map<std::string, size_t> last;
  for (size_t i = 0; i < lines.size(); ++i) {
    assigned.merge(AssignedBy(lines[i]));
    for (const std::string& name : NamesIn(lines[i])) last[name] = i;
  }
  size_t last_made = 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (MakesValue(lines[i])) last_made = i;
  std::vector<std::string> freed, text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!freed.empty() && MakesValue(lines[i])) {
      text.push_back("del " + synth::Join(freed, ", "));
      freed.clear();
    }
    text.push_back(lines[i]);
    if (i >= last_made) continue;
    for (const std::string& name : NamesIn(lines[i]))
      if (last.at(name) == i && assigned.contains(name) && !returned.contains(name))
        freed.push_back(name);
  }
  return text;
}

}  // namespace davinci::teacher
