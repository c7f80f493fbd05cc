// Any bytes as a config.json: an error with a message, or a configuration that is consistent and
// survives being written.
#include <cstdlib>
#include <string_view>

#include "davinci/base/json_text.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/rope_frequencies.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::weights;
  const auto config =
      ParseModelConfig(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!config.ok()) {
    if (config.status().message().empty()) std::abort();
    return 0;
  }
  if (config->num_kv_heads < 1 || config->num_heads % config->num_kv_heads != 0) std::abort();
  if (config->head_dim < 2 || config->head_dim % 2 != 0) std::abort();
  if (config->head_dim < 1 << 16 && ComputeRopeFrequencies(*config, 1000).inverse.size() !=
                                        static_cast<size_t>(config->head_dim / 2))
    std::abort();
  const auto written = ToHfConfig(*config);
  if (!written.ok()) std::abort();
  const auto again = ParseModelConfig(davinci::JsonText(*written), "again");
  if (!again.ok() || !(*again == *config)) std::abort();
  return 0;
}
