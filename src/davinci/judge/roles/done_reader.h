// DoneReader: what a runner says that its calls returned.
//
// A short DONE (worker/protocol.h) has addresses alone: all else is as in the long one before it.
// Everything read here is a claim; a Status says that the reply fits no call.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/call.h"

namespace davinci::judge {

class DoneReader {
 public:
  // Of a window of `num_calls`; of an empty one nothing but the runner's own clock is read, from a
  // short DONE.
  Status ReadShort(std::string_view done, size_t num_calls, bool is_empty,
                   CallResult* result) const;
  Status ReadLong(const nlohmann::json& done, size_t num_calls, bool is_empty, CallResult* result);
  // Before the next candidate of the same process.
  void Forget();

 private:
  std::string structure_;  // of the last long one …
  std::vector<OutputTensor> outputs_;
  std::map<uint64_t, nlohmann::json> exports_;  // CUDA: data pointer -> how the oracle opens it
};

}  // namespace davinci::judge
