// What all ranks must know of before they go on.
#pragma once

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"

namespace davinci::comm {

// The same status on every rank: Ok if all are, else that of the lowest rank that failed, with its
// number in front. Without a group `mine`.
Status Agree(RankGroup* group, const Status& mine);

}  // namespace davinci::comm
