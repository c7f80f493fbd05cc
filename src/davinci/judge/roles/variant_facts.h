// VariantFacts: what the oracle says of one shape variant of a task.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/oracle.h"

namespace davinci::judge {

// CallWork holds what one call of a reference does: the roofline and the timing of many launches
// go by it. Bytes count each tensor once.
struct CallWork {
  int64_t flops = 0;
  int64_t operators = 0;  // of PyTorch
  int64_t input_bytes = 0;
  int64_t weight_bytes = 0;
  int64_t output_bytes = 0;
  bool reads_everything = false;      // of its inputs, surely
  bool reads_whole_operands = false;  // products of matrices alone do the work
};
void from_json(const nlohmann::json& reply, CallWork& read);
void to_json(nlohmann::json& written, const CallWork& work);

// The facts describe one shape variant of a task; the runner builds its own from `init`.
struct VariantFacts {
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
  std::string mode;        // "", "train", "eval"
  size_t num_weights = 0;  // parameters and buffers
  // A call writes to these, too: buffers by name, which are the last of the outputs, and inputs by
  // number, which are compared behind the outputs.
  std::vector<std::string> kept;
  std::vector<int> left_in;
  bool compiles = false;         // the reference asks for a compiler itself
  int64_t footprint_bytes = 0;   // of a device that an evaluation will hold at most, estimated
  int64_t device_bytes = 0;      // that the device has; 0: no device
  std::optional<CallWork> work;  // of variant 0
  // It says what an export may be called with (davinci_runtime/guard.py); evidence passes it on.
  nlohmann::json verified;
};

// A member that must be there and is not, or has another type, throws nlohmann::json::exception.
void from_json(const nlohmann::json& reply, VariantFacts& read);

// The first request that runs forward, some six times and twice of those in float64. All of it may
// take so long.
Result<VariantFacts> Describe(Oracle& oracle, int variant, uint64_t seed, double timeout_seconds);
// Returns how long Describe() may take where a call may take `call_seconds`: five minutes by
// default.
constexpr double DescribeSeconds(double call_seconds) { return 60 + 12 * call_seconds; }

}  // namespace davinci::judge
