// A model's own chat template (Jinja): messages, tools and the thinking switch to what the model is
// prompted with.
//
// The template language is the part of Jinja that chat templates of the Llama and Qwen families use
// (jinja.h lists it); anything else is an error when the template is parsed. Rendering runs no code
// of the template outside that language and has limits on steps and output.
//
// Token in, token out: an assistant message may carry the ids it was sampled as. They stand in the
// prompt as they are, behind the very prompt they were sampled from: text that another run of the
// tokenizer could split in another way is never made of them, and what a template does to the text
// of earlier replies (Qwen3 removes their thinking) does not happen to them.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/text/tokenizer.h"

namespace davinci::text {

struct ChatToolCall {
  std::string name;
  std::string arguments;  // JSON text; an object is handed to the template as one, else as text
};

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  std::vector<ChatToolCall> tool_calls;     // of an assistant message
  std::optional<std::string> reasoning;     // the template's `reasoning_content`
  std::optional<std::vector<int32_t>> ids;  // of an assistant message: exactly what was sampled
};

struct ChatTool {
  std::string name;
  std::string description;
  nlohmann::ordered_json parameters;  // a JSON schema; keys keep their order
};

struct ChatOptions {
  bool add_generation_prompt = true;
  // The template's `enable_thinking`; nothing: not defined, the template decides.
  std::optional<bool> enable_thinking;
  // Further variables ("date_string"), as the caller of apply_chat_template would pass them.
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
};

// Either text or ids.
struct ChatSegment {
  std::string text;
  std::vector<int32_t> ids;
  bool is_ids = false;
  bool operator==(const ChatSegment&) const = default;
};

class ChatTemplate {
 public:
  // InvalidArgument names line and construct. bos_token and eos_token become the template's
  // variables.
  static Result<ChatTemplate> Parse(std::string_view source, std::string bos_token = "",
                                    std::string eos_token = "");
  // The tokenizer's own; FailedPrecondition when its files have none.
  static Result<ChatTemplate> Of(const Tokenizer& tokenizer);

  // The whole conversation as text; ids of messages are not looked at, their content is.
  // InvalidArgument: the template refuses (raise_exception) or fails; the message says where.
  Result<std::string> Render(std::span<const ChatMessage> messages, std::span<const ChatTool> tools,
                             const ChatOptions& options) const;

  // The conversation with ids where messages carry them. The prompt up to and including the ids of
  // message k is RenderSegments(messages before k, add_generation_prompt) and these ids, so a
  // longer conversation begins with the prompt and the reply of the shorter one. If the ids end
  // with the token by which the template ends a turn, it does not stand twice.
  Result<std::vector<ChatSegment>> RenderSegments(std::span<const ChatMessage> messages,
                                                  std::span<const ChatTool> tools,
                                                  const ChatOptions& options,
                                                  const Tokenizer& tokenizer) const;

  // RenderSegments as ids: text is encoded with special tokens recognised.
  Result<std::vector<int32_t>> RenderIds(std::span<const ChatMessage> messages,
                                         std::span<const ChatTool> tools,
                                         const ChatOptions& options,
                                         const Tokenizer& tokenizer) const;

 private:
  struct Program;
  explicit ChatTemplate(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace davinci::text
