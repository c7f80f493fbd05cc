#include "davinci/trainer/tokenizer_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "davinci/base/files.h"
#include "davinci/base/in_order.h"
#include "davinci/base/json_text.h"
#include "davinci/sftdata/row.h"
#include "davinci/text/bpe_trainer.h"
#include "davinci/text/characters.h"
#include "davinci/text/pre_tokenizer.h"
#include "davinci/trainer/row_files.h"
#include "davinci/trainer/row_pieces.h"
#include "davinci/weights/mapped_file.h"

namespace davinci::trainer {
namespace {

namespace fs = std::filesystem;
using Mapped = std::shared_ptr<const weights::MappedFile>;

constexpr size_t kCountPieceBytes = 1 << 20;
constexpr const char* kSpecials[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
constexpr std::string_view kChatTemplate =
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";

struct Counts {
  std::unordered_map<std::string, int64_t> words;
  int64_t bytes = 0;
};

Status CountText(const text::PreTokenizer& patterns, std::string_view content, Counts* counts) {
  std::string composed;
  counts->bytes += static_cast<int64_t>(content.size());
  if (!text::IsSurelyNfc(content)) content = composed = text::ToNfc(content);
  std::vector<std::string_view> pieces;
  DAVINCI_RETURN_IF_ERROR(patterns.Split(content, &pieces));
  for (const std::string_view piece : pieces) ++counts->words[std::string(piece)];
  return Status::Ok();
}

Status CountRow(const text::PreTokenizer& patterns, std::string_view line, Counts* counts) {
  DAVINCI_ASSIGN_OR_RETURN(const sftdata::Row row, sftdata::ParseRow(line));
  for (const sftdata::RowMessage& message : row.messages) {
    for (const std::string* content : {&message.content, &message.thinking})
      DAVINCI_RETURN_IF_ERROR(CountText(patterns, *content, counts));
    for (const sftdata::RowToolCall& call : message.tool_calls)
      DAVINCI_RETURN_IF_ERROR(CountText(patterns, call.arguments, counts));
  }
  return Status::Ok();
}

bool HoldsRows(const fs::path& path) { return path.extension() == ".jsonl"; }

// Every k-th piece, so that they have `most_bytes` at most; the first one always.
std::vector<Piece> Spread(std::vector<Piece> pieces, int64_t most_bytes) {
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += static_cast<int64_t>(piece.end - piece.begin);
  if (bytes <= most_bytes) return pieces;
  const double step = static_cast<double>(bytes) / static_cast<double>(most_bytes);
  std::vector<Piece> kept;
  for (double at = 0; at < static_cast<double>(pieces.size()); at += step)
    kept.push_back(pieces[static_cast<size_t>(at)]);
  return kept;
}

Result<Counts> CountPiece(const text::PreTokenizer& patterns, const weights::MappedFile& file,
                          const Piece& piece) {
  Counts counts;
  if (!HoldsRows(file.path())) {
    DAVINCI_RETURN_IF_ERROR(
        CountText(patterns, file.text(), &counts).Annotate(file.path().string()));
    return counts;
  }
  std::string_view lines = LinesOf(file.text(), piece);
  while (!lines.empty()) {
    const char* const begin = lines.data();
    const std::string_view line = TakeLine(&lines);
    if (IsBlank(line)) continue;
    if (const Status status = CountRow(patterns, line, &counts); !status.ok()) {
      const auto before = std::count(file.text().data(), begin, '\n');
      return status.Annotate(fmt::format("{}:{}", file.path().string(), before + 1));
    }
  }
  return counts;
}

}  // namespace

Result<TrainedTokenizer> TrainTokenizer(const TokenizerTraining& training) {
  TrainedTokenizer made;
  text::TokenizerDefinition& definition = made.definition;
  definition.patterns = {std::string(text::kQwen2Pattern)};
  definition.nfc = true;
  definition.pad_id = 0;
  definition.eos_id = 2;
  definition.chat_template = kChatTemplate;
  DAVINCI_ASSIGN_OR_RETURN(const auto patterns, text::PreTokenizer::Make(definition.patterns));
  std::vector<Mapped> files;
  std::vector<Piece> pieces;
  for (const std::string& entry : training.files) {
    DAVINCI_ASSIGN_OR_RETURN(const auto named, RowFiles(entry));
    for (const fs::path& path : named) {
      DAVINCI_ASSIGN_OR_RETURN(files.emplace_back(), weights::MappedFile::Open(path));
      const size_t size = files.back()->text().size();
      AddPieces(files.size() - 1, size,
                HoldsRows(path) ? kCountPieceBytes : std::max<size_t>(size, 1), &pieces);
    }
  }
  pieces = Spread(std::move(pieces), training.most_bytes);
  std::unordered_map<std::string, int64_t> all;
  DAVINCI_RETURN_IF_ERROR(MakeInOrder(
      pieces.size(), training.threads,
      [&](size_t i) { return CountPiece(patterns, *files[pieces[i].file], pieces[i]); },
      [&](size_t, Counts counts) {
        made.num_bytes += counts.bytes;
        for (const auto& [word, count] : counts.words) all[word] += count;
        return Status::Ok();
      }));
  if (all.empty()) return InvalidArgument(fmt::format("{} file(s) hold no text", files.size()));
  std::vector<text::WordCount> words;
  words.reserve(all.size());
  for (const auto& [word, count] : all) words.push_back({word, count});
  std::sort(words.begin(), words.end(),
            [](const auto& a, const auto& b) { return a.word < b.word; });
  made.num_words = words.size();
  text::BpeTrainerOptions options;
  options.vocab_size = training.vocab_size;
  options.specials.assign(std::begin(kSpecials), std::end(kSpecials));
  DAVINCI_RETURN_IF_ERROR(text::TrainBpe(words, options, &definition));
  return made;
}

Status WriteTokenizer(const text::TokenizerDefinition& definition, const fs::path& folder) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json",
                                          JsonText(text::ToTokenizerJson(definition), 1) + "\n"));
  return WriteFileAtomic(folder / "tokenizer_config.json",
                         JsonText(text::ToTokenizerConfig(definition), 1) + "\n");
}

}  // namespace davinci::trainer
