// What the tracer says of a user's module, as it comes from a process that runs the user's code.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "davinci/import/import_graph.h"
#include "davinci/import/traced_module.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto document = nlohmann::json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  if (const auto module = davinci::import::ParseTracedModule(document); module.ok())
    (void)davinci::import::ImportGraph(*module, {"Model", "ModelNew"});
  return 0;
}
