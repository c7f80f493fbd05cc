// The task sidecar: any bytes give a configuration or an error with a message.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "davinci/config/task_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::config;
  const auto config = ParseTaskConfig({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!config.ok()) {
    if (config.status().message().find("fuzz.toml") == std::string::npos) std::abort();
    return 0;
  }
  // What was accepted must be usable: exactly one entry point, and globals that survive the way to
  // the worker.
  if (config->entry.empty() && config->function.empty() == config->op.empty()) std::abort();
  for (size_t i = 0; i < config->variants.size(); ++i) {
    for (const char* target : {"cpu", "cuda"}) {
      const Json globals = config->Globals(target, i);
      if (Json::parse(globals.dump()) != globals) std::abort();
    }
  }
  return 0;
}
