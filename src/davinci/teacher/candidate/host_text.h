// Lines of forward() in fewer tokens: sizes get names, and what is computed twice too. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace davinci::teacher {

// `ranks`: of the arguments of forward; `result_ranks`: of what its lines make. The lines compute
// the same.
//   k1[((x.shape[0] * x.shape[1] + 1023) // 1024,)](x, t48, x.shape[1])
//   A, B = x.shape
//   k1[cdiv(A * B, 1024),](x, t1, B)
// cdiv(a, b) is a quotient rounded up, pow2(a) the next power of two.
std::vector<std::string> ShortHostText(std::vector<std::string> lines,
                                       const std::map<std::string, size_t>& ranks,
                                       std::map<std::string, size_t> result_ranks = {});

}  // namespace davinci::teacher
