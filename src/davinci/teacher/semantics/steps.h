// Straight-line Python with one call of PyTorch a line, however a module's author nested, named and
// divided it. What an expression computes first gets a name and a line of its own. Pure.
#pragma once

#include <string>
#include <string_view>

namespace davinci::teacher {

// `text` holds a method forward of assignments and one return, as Teacher::WriteVendor writes it.
// Gives
//   forward(x):
//   t1 = self.conv(x)
//   t2 = t1 + 1.0
//   return t2
// Results have the names t1, t2, … that no argument has; sizes and numbers stay where they are. A
// line that is no expression we can parse stays one line.
std::string StepsOf(std::string_view text);

}  // namespace davinci::teacher
