// Mistakes that people and models make in kernels, put into a correct candidate: the judge's
// feedback on the result and the correct candidate make a repair. Pure.
//
// | mutation     | C++                                       | Triton |
// |--------------|-------------------------------------------|-------------------------------------|
// | off_by_one   | a loop stops one element early            | a mask excludes the last element |
// | missing_mask | –                                         | a load or store has no mask | |
// wrong_axis   | rows and columns of an offset change place | a reduction runs along axis 0       |
// | missing_eps  | a small constant under a root is left out | the same | | low_sum      | a sum is
// kept in half precision           | the same                            | | slow         | loops
// without OpenMP                      | blocks of few elements              |
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

const std::vector<std::string>& Mutations();
// The candidate with one such mistake; nothing where its text has no place for it.
std::optional<std::string> Mutated(const std::string& source, Language language,
                                   const std::string& mutation);

}  // namespace davinci::teacher
