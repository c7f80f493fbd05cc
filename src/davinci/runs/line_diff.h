// What changed between two texts, line by line. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace davinci::runs {

// A unified diff body ("@@ …", then lines with ' ', '+', '-'), `context` unchanged lines around
// each change; "" when the texts are equal. At most `max_lines` lines, then one that says how many
// are missing. Texts of more than 4000 lines are reported as replaced whole.
std::string LineDiff(std::string_view before, std::string_view after, int context = 2,
                     size_t max_lines = 200);

}  // namespace davinci::runs
