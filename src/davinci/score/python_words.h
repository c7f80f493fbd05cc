// Looking at Python source as words, comments and string literals left out (kernels of other
// languages live in string literals), or as text without comments. Pure, total on any bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace davinci::score {

// Identifiers and keywords in order; a dotted name is one word ("torch.nn.functional.relu"), so
// attribute access on a call's result begins with '.' (".relu").
std::vector<std::string> PythonWords(std::string_view source);

// The same program without comments and without blanks at the ends of lines; lines keep their
// numbers. Unchanged where a plain look cannot tell a comment from a part of a literal (nested
// quotes of f-strings), where a literal has no end, and where a comment names the file's encoding.
std::string WithoutComments(std::string_view source);

// The bodies of all functions named forward, one after another: the lines from "def forward" to the
// next line that is indented no deeper than it. Comments and strings are as they are.
std::string ForwardBodies(std::string_view source);

}  // namespace davinci::score
