// Any bytes as a chat template: an error with a message, or text, in bounded time and memory.
#include <cstdlib>
#include <string_view>

#include "davinci/text/jinja.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::text;
  const auto parsed =
      JinjaTemplate::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed.ok()) {
    if (parsed.status().message().empty()) std::abort();
    return 0;
  }
  static const auto variables = nlohmann::ordered_json::parse(
      R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},
          {"role":"assistant","content":"<think>a</think>b"},{"role":"user","content":"v"}],
          "tools":[{"function":{"name":"f","parameters":{"type":"object"}}}],
          "add_generation_prompt":true,"bos_token":"<s>","l":[1,2,3],"d":{"a":1},"s":"na\u00efve"})");
  const auto text = parsed->Render(variables);
  if (!text.ok() && text.status().message().empty()) std::abort();
  return 0;
}
