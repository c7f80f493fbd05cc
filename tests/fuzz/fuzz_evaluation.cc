// Stored evaluations are read back from files that users may edit: any document gives an evaluation
// or an error.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "davinci/data/evaluation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return 0;
  const auto evaluation = davinci::EvaluationFromJson(document);
  if (!evaluation.ok()) return 0;
  const nlohmann::json dump = davinci::ToJson(*evaluation);
  const auto again = davinci::EvaluationFromJson(dump);
  if (!again.ok() || davinci::ToJson(*again) != dump) std::abort();
  return 0;
}
