// Build requests come from the sandboxed runner: any text gives a request within its limits, or an
// error.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "davinci/build/request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::build;
  const auto request = ParseBuildRequest({reinterpret_cast<const char*>(data), size});
  if (!request.ok()) {
    if (request.status().message().empty()) std::abort();
    return 0;
  }
  // The name becomes a file name and a C identifier.
  if (request->name.empty() || request->name.find_first_of("/.\0 \n\"") != std::string::npos)
    std::abort();
  for (const auto* flags :
       {&request->extra_cflags, &request->extra_cuda_cflags, &request->extra_ldflags}) {
    if (flags->size() > kMaxFlags) std::abort();
  }
  const auto again = ParseBuildRequest(ToJson(*request).dump());
  if (!again.ok() || ToJson(*again) != ToJson(*request)) std::abort();
  return 0;
}
