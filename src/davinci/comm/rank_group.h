// RankGroup: the ranks of a run, connected. What they say to each other in host memory, and their
// Communicator for tensors.
//
//   started by                               they meet through           tensors
//   mpirun, or srun without MASTER_PORT      MPI (libmpi.so.40)          CPU: MPI    CUDA: NCCL
//   RANK, WORLD_SIZE, MASTER_ADDR, …_PORT    TCP, rank 0 listens         CUDA: NCCL
//
// Both libraries are opened at run time: the program is built and runs without them. MPI is Open
// MPI's, whose binary interface has not changed from 3.0 to 5.0.
//
// No rank waits for a dead one. Over TCP each rank watches its connection: when one breaks without
// a goodbye, every process of the group ends with exit status 3, one of them with a message. Under
// MPI the launcher ends the others (mpirun always; srun with --kill-on-bad-exit).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/comm/communicator.h"
#include "davinci/comm/world.h"

namespace davinci::comm {

inline constexpr double kJoinSeconds = 120;  // within which all ranks must have been started

enum class Memory { kHost, kCuda };

class RankGroup {
 public:
  // A goodbye: call it on every rank, when all agree that the run has ended.
  virtual ~RankGroup() = default;
  virtual const World& world() const = 0;

  // Every rank says something and gets what all said, by rank.
  virtual Result<std::vector<std::string>> Exchange(std::string_view mine) = 0;
  // The group must outlive it. kCuda: for the calling thread's current device; `stream` is the
  // cudaStream_t that its calls are queued on. FailedPrecondition: no library for this memory.
  virtual Result<std::unique_ptr<Communicator>> Open(Memory memory, void* stream) = 0;
  // Ends this process and the others because of a failure of this rank alone, which it prints.
  [[noreturn]] virtual void Abort(const Status& why) = 0;
};

// The exit status of all processes of a group that is broken.
inline constexpr int kAbortExit = 3;
// Prints "davinci: rank R: why" and returns kAbortExit.
int ReportAbort(const World& world, const Status& why);

}  // namespace davinci::comm
