// Attributes of modules that several lines of forward() read, in variables: each step from a module
// to a member of it costs half a microsecond. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace davinci::teacher {

// `lines` with "self.layers[0].weight" and each path in front of it in a variable where at least
// two places read it; the variables are defined first. `taken`: the name means something else.
// Lines that assign to an attribute stay as they are, and so do all others then.
std::vector<std::string> WithSharedAttributes(const std::vector<std::string>& lines,
                                              const std::function<bool(const std::string&)>& taken);

}  // namespace davinci::teacher
