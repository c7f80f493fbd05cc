// A Communicator over NCCL.
#pragma once

#include <memory>
#include <string>

#include "davinci/base/status.h"
#include "davinci/comm/communicator.h"
#include "davinci/comm/rank_group.h"

namespace davinci::comm {

// For the calling thread's current CUDA device; called by all ranks of `group`, which carries the
// communicator's identifier and its barrier. The library is the copy that LibTorch brought into the
// process, else libnccl.so.2 of `directory` ("": the system's search). FailedPrecondition: there is
// none, on any rank.
Result<std::unique_ptr<Communicator>> OpenNccl(RankGroup* group, void* stream,
                                               const std::string& directory = "");

}  // namespace davinci::comm
