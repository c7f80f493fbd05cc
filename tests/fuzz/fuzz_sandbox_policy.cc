// Sandbox policies arrive as text through the C ABI: what is accepted must be safe and must come
// back from its dump.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/sandbox/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::sandbox;
  const auto spec = SpecFromText(std::string(reinterpret_cast<const char*>(data), size));
  if (!spec.ok()) {
    if (spec.status().message().empty()) std::abort();
    return 0;
  }
  for (const auto* paths : {&spec->policy.read_only_paths, &spec->policy.read_write_paths}) {
    for (const std::string& path : *paths) {
      if (path.empty() || path[0] != '/' || path == "/") std::abort();
    }
  }
  const auto again = SpecFromText(ToJson(*spec).dump());
  if (!again.ok() || !(again->policy == spec->policy)) std::abort();
  return 0;
}
