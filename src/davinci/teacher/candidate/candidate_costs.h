// The class CandidateCosts counts bytes, operations and launches of a candidate's calls, and
// estimates microseconds for a large device and its host. It reads a draft whose plan and lines
// stand. Internal.
#pragma once

#include <string_view>
#include <vector>

#include "davinci/teacher/candidate/draft.h"

namespace davinci::teacher {

// How many kernels PyTorch launches for an operator that is written so.
int EagerKernels(std::string_view form);

class CandidateCosts {
 public:
  explicit CandidateCosts(const Draft& draft) : d_(draft) {}

  // Returns the step of the plan that moves or computes most; -1: none.
  int CostliestStep() const;
  Work WorkOfPlan() const;
  Work WorkOfEager() const;
  // Returns whether several launches cost the host more than the device, and a graph may hold them.
  bool Replays() const;
  // PyTorch's own kernels are expected to be as fast.
  bool PrefersVendor() const;

 private:
  // Microseconds of a call; `held`: a graph may hold all launches, as nothing waits for the device.
  struct Times {
    double host_us = 0, device_us = 0, replay_host_us = 0, replay_device_us = 0;
    bool held = true;
  };
  Times OwnCosts() const;
  double ElementsOf(const std::vector<DimId>& shape) const;
  // Counts the operations of a convolution or a matrix product.
  double OpaqueFlops(const TensorValue& value, Id id) const;
  // Returns whether a graph may hold the call: it does not wait for the device, nor does it draw
  // random numbers.
  bool IsHeld(const TensorValue& value) const;

  const Draft& d_;
};

}  // namespace davinci::teacher
