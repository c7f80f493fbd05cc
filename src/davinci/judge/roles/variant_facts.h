// VariantFacts: what the oracle says of one shape variant of a task.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/oracle.h"

namespace davinci::judge {

// The facts describe one shape variant of a task; the runner builds its own from `init`.
struct VariantFacts {
  nlohmann::json raw;
  std::string init;                   // pickled constructor arguments, opaque
  std::string structure;              // of the output
  std::vector<OutputTensor> outputs;  // dtype, shape, stride expected
  nlohmann::json inputs;              // arena layout
  int64_t slot_bytes = 0;
  int num_slots = 0;
  bool stochastic = false;
  bool reseed_calls = false;
  // Of each output: whether it is lent, lying in an input's memory or in the module's or
  // overlapping itself, and numbers that those have in common which begin at one address, and
  // whose memory overlaps.
  std::vector<bool> lent;
  std::vector<int> begins;
  std::vector<int> regions;
  std::string mode;  // "", "train", "eval"
};

// The first request that runs forward, some six times and twice of those in float64. All of it may
// take so long.
Result<VariantFacts> Describe(Oracle& oracle, int variant, uint64_t seed, double timeout_seconds);
// Returns how long Describe() may take where a call may take `call_seconds`: five minutes by
// default.
constexpr double DescribeSeconds(double call_seconds) { return 60 + 12 * call_seconds; }

}  // namespace davinci::judge
