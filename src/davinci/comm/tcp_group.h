// A RankGroup over TCP: rank 0 listens, the others connect to it and stay connected.
//
// It carries little: the identifier of an NCCL communicator, agreements, the sums of a log line.
// Its other use is to notice a death: a process that ends closes its connection, a machine that is
// gone stops answering (TCP keep-alive). One thread per process reads.
//
// The network is trusted, as torchrun's store trusts it: anyone who reaches the port can take a
// missing rank's place.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"

namespace davinci::comm {

struct TcpOptions {
  double join_seconds = kJoinSeconds;
  // Called once, by the reading thread, when the group is broken: a rank was lost or has aborted.
  // `message`: for people; "" where another rank prints it. Default: prints and ends the process.
  std::function<void(const std::string& message)> on_broken = nullptr;
};

// Unavailable: not all ranks came in time; the message names them. InvalidArgument: the address
// cannot be resolved or listened on, or rank 0 expects other ranks.
Result<std::unique_ptr<RankGroup>> JoinTcp(const World& world, TcpOptions options);

}  // namespace davinci::comm
