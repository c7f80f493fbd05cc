// The interval of a speedup in tables, reports and messages: the one `significant` is decided with.
#pragma once

#include <string>

#include "davinci/data/evaluation.h"

namespace davinci {

// 99.9 % interval; of documents that hold only a 95 % interval, that one.
struct ShownInterval {
  double low = 0;
  double high = 0;  // may be infinite
  std::string level;
};
ShownInterval Shown(const Speedup& speedup);

// "99.9 % interval 1.21 – 1.36"; "…; not significant" where it is not.
std::string ShownText(const Speedup& speedup);

}  // namespace davinci
