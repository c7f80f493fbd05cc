#include "davinci/text/tokenizer.h"

#include <fmt/format.h>

#include <unordered_map>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/utf8.h"
#include "davinci/text/added_tokens.h"
#include "davinci/text/bpe.h"
#include "davinci/text/byte_alphabet.h"
#include "davinci/text/characters.h"
#include "davinci/text/pre_tokenizer.h"
#include "davinci/text/utf8_repair.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::text {
namespace {

namespace fs = std::filesystem;

std::string DigestOf(const TokenizerDefinition& definition) {
  Sha256 hash;
  const auto number = [&](int64_t value) { hash.Field(std::to_string(value)); };
  number(static_cast<int64_t>(definition.tokens.size()));
  for (const std::string& token : definition.tokens) hash.Field(token);
  number(static_cast<int64_t>(definition.merges.size()));
  for (const auto& [left, right] : definition.merges) hash.Field(left).Field(right);
  number(static_cast<int64_t>(definition.added.size()));
  for (const AddedToken& token : definition.added) {
    number(token.id);
    hash.Field(token.content);
    number(token.special | token.single_word << 1 | token.lstrip << 2 | token.rstrip << 3 |
           token.normalized << 4);
  }
  for (const std::string& pattern : definition.patterns) hash.Field(pattern);
  number(definition.add_prefix_space | definition.nfc << 1 | definition.ignore_merges << 2);
  for (const int32_t id : definition.prefix) number(id);
  hash.Field("");
  for (const int32_t id : definition.suffix) number(id);
  return hash.FinishHex();
}

}  // namespace

struct Tokenizer::Tables {
  Tables(Bpe bpe_tables, PreTokenizer patterns)
      : bpe(std::move(bpe_tables)), pre_tokenizer(std::move(patterns)) {}
  Bpe bpe;
  PreTokenizer pre_tokenizer;
  AddedTokenFinder raw;            // looked for before normalization
  AddedTokenFinder normalized;     // and behind it
  std::vector<std::string> bytes;  // by id
  std::vector<bool> special;
  std::unordered_map<std::string, int32_t> added_ids;
  bool add_prefix_space = false;
  bool nfc = false;
  std::vector<int32_t> prefix;
  std::vector<int32_t> suffix;
  int32_t bos_id = -1;
  int32_t eos_id = -1;
  int32_t pad_id = -1;
  std::string chat_template;
  std::string digest;

  // `text` is UTF-8 without added tokens.
  Status EncodeWords(std::string_view text, std::vector<std::string_view>* pieces,
                     std::vector<int32_t>* ids) const {
    std::string prefixed;
    if (add_prefix_space && !text.starts_with(' ')) {
      prefixed = " ";
      prefixed += text;
      text = prefixed;
    }
    pieces->clear();
    DAVINCI_RETURN_IF_ERROR(pre_tokenizer.Split(text, pieces));
    for (const std::string_view piece : *pieces) bpe.Encode(piece, ids);
    return Status::Ok();
  }

  Status EncodeUtf8(std::string_view text, bool parse_special,
                    std::vector<std::string_view>* pieces, std::vector<int32_t>* ids) const {
    Status status;
    raw.Split(text, parse_special, [&](size_t begin, size_t end, int32_t id) {
      if (id >= 0) {
        ids->push_back(id);
        return;
      }
      std::string_view part = text.substr(begin, end - begin);
      std::string composed;
      if (nfc && !IsSurelyNfc(part)) part = composed = ToNfc(part);
      normalized.Split(part, parse_special, [&](size_t from, size_t to, int32_t inner) {
        if (inner >= 0)
          ids->push_back(inner);
        else if (status.ok())
          status = EncodeWords(part.substr(from, to - from), pieces, ids);
      });
    });
    return status;
  }
};

Result<Tokenizer> Tokenizer::FromDefinition(TokenizerDefinition definition) {
  DAVINCI_ASSIGN_OR_RETURN(PreTokenizer patterns, PreTokenizer::Make(definition.patterns));
  const std::string digest = DigestOf(definition);
  std::vector<std::string> bytes(definition.tokens.size());
  std::vector<std::string> mergeable(definition.tokens.size());
  std::unordered_map<std::string_view, int32_t> ids;
  for (size_t id = 0; id < definition.tokens.size(); ++id) {
    const std::string& token = definition.tokens[id];
    if (token.empty()) continue;
    ids.emplace(token, static_cast<int32_t>(id));
    // A token with other characters cannot come from merges; it is text as it stands.
    if (auto decoded = FromByteAlphabet(token))
      bytes[id] = mergeable[id] = std::move(*decoded);
    else
      bytes[id] = token;
  }
  std::vector<Merge> merges;
  merges.reserve(definition.merges.size());
  for (const auto& [left, right] : definition.merges) {
    const auto left_id = ids.find(left);
    const auto right_id = ids.find(right);
    if (left_id == ids.end() || right_id == ids.end())
      return InvalidArgument(fmt::format("merge {} of \"{}\" and \"{}\": \"{}\" is not a token",
                                         merges.size(), left, right,
                                         left_id == ids.end() ? left : right));
    if (mergeable[static_cast<size_t>(left_id->second)].empty() ||
        mergeable[static_cast<size_t>(right_id->second)].empty())
      return InvalidArgument(fmt::format(
          "merge {} of \"{}\" and \"{}\" has characters outside the byte-level alphabet",
          merges.size(), left, right));
    merges.push_back({left_id->second, right_id->second});
  }
  DAVINCI_ASSIGN_OR_RETURN(Bpe bpe, Bpe::Make(mergeable, merges, definition.ignore_merges));

  auto tables = std::make_shared<Tables>(std::move(bpe), std::move(patterns));
  for (const AddedToken& token : definition.added) {
    if (token.id < 0 || token.content.empty())
      return InvalidArgument(fmt::format("added token \"{}\" with id {}", token.content, token.id));
    const auto id = static_cast<size_t>(token.id);
    if (id >= bytes.size()) {
      if (id > bytes.size() + definition.added.size() + 65536)
        return InvalidArgument(fmt::format("added token \"{}\" has id {}, far above the others",
                                           token.content, token.id));
      bytes.resize(id + 1);
    }
    bytes[id] = token.normalized && definition.nfc ? ToNfc(token.content) : token.content;
    tables->added_ids.emplace(token.content, token.id);
    (token.normalized ? tables->normalized : tables->raw).Add(token, bytes[id]);
  }
  tables->special.resize(bytes.size());
  for (const AddedToken& token : definition.added)
    if (token.special) tables->special[static_cast<size_t>(token.id)] = true;
  for (const auto* list : {&definition.prefix, &definition.suffix})
    for (const int32_t id : *list)
      if (id < 0 || static_cast<size_t>(id) >= bytes.size())
        return InvalidArgument(
            fmt::format("the post-processor adds token {}, which does not exist", id));
  tables->bytes = std::move(bytes);
  tables->add_prefix_space = definition.add_prefix_space;
  tables->nfc = definition.nfc;
  tables->prefix = std::move(definition.prefix);
  tables->suffix = std::move(definition.suffix);
  tables->bos_id = definition.bos_id;
  tables->eos_id = definition.eos_id;
  tables->pad_id = definition.pad_id;
  tables->chat_template = std::move(definition.chat_template);
  tables->digest = digest;
  return Tokenizer(std::move(tables));
}

Result<Tokenizer> Tokenizer::Load(const fs::path& path) {
  std::error_code error;
  fs::path json = path;
  if (fs::is_directory(path, error)) json = path / "tokenizer.json";
  const auto annotate = [](Result<Tokenizer> made, const fs::path& file) -> Result<Tokenizer> {
    if (!made.ok()) return made.status().Annotate(file.string());
    return made;
  };
  if (json.extension() == ".gguf" || !fs::exists(json, error)) {
    if (json.extension() != ".gguf" && !fs::is_directory(path, error))
      return NotFound(fmt::format("{}: no such file", path.string()));
    const auto file = weights::TensorFile::Open(path);
    if (!file.ok() && file.status().code() != StatusCode::kNotFound) return file.status();
    if (!file.ok() || file->gguf() == nullptr)
      return NotFound(
          fmt::format("{}: no tokenizer.json; older formats (vocab.json, "
                      "tokenizer.model) have to be converted with transformers",
                      path.string()));
    const fs::path& first = file->files().front()->path();
    DAVINCI_ASSIGN_OR_RETURN(auto definition, ReadGgufTokenizer(*file->gguf(), first.string()));
    return annotate(FromDefinition(std::move(definition)), first);
  }
  DAVINCI_ASSIGN_OR_RETURN(auto definition, ReadTokenizerFolder(json));
  return annotate(FromDefinition(std::move(definition)), json);
}

Result<std::vector<int32_t>> Tokenizer::Encode(std::string_view text,
                                               const EncodeOptions& options) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 3 + 8);
  std::vector<std::string_view> pieces;
  if (options.add_special_tokens) ids = tables_->prefix;
  while (!text.empty()) {
    const size_t valid = ValidUtf8Prefix(text);
    DAVINCI_RETURN_IF_ERROR(
        tables_->EncodeUtf8(text.substr(0, valid), options.parse_special, &pieces, &ids));
    text.remove_prefix(valid);
    while (!text.empty() && DecodeUtf8(text).bytes == 0) {
      tables_->bpe.Encode(text.substr(0, 1), &ids);
      text.remove_prefix(1);
    }
  }
  if (options.add_special_tokens)
    ids.insert(ids.end(), tables_->suffix.begin(), tables_->suffix.end());
  return ids;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids)
    if (!skip_special || !IsSpecial(id)) bytes += TokenBytes(id);
  return RepairUtf8(bytes);
}

std::string_view Tokenizer::TokenBytes(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return {};
  return tables_->bytes[static_cast<size_t>(id)];
}

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(tables_->bytes.size()); }

bool Tokenizer::IsSpecial(int32_t id) const {
  return id >= 0 && id < vocab_size() && tables_->special[static_cast<size_t>(id)];
}

std::optional<int32_t> Tokenizer::FindToken(std::string_view text) const {
  const auto found = tables_->added_ids.find(std::string(text));
  if (found != tables_->added_ids.end()) return found->second;
  return tables_->bpe.Find(text);
}

int32_t Tokenizer::bos_id() const { return tables_->bos_id; }
int32_t Tokenizer::eos_id() const { return tables_->eos_id; }
int32_t Tokenizer::pad_id() const { return tables_->pad_id; }
const std::string& Tokenizer::chat_template() const { return tables_->chat_template; }
const std::string& Tokenizer::digest() const { return tables_->digest; }

}  // namespace davinci::text
