// Code in whatever a model writes: any bytes give a source that defines the class, or a diagnosis.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "davinci/llm/code_extraction.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::llm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const FinishReason finish : {FinishReason::kStop, FinishReason::kLength}) {
    const Extraction got = ExtractCode(text, finish, "ModelNew");
    if (!got.ok()) {
      if (got.diagnosis.find("class ModelNew") == std::string::npos || !got.source.empty())
        std::abort();
      continue;
    }
    if (got.source.find("ModelNew") == std::string::npos || !got.source.ends_with('\n'))
      std::abort();
    // In a fence of its own, longer than any inside, the source is found again. (Code that holds a
    // thinking tag is the one exception: a stray closing tag hides what is before it.)
    if (got.source.find("think") != std::string::npos) continue;
    const std::string fence(size + 3, '`');
    const Extraction again =
        ExtractCode(fence + "\n" + got.source + fence + "\n", FinishReason::kStop, "ModelNew");
    if (!again.ok()) std::abort();
  }
  return 0;
}
