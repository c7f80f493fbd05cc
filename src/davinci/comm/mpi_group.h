// A RankGroup over Open MPI.
#pragma once

#include <memory>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"

namespace davinci::comm {

// FailedPrecondition: no libmpi.so.40, or its world is not the launcher's.
Result<std::unique_ptr<RankGroup>> JoinMpi(const World& world);

}  // namespace davinci::comm
