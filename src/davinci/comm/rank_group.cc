#include "davinci/comm/rank_group.h"

#include <fmt/format.h>

#include <cstdio>

namespace davinci::comm {

int ReportAbort(const World& world, const Status& why) {
  fmt::print(stderr, "davinci: rank {}: {}\n", world.rank, why.ToString());
  std::fflush(stderr);
  return kAbortExit;
}

}  // namespace davinci::comm
