#include "davinci/comm/join.h"

#include "davinci/comm/mpi_group.h"
#include "davinci/comm/tcp_group.h"

namespace davinci::comm {

Result<std::unique_ptr<RankGroup>> Join(const World& world, double seconds) {
  if (world.size == 1) return std::unique_ptr<RankGroup>();
  const bool through_mpi = world.launcher == Launcher::kMpirun ||
                           (world.launcher == Launcher::kSlurm && world.master_port == 0);
  if (through_mpi) return JoinMpi(world);
  if (world.master_addr.empty() || world.master_port == 0)
    return InvalidArgument(
        "WORLD_SIZE is set, but not MASTER_ADDR and MASTER_PORT: where rank 0 listens; start with "
        "torchrun or mpirun, or unset WORLD_SIZE to train with one process");
  return JoinTcp(world, {.join_seconds = seconds});
}

}  // namespace davinci::comm
