// Join: the group of this process, over MPI or TCP (rank_group.h has the table).
#pragma once

#include <memory>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/comm/world.h"

namespace davinci::comm {

// The group of all ranks; nullptr where the world is one process. Under MPI to be called once, by
// the thread that uses the group. Unavailable: a rank did not come within `seconds`.
Result<std::unique_ptr<RankGroup>> Join(const World& world, double seconds = kJoinSeconds);

}  // namespace davinci::comm
