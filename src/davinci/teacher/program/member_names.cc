#include "davinci/teacher/program/member_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

// The path as a whole, not the beginning of a longer name or of a call.
std::string WithPath(const std::string& line, const std::string& path, const std::string& name) {
  std::string text;
  size_t from = 0;
  for (size_t at; (at = line.find(path, from)) != std::string::npos; from = at + path.size()) {
    const size_t end = at + path.size();
    const bool own = (at == 0 || (!synth::IsWordChar(line[at - 1]) && line[at - 1] != '.')) &&
                     (end == line.size() || (!synth::IsWordChar(line[end]) && line[end] != '('));
    text += line.substr(from, at - from) + (own ? name : path);
  }
  return text + line.substr(from);
}

// Calls `take` with each path below self that is no call's, and with those that it begins with.
template <typename Take>
void ForEachPath(const std::string& line, const Take& take) {
  constexpr std::string_view kSelf = "self.";
  for (size_t at = 0; (at = line.find(kSelf, at)) != std::string::npos; ++at) {
    if (at > 0 && (synth::IsWordChar(line[at - 1]) || line[at - 1] == '.')) continue;
    size_t end = at + kSelf.size() - 1;
    while (end < line.size() && (line[end] == '.' || line[end] == '[')) {
      size_t next = end + 1;
      while (next < line.size() && synth::IsWordChar(line[next])) ++next;
      if (line[end] == '[') {
        if (next >= line.size() || line[next] != ']') break;
        ++next;
      }
      if (next < line.size() && line[next] == '(') break;
      take(line.substr(at, next - at));
      end = next;
    }
  }
}

size_t RoughTokens(const std::string& text) {
  size_t length = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != ' ' &&
        (i == 0 || !synth::IsWordChar(text[i]) || !synth::IsWordChar(text[i - 1])))
      ++length;
  return length;
}

}  // namespace

std::optional<std::string> WorthAName(const std::map<std::string, size_t>& counts) {
  const auto gain = [](const auto& item) {
    const auto length = static_cast<int64_t>(RoughTokens(item.first));
    return static_cast<int64_t>(item.second) * (length - 1) - length - 3;
  };
  const auto best = std::ranges::max_element(counts, {}, gain);
  if (best == counts.end() || gain(*best) <= 0) return std::nullopt;
  return best->first;
}

std::vector<MemberName> ChooseMemberNames(const std::vector<std::string>& lines) {
  std::vector<std::string> left = lines;
  std::vector<MemberName> members;
  for (;;) {
    std::map<std::string, size_t> counts;
    for (const std::string& line : left)
      ForEachPath(line, [&](const std::string& path) { ++counts[path]; });
    const auto path = WorthAName(counts);
    if (!path) break;
    // A place stands for it until all are known.
    members.push_back({*path, fmt::format("@{}@", members.size())});
    for (std::string& line : left) line = WithPath(line, *path, members.back().name);
  }
  const auto first = [&](const MemberName& member) {
    for (size_t i = 0; i < left.size(); ++i)
      if (const size_t at = left[i].find(member.name); at != std::string::npos)
        return std::pair(i, at);
    return std::pair(left.size(), size_t{0});
  };
  std::ranges::stable_sort(members, {}, first);
  int number = 0;
  for (MemberName& member : members) {
    do {
      member.name = fmt::format("m{}", ++number);
    } while (std::ranges::any_of(
        lines, [&](const std::string& line) { return synth::HasWord(line, member.name); }));
  }
  return members;
}

std::string WithMemberNames(std::string line, const std::vector<MemberName>& members) {
  // The longest path first: another one may be its beginning.
  std::vector<const MemberName*> order;
  for (const MemberName& member : members) order.push_back(&member);
  std::ranges::stable_sort(order, std::greater(),
                           [](const MemberName* member) { return member->path.size(); });
  for (const MemberName* member : order) line = WithPath(line, member->path, member->name);
  return line;
}

void NameMembers(const std::vector<MemberName>& members, std::vector<std::string>* lines) {
  for (std::string& line : *lines) line = WithMemberNames(std::move(line), members);
  for (const MemberName& member : members) {
    const auto first = std::ranges::find_if(
        *lines, [&](const std::string& line) { return synth::HasWord(line, member.name); });
    if (first != lines->end()) lines->insert(first, member.name + " = " + member.path);
  }
}

}  // namespace davinci::teacher
