// The operator family of a reference, from the operators its source names. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace davinci::sftdata {

// One of Families(). A reference with operators of several families is of the first in that order:
// costly structure (attention, recurrence, convolution, products of matrices) before what surrounds
// it. A reference whose operators are not known is "other".
std::string FamilyOf(std::string_view reference);

// In the order of precedence; the last is "other".
const std::vector<std::string>& Families();

}  // namespace davinci::sftdata
