#include "davinci/trainer/token_cache.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "davinci/base/file_lock.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/in_order.h"
#include "davinci/trainer/row_pieces.h"
#include "davinci/weights/mapped_file.h"

namespace davinci::trainer {
namespace {

namespace fs = std::filesystem;
using Mapped = std::shared_ptr<const weights::MappedFile>;

constexpr size_t kHashPieceBytes = 8 << 20;
constexpr size_t kEncodePieceBytes = 1 << 20;  // of text: a fraction of a second on one core
constexpr uintmax_t kCacheBytes = uintmax_t{64} << 30;
constexpr double kLongestEncodingSeconds = 6 * 3600;

// The hash of each file.
Result<std::vector<std::string>> HashFiles(const std::vector<Mapped>& files, size_t threads) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < files.size(); ++i)
    AddPieces(i, files[i]->text().size(), kHashPieceBytes, &pieces);
  std::vector<Sha256> hashes(files.size());
  DAVINCI_RETURN_IF_ERROR(MakeInOrder(
      pieces.size(), threads,
      [&](size_t i) -> Result<std::string> {
        const Piece& piece = pieces[i];
        return Sha256Hex(files[piece.file]->text().substr(piece.begin, piece.end - piece.begin));
      },
      [&](size_t i, const std::string& hash) {
        hashes[pieces[i].file].Field(hash);
        return Status::Ok();
      }));
  std::vector<std::string> names;
  for (Sha256& hash : hashes) names.push_back(hash.FinishHex());
  return names;
}

struct Encoded {
  TokenBatch batch;
  int64_t lines = 0;
  Status failed;  // at the last of the lines
};

Result<Encoded> EncodePiece(std::string_view lines, const SftEncoder& encoder, bool wide) {
  Encoded made{TokenBatch(wide), 0, Status::Ok()};
  while (!lines.empty()) {
    const std::string_view line = TakeLine(&lines);
    ++made.lines;
    if (IsBlank(line)) continue;
    const auto example = encoder.Encode(line);
    if (!example.ok()) {
      made.failed = example.status();
      break;
    }
    made.batch.Add(*example, made.lines);
  }
  return made;
}

// Encodes the files `which` to `targets`.
Status Encode(const std::vector<Mapped>& rows, const std::vector<size_t>& which,
              const std::vector<fs::path>& targets, const SftEncoder& encoder, size_t threads) {
  const bool wide = encoder.tokenizer().vocab_size() > 1 << 16;
  std::vector<Piece> pieces;
  for (const size_t i : which) AddPieces(i, rows[i]->text().size(), kEncodePieceBytes, &pieces);
  std::optional<TokenFileWriter> writer;
  int64_t lines = 0;
  return MakeInOrder(
      pieces.size(), threads,
      [&](size_t i) {
        return EncodePiece(LinesOf(rows[pieces[i].file]->text(), pieces[i]), encoder, wide);
      },
      [&](size_t i, const Encoded& made) -> Status {
        const Piece& piece = pieces[i];
        if (piece.begin == 0) {
          auto created = TokenFileWriter::Create(targets[piece.file], wide);
          if (!created.ok()) return created.status();
          writer.emplace(std::move(created).value());
          lines = 0;
        }
        if (!made.failed.ok())
          return made.failed.Annotate(
              fmt::format("{}:{}", rows[piece.file]->path().string(), lines + made.lines));
        DAVINCI_RETURN_IF_ERROR(writer->Append(made.batch, lines));
        lines += made.lines;
        return piece.end == rows[piece.file]->text().size() ? writer->Finish() : Status::Ok();
      });
}

// Removes the files that were used least recently, but for `kept`, and what killed processes left.
void Prune(const fs::path& folder, const std::set<fs::path>& kept) {
  struct File {
    fs::file_time_type used;
    fs::path path;
    uintmax_t bytes;
  };
  std::vector<File> files;
  uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".tmp") fs::remove(path, error);
    if (path.extension() != ".tokens" || kept.contains(path)) continue;
    files.push_back({entry.last_write_time(error), path, entry.file_size(error)});
    bytes += files.back().bytes;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (bytes <= kCacheBytes) return;
    if (fs::remove(file.path, error)) bytes -= file.bytes;
  }
}

}  // namespace

Result<TokenFiles> EncodeRowFiles(std::span<const fs::path> files, const SftEncoder& encoder,
                                  size_t threads) {
  std::vector<Mapped> rows;
  for (const fs::path& path : files) {
    auto mapped = weights::MappedFile::Open(path);
    if (!mapped.ok())
      return mapped.status().Annotate(fmt::format("{}: cannot be read", path.string()));
    rows.push_back(std::move(mapped).value());
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<std::string> digests, HashFiles(rows, threads));
  const text::Tokenizer& tokenizer = encoder.tokenizer();
  const auto key = [&](Sha256 hash, std::string_view rows_digest) {
    return hash.Field(tokenizer.digest())
        .Field(tokenizer.chat_template())
        .Field(tokenizer.TokenBytes(tokenizer.eos_id()))
        .Field(rows_digest)
        .FinishHex();
  };
  DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, CacheDir("tokens"));
  std::vector<fs::path> targets;
  Sha256 whole;
  for (const std::string& digest : digests) {
    targets.push_back(folder / (key(Sha256(), digest) + ".tokens"));
    whole.Field(digest);
  }
  // The lock lasts until the files are mapped: then they may be removed.
  const UniqueFd lock(::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return FromErrno(errno, (folder / "lock").string());
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, TryLockFile(lock.get(), kLongestEncodingSeconds));
  if (!locked)
    return FailedPrecondition(
        fmt::format("{} is held by another process that encodes rows", folder.string()));
  const auto opens = [&](size_t i) -> Result<TokenFile> { return TokenFile::Open(targets[i]); };
  std::vector<size_t> missing;
  for (size_t i = 0; i < targets.size(); ++i)
    if (!opens(i).ok() && std::find(targets.begin(), targets.begin() + static_cast<ptrdiff_t>(i),
                                    targets[i]) == targets.begin() + static_cast<ptrdiff_t>(i))
      missing.push_back(i);
  Prune(folder, {targets.begin(), targets.end()});
  DAVINCI_RETURN_IF_ERROR(Encode(rows, missing, targets, encoder, threads));
  TokenFiles found;
  found.digest = key(std::move(whole), "");
  for (size_t i = 0; i < targets.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(TokenFile file, opens(i));
    if (std::find(missing.begin(), missing.end(), i) != missing.end())
      found.num_encoded += static_cast<int64_t>(file.size());
    std::error_code ignored;
    fs::last_write_time(targets[i], fs::file_time_type::clock::now(), ignored);
    found.files.push_back(std::move(file));
  }
  return found;
}

}  // namespace davinci::trainer
