// Which process this is among those that were started together.
#pragma once

#include <functional>
#include <string>

#include "davinci/base/status.h"

namespace davinci::comm {

enum class Launcher { kNone, kEnvironment, kMpirun, kSlurm };

struct World {
  Launcher launcher = Launcher::kNone;
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among those of this machine: which device is its own
  int local_size = 1;
  // Where rank 0 listens; "" and 0: unknown.
  std::string master_addr = {};
  int master_port = 0;
};

// nullptr: not set. ::getenv, or a test's.
using GetEnvironment = std::function<const char*(const char*)>;

// The first of these that is set:
//   RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE         torchrun, or a script of the user's own
//   OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}      mpirun of Open MPI
//   SLURM_{PROCID,STEP_NUM_TASKS,LOCALID,STEP_TASKS_PER_NODE}  srun; not the batch script around it
// and MASTER_ADDR, MASTER_PORT. Where torchrun itself holds the port (TORCHELASTIC_USE_AGENT_STORE)
// the one above it is meant. InvalidArgument: a variable that is missing or no number in its range,
// and mpirun's variables contradicting RANK and WORLD_SIZE of something else.
Result<World> WorldFromEnvironment(const GetEnvironment& get);

}  // namespace davinci::comm
