// Mistakes that people and models make in kernels, put into a correct candidate or delta reply: the
// judge's feedback on the result and the correct one make a repair. Pure.
//
// | mutation         | change                                                              |
// |------------------|---------------------------------------------------------------------|
// | off_by_one       | a bound excludes the last element                                   |
// | missing_mask     | a load or store has no mask (Triton)                                |
// | wrong_axis       | a reduction along the other axis; row and column change place       |
// | wrong_stride     | an offset lacks a factor                                            |
// | wrong_constant   | a number has another digit                                          |
// | wrong_operator   | minus for plus, minimum for maximum                                 |
// | missing_eps      | a small constant is left out                                        |
// | undefined_name   | a line that defines a value is left out                             |
// | undefined_local  | a line of the class that assigns a name is left out                 |
// | wrong_attribute  | a parameter or layer is read under another name                     |
// | syntax           | a bracket or semicolon is left out                                  |
// | missing_argument | a launch has one argument less                                      |
// | extra_argument   | a launch has one argument more (Triton)                             |
// | missing_constant | a launch lacks a named constant (Triton)                            |
// | swapped          | the first two arguments of a launch change place                    |
// | wrong_shape      | a result has a dimension less                                       |
// | lost_dimension   | a reduction does not keep its dimension                             |
// | missing_factor   | the last factor of a value is left out                              |
// | wrong_divisor    | another number divides                                              |
// | wrong_dtype      | a result has another element type                                   |
// | low_sum          | a sum is kept in half precision                                     |
// | slow             | loops without OpenMP; blocks of few elements                        |
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

const std::vector<std::string>& Mutations();
// The text with one such mistake, at a place that `seed` picks; nothing where it has no place.
std::optional<std::string> Mutated(const std::string& source, Language language,
                                   const std::string& mutation, uint64_t seed = 0);

}  // namespace davinci::teacher
