// Communicator: what ranks do with tensors. A rank is one of the processes that train one model.
//
// Every rank makes the same calls in the same order with the same sizes; results are the same bits
// on every rank. Buffers lie in host memory (MPI) or in the memory of the rank's CUDA device
// (NCCL), where a call is queued on the communicator's stream and returns at once. A Status is a
// failure of this rank; a rank that dies ends the others through its RankGroup, so no call waits
// for it for ever. One thread at a time.
#pragma once

#include <cstdint>

#include "davinci/base/status.h"

namespace davinci::comm {

// What is summed. Gathered and broadcast are bytes.
enum class Element { kFloat32, kFloat64 };

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // `data` becomes its sum over all ranks.
  virtual Status AllReduce(void* data, int64_t count, Element element) = 0;
  // `from`: size() * count elements. Rank r gets the sum over all ranks of elements
  // [r * count, (r + 1) * count) in `to`. The buffers do not overlap.
  virtual Status ReduceScatter(const void* from, void* to, int64_t count, Element element) = 0;
  // `to`: the `bytes` of each rank, by rank. `from` may be this rank's place in `to`, and must not
  // overlap with it otherwise.
  virtual Status AllGather(const void* from, void* to, int64_t bytes) = 0;
  virtual Status Broadcast(void* data, int64_t bytes, int root) = 0;
  // Returns once every rank has called it.
  virtual Status Barrier() = 0;
};

}  // namespace davinci::comm
