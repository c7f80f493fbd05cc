// TokenizerDefinition from and to tokenizer.json and tokenizer_config.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/text/byte_alphabet.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kLargestFile_bytes = 256 << 20;

Status Unsupported(std::string_view what) {
  return InvalidArgument(fmt::format("{} is not supported", what));
}

bool IsSet(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

std::string TypeOf(const json& value) {
  const auto type = value.is_object() ? value.find("type") : value.end();
  if (!value.is_object() || type == value.end() || !type->is_string()) return "";
  return type->get<std::string>();
}

Result<bool> Flag(const json& object, const char* key, bool absent) {
  if (!IsSet(object, key)) return absent;
  if (!object[key].is_boolean()) return InvalidArgument(fmt::format("{} is not a boolean", key));
  return object[key].get<bool>();
}

Result<int32_t> Id(const json& value, std::string_view what, size_t limit) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() >= limit)
    return InvalidArgument(
        fmt::format("{}: {} is not an id below {}", what, JsonText(value), limit));
  return static_cast<int32_t>(value.get<uint64_t>());
}

std::string EscapeForPattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if ((c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
        (c >= '{' && c <= '~'))
      pattern += '\\';
    pattern += c;
  }
  return pattern;
}

Status ReadModel(const json& model, TokenizerDefinition* definition) {
  if (!model.is_object()) return InvalidArgument("model is not an object");
  const std::string type = TypeOf(model);
  if (type != "BPE" && !(type.empty() && model.contains("merges")))
    return Unsupported(fmt::format("model.type \"{}\" (only byte-level BPE)", type));
  for (const char* key :
       {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"}) {
    // NOLINTNEXTLINE(readability-container-size-empty): empty() is false for the JSON text ""
    if (IsSet(model, key) && model[key] != "" && model[key] != 0.0)
      return Unsupported(fmt::format("model.{}", key));
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool fallback, Flag(model, "byte_fallback", false));
  if (fallback) return Unsupported("model.byte_fallback");
  DAVINCI_ASSIGN_OR_RETURN(definition->ignore_merges, Flag(model, "ignore_merges", false));

  if (!IsSet(model, "vocab") || !model["vocab"].is_object())
    return InvalidArgument("model.vocab is not an object");
  const json& vocab = model["vocab"];
  // Ids have few gaps; a table by id must not be larger than the file justifies.
  const size_t limit = vocab.size() * 2 + 65536;
  for (const auto& [token, value] : vocab.items()) {
    DAVINCI_ASSIGN_OR_RETURN(const int32_t id, Id(value, "model.vocab", limit));
    auto& tokens = definition->tokens;
    if (static_cast<size_t>(id) >= tokens.size()) tokens.resize(static_cast<size_t>(id) + 1);
    if (token.empty()) return InvalidArgument("model.vocab has an empty token");
    if (!tokens[static_cast<size_t>(id)].empty())
      return InvalidArgument(fmt::format("model.vocab: \"{}\" and \"{}\" share id {}", token,
                                         tokens[static_cast<size_t>(id)], id));
    tokens[static_cast<size_t>(id)] = token;
  }
  if (!IsSet(model, "merges") || !model["merges"].is_array())
    return InvalidArgument("model.merges is not an array");
  for (const json& merge : model["merges"]) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      definition->merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == std::string::npos || space == 0 || space + 1 == text.size() ||
        text.find(' ', space + 1) != std::string::npos)
      return InvalidArgument(fmt::format("model.merges: {} is not a pair", JsonText(merge)));
    definition->merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return Status::Ok();
}

Status ReadNormalizer(const json& normalizer, TokenizerDefinition* definition) {
  const std::string type = TypeOf(normalizer);
  if (type == "NFC") {
    definition->nfc = true;
    return Status::Ok();
  }
  if (type == "Sequence" && normalizer.contains("normalizers") &&
      normalizer["normalizers"].is_array()) {
    for (const json& part : normalizer["normalizers"]) {
      if (TypeOf(part) == "Sequence") return Unsupported("a normalizer sequence in a sequence");
      DAVINCI_RETURN_IF_ERROR(ReadNormalizer(part, definition));
    }
    return Status::Ok();
  }
  return Unsupported(fmt::format("normalizer \"{}\" (only NFC)", type));
}

Status ReadPreTokenizer(const json& part, bool nested, bool* byte_level,
                        TokenizerDefinition* definition) {
  const std::string type = TypeOf(part);
  if (*byte_level) return Unsupported("a pre-tokenizer behind ByteLevel");
  if (type == "Sequence" && !nested) {
    if (!part.contains("pretokenizers") || !part["pretokenizers"].is_array())
      return InvalidArgument("pre_tokenizer.pretokenizers is not an array");
    for (const json& inner : part["pretokenizers"])
      DAVINCI_RETURN_IF_ERROR(ReadPreTokenizer(inner, true, byte_level, definition));
    return Status::Ok();
  }
  if (type == "ByteLevel") {
    *byte_level = true;
    DAVINCI_ASSIGN_OR_RETURN(const bool prefix, Flag(part, "add_prefix_space", true));
    DAVINCI_ASSIGN_OR_RETURN(const bool regex, Flag(part, "use_regex", true));
    if (prefix && !definition->patterns.empty())
      return Unsupported("add_prefix_space behind another pre-tokenizer");
    definition->add_prefix_space = prefix;
    if (regex) definition->patterns.emplace_back(kGpt2Pattern);
    return Status::Ok();
  }
  if (type == "Digits") {
    DAVINCI_ASSIGN_OR_RETURN(const bool individual, Flag(part, "individual_digits", false));
    definition->patterns.emplace_back(individual ? R"(\p{N})" : R"(\p{N}+)");
    return Status::Ok();
  }
  if (type == "Split") {
    const auto behavior = part.find("behavior");
    if (behavior == part.end() || *behavior != "Isolated")
      return Unsupported("pre_tokenizer Split with a behavior other than Isolated");
    // With Isolated the pieces are the same whichever side is called the delimiter.
    const auto pattern = part.find("pattern");
    if (pattern == part.end() || !pattern->is_object() || pattern->size() != 1)
      return InvalidArgument("pre_tokenizer.pattern is neither Regex nor String");
    const std::string kind = pattern->begin().key();
    const json& text = pattern->begin().value();
    if (!text.is_string() || text.get<std::string>().empty())
      return InvalidArgument("pre_tokenizer.pattern is empty");
    if (kind == "Regex")
      definition->patterns.push_back(text.get<std::string>());
    else if (kind == "String")
      definition->patterns.push_back(EscapeForPattern(text.get<std::string>()));
    else
      return Unsupported(fmt::format("pre_tokenizer pattern \"{}\"", kind));
    return Status::Ok();
  }
  return Unsupported(fmt::format("pre_tokenizer \"{}\"", type));
}

Status ReadPostProcessor(const json& part, bool nested, TokenizerDefinition* definition) {
  const std::string type = TypeOf(part);
  if (type == "ByteLevel") return Status::Ok();  // it changes offsets, not ids
  if (type == "Sequence" && !nested) {
    if (!part.contains("processors") || !part["processors"].is_array())
      return InvalidArgument("post_processor.processors is not an array");
    for (const json& inner : part["processors"])
      DAVINCI_RETURN_IF_ERROR(ReadPostProcessor(inner, true, definition));
    return Status::Ok();
  }
  if (type != "TemplateProcessing") return Unsupported(fmt::format("post_processor \"{}\"", type));
  if (!part.contains("single") || !part["single"].is_array())
    return InvalidArgument("post_processor.single is not an array");
  std::vector<int32_t>* side = &definition->prefix;
  for (const json& item : part["single"]) {
    if (item.is_object() && item.contains("Sequence")) {
      if (side == &definition->suffix)
        return InvalidArgument("post_processor.single has two sequences");
      side = &definition->suffix;
      continue;
    }
    const json* name = nullptr;
    if (item.is_object() && item.contains("SpecialToken") && item["SpecialToken"].is_object() &&
        item["SpecialToken"].contains("id"))
      name = &item["SpecialToken"]["id"];
    if (name == nullptr || !name->is_string())
      return InvalidArgument("post_processor.single has an item of unknown kind");
    const auto key = name->get<std::string>();
    if (!part.contains("special_tokens") || !part["special_tokens"].is_object() ||
        !part["special_tokens"].contains(key) || !part["special_tokens"][key].is_object() ||
        !part["special_tokens"][key].contains("ids") ||
        !part["special_tokens"][key]["ids"].is_array())
      return InvalidArgument(
          fmt::format("post_processor.special_tokens has no ids of \"{}\"", key));
    for (const json& id : part["special_tokens"][key]["ids"]) {
      DAVINCI_ASSIGN_OR_RETURN(const int32_t token, Id(id, "post_processor", size_t{1} << 30));
      side->push_back(token);
    }
  }
  return Status::Ok();
}

Status ReadDecoder(const json& part) {
  const std::string type = TypeOf(part);
  if (type == "ByteLevel") return Status::Ok();
  if (type == "Sequence" && part.contains("decoders") && part["decoders"].is_array() &&
      part["decoders"].size() == 1 && TypeOf(part["decoders"][0]) == "ByteLevel")
    return Status::Ok();
  return Unsupported(fmt::format("decoder \"{}\" (only ByteLevel)", type));
}

Status ReadAdded(const json& list, TokenizerDefinition* definition) {
  if (!list.is_array()) return InvalidArgument("added_tokens is not an array");
  const size_t limit = (definition->tokens.size() + list.size()) * 2 + 65536;
  std::set<std::string> contents;
  for (const json& item : list) {
    if (!item.is_object() || !item.contains("content") || !item["content"].is_string() ||
        !item.contains("id"))
      return InvalidArgument("added_tokens has an item without id and content");
    AddedToken token;
    token.content = item["content"].get<std::string>();
    DAVINCI_ASSIGN_OR_RETURN(token.id, Id(item["id"], "added_tokens", limit));
    DAVINCI_ASSIGN_OR_RETURN(token.special, Flag(item, "special", false));
    DAVINCI_ASSIGN_OR_RETURN(token.single_word, Flag(item, "single_word", false));
    DAVINCI_ASSIGN_OR_RETURN(token.lstrip, Flag(item, "lstrip", false));
    DAVINCI_ASSIGN_OR_RETURN(token.rstrip, Flag(item, "rstrip", false));
    DAVINCI_ASSIGN_OR_RETURN(token.normalized, Flag(item, "normalized", !token.special));
    if (token.content.empty()) return InvalidArgument("added_tokens has an empty token");
    if (!contents.insert(token.content).second)
      return InvalidArgument(fmt::format("added_tokens has \"{}\" twice", token.content));
    definition->added.push_back(std::move(token));
  }
  return Status::Ok();
}

Result<TokenizerDefinition> Read(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return InvalidArgument("not a JSON object");
  for (const auto& [key, value] : root.items()) {
    static const std::set<std::string, std::less<>> kKnown = {
        "version",       "truncation",     "padding", "added_tokens", "normalizer",
        "pre_tokenizer", "post_processor", "decoder", "model"};
    if (!kKnown.contains(key) && !value.is_null()) return Unsupported("member " + key);
  }
  TokenizerDefinition definition;
  if (!IsSet(root, "model")) return InvalidArgument("no model");
  DAVINCI_RETURN_IF_ERROR(ReadModel(root["model"], &definition));
  if (IsSet(root, "normalizer"))
    DAVINCI_RETURN_IF_ERROR(ReadNormalizer(root["normalizer"], &definition));
  bool byte_level = false;
  if (IsSet(root, "pre_tokenizer"))
    DAVINCI_RETURN_IF_ERROR(
        ReadPreTokenizer(root["pre_tokenizer"], false, &byte_level, &definition));
  if (!byte_level) return Unsupported("a tokenizer without the ByteLevel pre-tokenizer");
  if (IsSet(root, "post_processor"))
    DAVINCI_RETURN_IF_ERROR(ReadPostProcessor(root["post_processor"], false, &definition));
  if (!IsSet(root, "decoder")) return InvalidArgument("no decoder");
  DAVINCI_RETURN_IF_ERROR(ReadDecoder(root["decoder"]));
  if (IsSet(root, "added_tokens"))
    DAVINCI_RETURN_IF_ERROR(ReadAdded(root["added_tokens"], &definition));
  return definition;
}

std::optional<int32_t> IdOf(const TokenizerDefinition& definition, std::string_view content) {
  for (const AddedToken& token : definition.added)
    if (token.content == content) return token.id;
  const auto found =
      std::find(definition.tokens.begin(), definition.tokens.end(), ToByteAlphabet(content));
  if (found == definition.tokens.end() || content.empty()) return std::nullopt;
  return static_cast<int32_t>(found - definition.tokens.begin());
}

std::string ContentOf(const TokenizerDefinition& definition, int32_t id) {
  for (const AddedToken& token : definition.added)
    if (token.id == id) return token.content;
  if (id < 0 || static_cast<size_t>(id) >= definition.tokens.size()) return "";
  const std::string& token = definition.tokens[static_cast<size_t>(id)];
  return FromByteAlphabet(token).value_or(token);
}

}  // namespace

Result<TokenizerDefinition> ReadTokenizerJson(std::string_view text, std::string_view name) {
  auto definition = Read(text);
  if (!definition.ok()) return definition.status().Annotate(name);
  return definition;
}

Status ReadTokenizerConfig(std::string_view text, std::string_view name,
                           TokenizerDefinition* definition) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return InvalidArgument(fmt::format("{}: not a JSON object", name));
  const auto token = [&](const char* key, int32_t* id) -> Status {
    if (!IsSet(root, key)) return Status::Ok();
    const json& value = root[key];
    const json* content = &value;
    if (value.is_object() && value.contains("content")) content = &value["content"];
    if (!content->is_string())
      return InvalidArgument(fmt::format("{}: {} is not a token", name, key));
    const auto found = IdOf(*definition, content->get<std::string>());
    if (!found)
      return InvalidArgument(fmt::format("{}: {} \"{}\" is not in the vocabulary", name, key,
                                         content->get<std::string>()));
    *id = *found;
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(token("bos_token", &definition->bos_id));
  DAVINCI_RETURN_IF_ERROR(token("eos_token", &definition->eos_id));
  DAVINCI_RETURN_IF_ERROR(token("pad_token", &definition->pad_id));
  if (!IsSet(root, "chat_template")) return Status::Ok();
  const json& given = root["chat_template"];
  if (given.is_string()) {
    definition->chat_template = given.get<std::string>();
    return Status::Ok();
  }
  if (given.is_array()) {  // several by name: the one called default
    for (const json& item : given)
      if (item.is_object() && item.value("name", json()) == "default" &&
          item.value("template", json()).is_string())
        definition->chat_template = item["template"].get<std::string>();
    if (!definition->chat_template.empty()) return Status::Ok();
  }
  return InvalidArgument(
      fmt::format("{}: chat_template is neither text nor a list with a "
                  "\"default\"",
                  name));
}

Result<TokenizerDefinition> ReadTokenizerFolder(const fs::path& tokenizer_json) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(tokenizer_json, kLargestFile_bytes));
  DAVINCI_ASSIGN_OR_RETURN(auto definition, ReadTokenizerJson(text, tokenizer_json.string()));
  std::error_code error;
  const fs::path config = tokenizer_json.parent_path() / "tokenizer_config.json";
  if (fs::exists(config, error)) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string given, ReadFile(config, kLargestFile_bytes));
    DAVINCI_RETURN_IF_ERROR(ReadTokenizerConfig(given, config.string(), &definition));
  }
  const fs::path chat = tokenizer_json.parent_path() / "chat_template.jinja";
  if (fs::exists(chat, error)) {
    DAVINCI_ASSIGN_OR_RETURN(definition.chat_template, ReadFile(chat, kLargestFile_bytes));
  }
  return definition;
}

nlohmann::ordered_json ToTokenizerJson(const TokenizerDefinition& definition) {
  using ordered = nlohmann::ordered_json;
  ordered root;
  root["version"] = "1.0";
  root["truncation"] = nullptr;
  root["padding"] = nullptr;
  root["added_tokens"] = ordered::array();
  for (const AddedToken& token : definition.added)
    root["added_tokens"].push_back({{"id", token.id},
                                    {"content", token.content},
                                    {"single_word", token.single_word},
                                    {"lstrip", token.lstrip},
                                    {"rstrip", token.rstrip},
                                    {"normalized", token.normalized},
                                    {"special", token.special}});
  root["normalizer"] = definition.nfc ? ordered{{"type", "NFC"}} : ordered(nullptr);
  const auto byte_level = [](bool prefix, bool regex) {
    return ordered{{"type", "ByteLevel"},
                   {"add_prefix_space", prefix},
                   {"trim_offsets", false},
                   {"use_regex", regex}};
  };
  ordered steps = ordered::array();
  const bool gpt2 = !definition.patterns.empty() && definition.patterns.back() == kGpt2Pattern;
  for (size_t i = 0; i + (gpt2 ? 1 : 0) < definition.patterns.size(); ++i)
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", definition.patterns[i]}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back(byte_level(definition.add_prefix_space, gpt2));
  root["pre_tokenizer"] =
      steps.size() == 1 ? steps[0] : ordered{{"type", "Sequence"}, {"pretokenizers", steps}};
  ordered post = byte_level(true, true);
  if (!definition.prefix.empty() || !definition.suffix.empty()) {
    ordered single = ordered::array();
    ordered pair = ordered::array();
    ordered specials = ordered::object();
    const auto add = [&](const std::vector<int32_t>& ids, int type, ordered* list) {
      for (const int32_t id : ids) {
        const std::string content = ContentOf(definition, id);
        list->push_back({{"SpecialToken", {{"id", content}, {"type_id", type}}}});
        specials[content] = {{"id", content}, {"ids", {id}}, {"tokens", {content}}};
      }
    };
    const auto sequence = [&](const char* name, int type, ordered* list) {
      add(definition.prefix, type, list);
      list->push_back({{"Sequence", {{"id", name}, {"type_id", type}}}});
      add(definition.suffix, type, list);
    };
    sequence("A", 0, &single);
    sequence("A", 0, &pair);
    sequence("B", 1, &pair);
    post = {{"type", "Sequence"},
            {"processors",
             {byte_level(true, true),
              {{"type", "TemplateProcessing"},
               {"single", single},
               {"pair", pair},
               {"special_tokens", specials}}}}};
  }
  root["post_processor"] = post;
  root["decoder"] = byte_level(true, true);
  ordered vocab = ordered::object();
  // ordered_json's own insertion looks every key up by a scan.
  auto& items = vocab.get_ref<ordered::object_t&>();
  // `tokenizers` numbers added tokens behind the vocabulary unless they stand in it.
  std::map<size_t, std::string> added;
  for (const AddedToken& token : definition.added)
    added.emplace(static_cast<size_t>(token.id), token.content);
  size_t end = definition.tokens.size();
  while (end > 0 && definition.tokens[end - 1].empty()) --end;
  for (size_t id = 0; id < end; ++id) {
    const auto found = added.find(id);
    const std::string& token = !definition.tokens[id].empty() || found == added.end()
                                   ? definition.tokens[id]
                                   : found->second;
    if (!token.empty()) static_cast<ordered::object_t::Container&>(items).emplace_back(token, id);
  }
  ordered merges = ordered::array();
  for (const auto& [left, right] : definition.merges) {
    ordered merge = ordered::array();
    merge.push_back(left);
    merge.push_back(right);
    merges.push_back(std::move(merge));
  }
  root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", definition.ignore_merges},
                   {"vocab", std::move(vocab)},
                   {"merges", std::move(merges)}};
  return root;
}

nlohmann::ordered_json ToTokenizerConfig(const TokenizerDefinition& definition) {
  nlohmann::ordered_json root;
  root["tokenizer_class"] = "PreTrainedTokenizerFast";
  root["clean_up_tokenization_spaces"] = false;
  for (const auto& [key, id] : {std::pair("bos_token", definition.bos_id),
                                {"eos_token", definition.eos_id},
                                {"pad_token", definition.pad_id}})
    if (const std::string content = ContentOf(definition, id); id >= 0 && !content.empty())
      root[key] = content;
  if (!definition.chat_template.empty()) root["chat_template"] = definition.chat_template;
  return root;
}

}  // namespace davinci::text
