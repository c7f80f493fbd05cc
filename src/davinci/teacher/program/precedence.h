// How tight the operators of an expression bind, in the text of Python, C++ and Triton alike.
#pragma once

#include <string>
#include <string_view>

namespace davinci::teacher {

// The precedence of the loosest operator outside of brackets: 0 comparison or selection, 1 sum,
// 2 product or sign, 3 none.
int Precedence(std::string_view text);
// Needs no brackets anywhere.
bool IsSimple(std::string_view text);
std::string Bracketed(const std::string& text);

}  // namespace davinci::teacher
