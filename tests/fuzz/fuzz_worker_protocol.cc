// Frames of the worker protocol come from a hostile process: any payload gives a message or an
// error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "davinci/worker/channel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::worker;
  const auto body = DecodePayload({reinterpret_cast<const char*>(data), size});
  if (!body.ok()) return 0;
  // What was decoded can be sent on, and arrives unchanged.
  const std::string frame = EncodeFrame(*body);
  const auto again = DecodePayload(std::string_view(frame).substr(4));
  if (!again.ok() || *again != *body) std::abort();
  return 0;
}
