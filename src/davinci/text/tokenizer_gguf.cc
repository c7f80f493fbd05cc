// TokenizerDefinition from the metadata of a GGUF file.
#include <fmt/format.h>

#include <array>

#include "davinci/text/byte_alphabet.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {
namespace {

using weights::GgufArray;
using weights::GgufHeader;

constexpr std::string_view kDigits = R"(\p{N})";

struct NamedPreTokenizer {
  std::string_view name;
  std::array<std::string_view, 2> patterns;
  bool nfc;
  bool ignore_merges;
};

constexpr std::array<NamedPreTokenizer, 4> kPreTokenizers = {
    {{"gpt-2", {kGpt2Pattern, ""}, false, false},
     {"llama-bpe", {kLlama3Pattern, ""}, false, true},
     {"qwen2", {kQwen2Pattern, ""}, true, false},
     {"smollm", {kDigits, kGpt2Pattern}, false, false}}};

// llama.cpp's token types.
constexpr int64_t kControl = 3;
constexpr int64_t kUserDefined = 4;
constexpr int64_t kUnused = 5;

Result<const GgufArray*> Array(const GgufHeader& header, std::string_view key) {
  const weights::GgufValue* value = header.Find(key);
  const auto* array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (array == nullptr) return InvalidArgument(fmt::format("{} is not an array", key));
  return array;
}

Status ReadVocabulary(const GgufHeader& header, TokenizerDefinition* definition) {
  DAVINCI_ASSIGN_OR_RETURN(const GgufArray* tokens, Array(header, "tokenizer.ggml.tokens"));
  DAVINCI_ASSIGN_OR_RETURN(const GgufArray* merges, Array(header, "tokenizer.ggml.merges"));
  if (tokens->type != weights::GgufType::kString || merges->type != weights::GgufType::kString)
    return InvalidArgument("tokenizer.ggml.tokens and merges must be strings");
  const GgufArray* types = nullptr;
  if (header.Find("tokenizer.ggml.token_type") != nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(types, Array(header, "tokenizer.ggml.token_type"));
    if (types->integers.size() != tokens->strings.size())
      return InvalidArgument("tokenizer.ggml.token_type does not name one type for each token");
  }
  for (size_t id = 0; id < tokens->strings.size(); ++id) {
    const std::string text(tokens->strings[id]);
    const int64_t type = types == nullptr ? 1 : types->integers[id];
    if (text.empty()) return InvalidArgument(fmt::format("token {} is empty", id));
    definition->tokens.emplace_back();
    if (type == kControl || type == kUserDefined) {
      AddedToken token;
      token.id = static_cast<int32_t>(id);
      token.content = text;
      token.special = type == kControl;
      definition->added.push_back(std::move(token));
    } else if (type != kUnused) {
      definition->tokens.back() = text;
    }
  }
  for (const std::string_view merge : merges->strings) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size())
      return InvalidArgument(fmt::format("merge \"{}\" is not a pair", merge));
    definition->merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return Status::Ok();
}

Result<int32_t> SpecialId(const GgufHeader& header, std::string_view key,
                          const TokenizerDefinition& definition) {
  DAVINCI_ASSIGN_OR_RETURN(const auto id, header.Integer(key));
  if (!id) return -1;
  if (*id < 0 || static_cast<size_t>(*id) >= definition.tokens.size())
    return InvalidArgument(fmt::format("{} is {}, which is not a token", key, *id));
  return static_cast<int32_t>(*id);
}

Result<TokenizerDefinition> Read(const GgufHeader& header) {
  TokenizerDefinition definition;
  DAVINCI_ASSIGN_OR_RETURN(const auto model, header.String("tokenizer.ggml.model"));
  if (!model) return InvalidArgument("holds no tokenizer (tokenizer.ggml.model)");
  if (*model != "gpt2")
    return InvalidArgument(fmt::format(
        "tokenizer.ggml.model \"{}\" is not supported, only gpt2 (byte-level BPE)", *model));
  DAVINCI_ASSIGN_OR_RETURN(const auto pre, header.String("tokenizer.ggml.pre"));
  const NamedPreTokenizer* known = nullptr;
  for (const NamedPreTokenizer& row : kPreTokenizers)
    if (row.name == pre.value_or("")) known = &row;
  if (known == nullptr)
    return InvalidArgument(
        fmt::format("tokenizer.ggml.pre \"{}\" is not supported; supported are "
                    "gpt-2, llama-bpe, qwen2 and smollm",
                    pre.value_or("")));
  for (const std::string_view pattern : known->patterns)
    if (!pattern.empty()) definition.patterns.emplace_back(pattern);
  definition.nfc = known->nfc;
  definition.ignore_merges = known->ignore_merges;
  DAVINCI_RETURN_IF_ERROR(ReadVocabulary(header, &definition));
  DAVINCI_ASSIGN_OR_RETURN(definition.bos_id,
                           SpecialId(header, "tokenizer.ggml.bos_token_id", definition));
  DAVINCI_ASSIGN_OR_RETURN(definition.eos_id,
                           SpecialId(header, "tokenizer.ggml.eos_token_id", definition));
  DAVINCI_ASSIGN_OR_RETURN(definition.pad_id,
                           SpecialId(header, "tokenizer.ggml.padding_token_id", definition));
  DAVINCI_ASSIGN_OR_RETURN(const auto add_bos, header.Boolean("tokenizer.ggml.add_bos_token"));
  DAVINCI_ASSIGN_OR_RETURN(const auto add_eos, header.Boolean("tokenizer.ggml.add_eos_token"));
  // Llama-3 files without the key add it, as llama.cpp does for this pre-tokenizer.
  if (add_bos.value_or(known->name == "llama-bpe") && definition.bos_id >= 0)
    definition.prefix = {definition.bos_id};
  if (add_eos.value_or(false) && definition.eos_id >= 0) definition.suffix = {definition.eos_id};
  DAVINCI_ASSIGN_OR_RETURN(const auto chat, header.String("tokenizer.chat_template"));
  definition.chat_template = chat.value_or("");
  return definition;
}

}  // namespace

Result<TokenizerDefinition> ReadGgufTokenizer(const GgufHeader& header, std::string_view name) {
  auto definition = Read(header);
  if (!definition.ok()) return definition.status().Annotate(name);
  return definition;
}

std::string GgufPreTokenizerName(const TokenizerDefinition& definition) {
  for (const NamedPreTokenizer& row : kPreTokenizers) {
    std::vector<std::string> patterns;
    for (const std::string_view pattern : row.patterns)
      if (!pattern.empty()) patterns.emplace_back(pattern);
    if (patterns == definition.patterns && row.nfc == definition.nfc &&
        row.ignore_merges == definition.ignore_merges && !definition.add_prefix_space)
      return std::string(row.name);
  }
  return "";
}

}  // namespace davinci::text
