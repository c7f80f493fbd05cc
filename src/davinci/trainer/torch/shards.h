// The class Shards divides tensors over the ranks: the elements of a tensor, in memory order, into
// as many equal shares as there are ranks; the last ones are shorter. With one rank a share is the
// whole tensor and nothing is sent. With several ranks all but ShareOf() and Own() are collective:
// every rank calls them for the same slots in the same order.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "davinci/comm/communicator.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

// Returns all elements in memory order, without a graph.
at::Tensor Flat(const at::Tensor& tensor);

class Shards {
 public:
  // `ranks`: nullptr for one rank; must outlive this.
  explicit Shards(comm::Communicator* ranks) : ranks_(ranks) {}
  bool is_one() const { return ranks_ == nullptr; }

  // A rank has these elements of a tensor.
  struct Share {
    int64_t begin = 0;
    int64_t size = 0;
    int64_t chunk = 0;  // of every rank, the missing elements of the last ones included
  };
  Share ShareOf(int64_t num_elements) const;
  // Returns this rank's share of `whole`: flat, or `whole` itself for one rank.
  at::Tensor Own(const at::Tensor& whole) const;

  // Replaces the slots' gradients by this rank's shares of their sums over the ranks.
  Status ReduceScatter(std::span<Slot* const> slots) const;
  // whole(slot) becomes, in its own type, what share(slot) of every rank holds.
  using TensorOf = std::function<at::Tensor(const Slot&)>;
  Status GatherAll(std::span<Slot* const> slots, const TensorOf& share,
                   const TensorOf& whole) const;
  // `whole`, contiguous, gets every rank's `share` of it.
  Status Gather(const at::Tensor& share, const at::Tensor& whole) const;
  // `squares` (fp64 [1]) becomes its sum over all ranks. `any`: whether this rank has gradients.
  // InvalidArgument: no rank has any.
  Status SumSquares(const at::Tensor& squares, bool any) const;
  // `whole` (fp32) becomes its sum over the ranks.
  Status Sum(const at::Tensor& whole) const;

 private:
  // A bucket is tensors that travel in one call: in a buffer that holds, rank by rank, the chunks
  // of all.
  struct Bucket {
    std::vector<Slot*> slots;
    int64_t chunk = 0;  // the sum of theirs
  };
  std::vector<Bucket> BucketsOf(std::span<Slot* const> slots) const;
  // Returns whether a bucket is one tensor in equal shares: its own memory is the buffer.
  bool IsWhole(const Bucket& bucket) const;
  // Returns the pieces of the buffer `all` that hold each rank's elements of each tensor; `parts`
  // gets the same pieces of flat(slot), all elements in memory order. What is undefined is left
  // out.
  std::vector<at::Tensor> PartsOf(const Bucket& bucket, const at::Tensor& all, const TensorOf& flat,
                                  std::vector<at::Tensor>* parts) const;

  comm::Communicator* const ranks_;
};

}  // namespace davinci::trainer
