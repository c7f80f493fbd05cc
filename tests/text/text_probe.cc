// The text and weights modules as a program, so that Python tests can compare them with the
// packages they must agree with. Requests are one JSON object a line, so are the answers.
//
//   {"do":"load","path":…}                            {"ok":true,"vocab":…,"digest":…}
//   {"do":"encode","text":…,"parse_special":…,"add_special":…}   {"ids":[…]}
//   {"do":"encode_many","texts":[…]}                  {"ids":[[…],…]}
//   {"do":"encode_hex","hex":…}                       {"ids":[…]}
//   {"do":"decode","ids":[…],"skip_special":…}        {"text":…,"streamed":…}
//   {"do":"render","template":…,"messages":[…],"tools":[…],"generate":…,"thinking":…,"variables":{…}}
//   {"text":…}
//   {"do":"segments", … as render}                    {"ids":[…],"segments":[…]}
//   {"do":"tensor","path":…,"name":…}                 {"shape":[…],"hex":…} of fp32, "bf16" of bf16
//   {"do":"rope","config":…,"length":…}               {"inverse":[…],"factor":…}
//   {"do":"bytes","ids":[…]}                          {"hex":…}
// An error is {"error":…}.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "davinci/base/json_text.h"
#include "davinci/text/chat_template.h"
#include "davinci/text/incremental_decoder.h"
#include "davinci/text/tokenizer.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/rope_frequencies.h"
#include "davinci/weights/tensor_file.h"

namespace {

using davinci::Result;
using davinci::text::Tokenizer;
using nlohmann::json;

std::optional<Tokenizer> loaded;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

Result<json> Render(const nlohmann::ordered_json& request) {
  using namespace davinci::text;
  std::vector<ChatMessage> messages;
  for (const auto& given : request.at("messages")) {
    ChatMessage message;
    message.role = given.at("role");
    message.content = given.value("content", "");
    if (given.contains("reasoning_content")) message.reasoning = given["reasoning_content"];
    if (given.contains("ids")) message.ids = given["ids"].get<std::vector<int32_t>>();
    if (given.contains("tool_calls"))
      for (const auto& call : given["tool_calls"])
        message.tool_calls.push_back(
            {call["function"]["name"], call["function"]["arguments"].dump()});
    messages.push_back(std::move(message));
  }
  std::vector<ChatTool> tools;
  if (request.contains("tools"))
    for (const auto& tool : request["tools"])
      tools.push_back({tool["function"]["name"], tool["function"]["description"],
                       tool["function"]["parameters"]});
  ChatOptions options;
  options.add_generation_prompt = request.value("generate", true);
  if (request.contains("thinking")) options.enable_thinking = request["thinking"].get<bool>();
  if (request.contains("variables")) options.variables = request["variables"];
  DAVINCI_ASSIGN_OR_RETURN(const auto chat,
                           ChatTemplate::Parse(request.at("template").get<std::string>(),
                                               request.value("bos", ""), request.value("eos", "")));
  if (request.at("do") == "render") {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, chat.Render(messages, tools, options));
    return json{{"text", text}};
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto segments,
                           chat.RenderSegments(messages, tools, options, loaded.value()));
  DAVINCI_ASSIGN_OR_RETURN(const auto ids,
                           chat.RenderIds(messages, tools, options, loaded.value()));
  json list = json::array();
  for (const ChatSegment& segment : segments)
    list.push_back(segment.is_ids ? json(segment.ids) : json(segment.text));
  return json{{"segments", list}, {"ids", ids}};
}

Result<json> Answer(const nlohmann::ordered_json& request) {
  const std::string what = request.at("do");
  if (what == "load") {
    DAVINCI_ASSIGN_OR_RETURN(loaded, Tokenizer::Load(request.at("path").get<std::string>()));
    return json{{"ok", true},
                {"vocab", loaded.value().vocab_size()},
                {"digest", loaded.value().digest()},
                {"bos", loaded.value().bos_id()},
                {"eos", loaded.value().eos_id()},
                {"chat_template", loaded.value().chat_template()}};
  }
  if (what == "encode" || what == "encode_hex") {
    const std::string text = what == "encode" ? request.at("text").get<std::string>()
                                              : FromHex(request.at("hex").get<std::string>());
    DAVINCI_ASSIGN_OR_RETURN(const auto ids,
                             loaded.value().Encode(text, {request.value("parse_special", true),
                                                          request.value("add_special", false)}));
    return json{{"ids", ids}};
  }
  if (what == "encode_many") {
    json lists = json::array();
    for (const auto& text : request.at("texts")) {
      DAVINCI_ASSIGN_OR_RETURN(const auto ids, loaded.value().Encode(text.get<std::string>()));
      lists.push_back(ids);
    }
    return json{{"ids", lists}};
  }
  if (what == "decode") {
    const auto ids = request.at("ids").get<std::vector<int32_t>>();
    const bool skip = request.value("skip_special", false);
    davinci::text::IncrementalDecoder decoder(loaded.value(), skip);
    std::string streamed;
    bool whole = true;
    for (const int32_t id : ids) {
      const std::string piece = decoder.Push(id);
      whole = whole && json::accept(davinci::JsonText(json(piece)));
      streamed += piece;
    }
    streamed += decoder.Finish();
    return json{{"text", loaded.value().Decode(ids, skip)}, {"streamed", streamed}};
  }
  if (what == "tensor") {
    using namespace davinci::weights;
    DAVINCI_ASSIGN_OR_RETURN(const auto file,
                             TensorFile::Open(request.at("path").get<std::string>()));
    const Tensor* tensor = file.Find(request.at("name").get<std::string>());
    if (tensor == nullptr) return davinci::NotFound("no such tensor");
    std::vector<float> values(static_cast<size_t>(tensor->num_elements()));
    std::vector<uint16_t> halves(values.size());
    DAVINCI_RETURN_IF_ERROR(ReadFloat32(*tensor, values));
    DAVINCI_RETURN_IF_ERROR(ReadBFloat16(*tensor, halves));
    return json{{"shape", tensor->shape},
                {"hex", ToHex({reinterpret_cast<const char*>(values.data()), values.size() * 4})},
                {"bf16", ToHex({reinterpret_cast<const char*>(halves.data()), halves.size() * 2})}};
  }
  if (what == "rope") {
    using namespace davinci::weights;
    DAVINCI_ASSIGN_OR_RETURN(const auto config,
                             ParseModelConfig(request.at("config").dump(), "config"));
    const auto rope = ComputeRopeFrequencies(config, request.value("length", 0));
    return json{{"inverse", rope.inverse}, {"factor", rope.attention_factor}};
  }
  if (what == "render" || what == "segments") return Render(request);
  if (what == "bytes") {
    std::string bytes;
    for (const int32_t id : request.at("ids").get<std::vector<int32_t>>())
      bytes += loaded.value().TokenBytes(id);
    return json{{"hex", ToHex(bytes)}};
  }
  return davinci::InvalidArgument("unknown request " + what);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = Answer(nlohmann::ordered_json::parse(line));
    const json reply = answer.ok() ? *answer : json{{"error", answer.status().ToString()}};
    std::cout << davinci::JsonText(reply) << '\n' << std::flush;
  }
}
