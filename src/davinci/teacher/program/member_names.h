// Short names of what a module holds, where its tensors are often named. Pure.
//   f1(x, self.blocks[0].bn.weight, self.blocks[0].bn.bias)
// becomes
//   m1 = self.blocks[0].bn
//   f1(x, m1.weight, m1.bias)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace davinci::teacher {

struct MemberName {
  std::string path, name;  // "self.blocks[0].bn", "m1"
};

// Those that make the lines shorter in tokens, m1, m2, … in the order in which they are first read.
// None is a name that the lines have.
std::vector<MemberName> ChooseMemberNames(const std::vector<std::string>& lines);
std::string WithMemberNames(std::string line, const std::vector<MemberName>& members);
// The lines with the names, each defined in front of the line that first reads it.
void NameMembers(const std::vector<MemberName>& members, std::vector<std::string>* lines);

// The text of those counted whose name saves most tokens, roughly: a name is one of them, its own
// line those of the text and three more. Nothing: no name saves any.
std::optional<std::string> WorthAName(const std::map<std::string, size_t>& counts);

}  // namespace davinci::teacher
