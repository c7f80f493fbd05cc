// The text and weights modules as a program, so that Python tests can compare them with the
// packages they must agree with. Requests are one JSON object a line, so are the answers.
//
//   {"do":"load","path":…}                            {"ok":true,"vocab":…,"digest":…}
//   {"do":"encode","text":…,"parse_special":…,"add_special":…}   {"ids":[…]}
//   {"do":"encode_many","texts":[…]}                  {"ids":[[…],…]}
//   {"do":"encode_hex","hex":…}                       {"ids":[…]}
//   {"do":"decode","ids":[…],"skip_special":…}        {"text":…,"streamed":…}
//   {"do":"bytes","ids":[…]}                          {"hex":…}
// An error is {"error":…}.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "davinci/base/json_text.h"
#include "davinci/text/incremental_decoder.h"
#include "davinci/text/tokenizer.h"

namespace {

using davinci::Result;
using davinci::text::Tokenizer;
using nlohmann::json;

std::optional<Tokenizer> tokenizer;

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

Result<json> Answer(const json& request) {
  const std::string what = request.at("do");
  if (what == "load") {
    DAVINCI_ASSIGN_OR_RETURN(tokenizer, Tokenizer::Load(request.at("path").get<std::string>()));
    return json{{"ok", true},
                {"vocab", tokenizer->vocab_size()},
                {"digest", tokenizer->digest()},
                {"bos", tokenizer->bos_id()},
                {"eos", tokenizer->eos_id()},
                {"chat_template", tokenizer->chat_template()}};
  }
  if (what == "encode" || what == "encode_hex") {
    const std::string text = what == "encode" ? request.at("text").get<std::string>()
                                              : FromHex(request.at("hex").get<std::string>());
    DAVINCI_ASSIGN_OR_RETURN(const auto ids,
                             tokenizer->Encode(text, {request.value("parse_special", true),
                                                      request.value("add_special", false)}));
    return json{{"ids", ids}};
  }
  if (what == "encode_many") {
    json lists = json::array();
    for (const json& text : request.at("texts")) {
      DAVINCI_ASSIGN_OR_RETURN(const auto ids, tokenizer->Encode(text.get<std::string>()));
      lists.push_back(ids);
    }
    return json{{"ids", lists}};
  }
  if (what == "decode") {
    const auto ids = request.at("ids").get<std::vector<int32_t>>();
    const bool skip = request.value("skip_special", false);
    davinci::text::IncrementalDecoder decoder(*tokenizer, skip);
    std::string streamed;
    bool whole = true;
    for (const int32_t id : ids) {
      const std::string piece = decoder.Push(id);
      whole = whole && json::accept(davinci::JsonText(json(piece)));
      streamed += piece;
    }
    streamed += decoder.Finish();
    return json{{"text", tokenizer->Decode(ids, skip)}, {"streamed", streamed}};
  }
  if (what == "bytes") {
    std::string bytes;
    for (const int32_t id : request.at("ids").get<std::vector<int32_t>>())
      bytes += tokenizer->TokenBytes(id);
    return json{{"hex", ToHex(bytes)}};
  }
  return davinci::InvalidArgument("unknown request " + what);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = Answer(json::parse(line));
    const json reply = answer.ok() ? *answer : json{{"error", answer.status().ToString()}};
    std::cout << davinci::JsonText(reply) << std::endl;
  }
}
