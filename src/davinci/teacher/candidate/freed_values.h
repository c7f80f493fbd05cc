// Variables of forward() that are deleted behind their last use, so that their memory, still in a
// cache, serves the values that follow. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace davinci::teacher {

// `lines`: assignments and calls of forward(). A variable that a line assigns and none of
// `returned` names is deleted before the next line that makes a value. Lines of compound statements
// stay as they are.
std::vector<std::string> WithFreedValues(const std::vector<std::string>& lines,
                                         const std::set<std::string>& returned);

}  // namespace davinci::teacher
