#include "davinci/build/build_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kProtectedAge = std::chrono::minutes(10);

void Touch(const fs::path& path) { (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace

Result<BuildCache> BuildCache::Open(const fs::path& root, uint64_t max_bytes) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(root / "objects"));
  DAVINCI_RETURN_IF_ERROR(MakeDirs(root / "tmp"));
  return BuildCache(root, max_bytes);
}

fs::path BuildCache::EntryDir(const std::string& key) const {
  return root_ / "objects" / key.substr(0, 2) / key;
}

std::optional<BuildOutcome> BuildCache::Find(const std::string& key) {
  const fs::path dir = EntryDir(key);
  const fs::path document_path = dir / "outcome.json";
  const auto text = ReadFile(document_path, 1 << 20);
  if (!text.ok()) return std::nullopt;
  auto damaged = [&]() -> std::optional<BuildOutcome> {
    (void)RemoveAll(dir);
    return std::nullopt;
  };
  const json document = json::parse(*text, nullptr, false);
  auto outcome = ParseBuildOutcome(*text);
  if (!outcome.ok() || outcome->key != key) return damaged();
  if (outcome->ok()) {
    if (!document.contains("artifact") || !document["artifact"].is_string() ||
        !document.contains("sha256") || !document["sha256"].is_string()) {
      return damaged();
    }
    const fs::path artifact = dir / fs::path(document["artifact"].get<std::string>()).filename();
    const auto hash = Sha256HexOfFile(artifact);
    if (!hash.ok() || *hash != document["sha256"].get<std::string>()) return damaged();
    outcome->path = artifact.string();
  }
  Touch(document_path);
  outcome->cached = true;
  return std::move(outcome).value();
}

Result<TempDir> BuildCache::WorkDir() const { return MakeTempDir("build", root_ / "tmp"); }

Result<BuildOutcome> BuildCache::Insert(const std::string& key, BuildOutcome outcome,
                                        const fs::path& artifact) {
  DAVINCI_ASSIGN_OR_RETURN(TempDir staging, WorkDir());
  std::error_code error;
  outcome.key = key;
  json document;
  uint64_t bytes = 4096;
  if (!artifact.empty()) {
    const fs::path staged = staging.path() / artifact.filename();
    fs::rename(artifact, staged, error);
    if (error)
      return Internal(
          fmt::format("moving {} into the build cache: {}", artifact.string(), error.message()));
    // Read-only for all: a runner maps it, no process changes it.
    if (chmod(staged.c_str(), 0555) != 0) return FromErrno(errno, staged.string());
    outcome.path = (EntryDir(key) / artifact.filename()).string();
    document = ToJson(outcome);
    document["artifact"] = artifact.filename().string();
    DAVINCI_ASSIGN_OR_RETURN(document["sha256"], Sha256HexOfFile(staged));
    bytes += fs::file_size(staged, error);
  } else {
    document = ToJson(outcome);
  }
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(staging.path() / "outcome.json", JsonText(document), Durability::kFastest));
  if (chmod(staging.path().c_str(), 0755) != 0) return FromErrno(errno, staging.path().string());
  const fs::path dir = EntryDir(key);
  DAVINCI_RETURN_IF_ERROR(MakeDirs(dir.parent_path()));
  for (int attempt = 0;; ++attempt) {
    fs::rename(staging.path(), dir, error);
    if (!error) {
      (void)staging.Release();
      break;
    }
    // Another process was first (its entry is as good), or a damaged entry is in the way (Find
    // removes it).
    if (auto existing = Find(key)) {
      existing->cached = false;
      return *existing;
    }
    if (attempt >= 3)
      return Internal(
          fmt::format("storing {} in the build cache: {}", dir.string(), error.message()));
    (void)RemoveAll(dir);
  }
  unscanned_bytes_ += bytes;
  if (max_bytes_ > 0 && unscanned_bytes_ > max_bytes_ / 16) {
    unscanned_bytes_ = 0;
    (void)Evict();
  }
  return outcome;
}

Result<uint64_t> BuildCache::Evict() {
  struct Entry {
    fs::path dir;
    fs::file_time_type used;
    uint64_t bytes = 0;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  // Work of builders that were killed.
  for (const auto& item : fs::directory_iterator(root_ / "tmp", error)) {
    std::error_code e;
    if (const auto used = item.last_write_time(e); !e && now - used > std::chrono::hours(24))
      (void)RemoveAll(item.path());
  }
  for (const auto& shard : fs::directory_iterator(root_ / "objects", error)) {
    std::error_code e;
    for (const auto& item : fs::directory_iterator(shard.path(), e)) {
      Entry entry{item.path(), fs::last_write_time(item.path() / "outcome.json", e), 4096};
      if (e) entry.used = fs::file_time_type::min();
      for (const auto& file : fs::directory_iterator(item.path(), e)) {
        std::error_code ignored;
        const auto size = fs::file_size(file.path(), ignored);
        if (!ignored) entry.bytes += size;
      }
      total += entry.bytes;
      entries.push_back(std::move(entry));
    }
  }
  uint64_t removed = 0;
  if (max_bytes_ == 0 || total <= max_bytes_) return removed;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total - removed <= max_bytes_ || now - entry.used < kProtectedAge) break;
    // Renamed first, so that no reader sees a half-removed entry.
    const fs::path doomed = root_ / "tmp" / ("evict-" + entry.dir.filename().string());
    fs::rename(entry.dir, doomed, error);
    if (!error && RemoveAll(doomed).ok()) removed += entry.bytes;
  }
  return removed;
}

}  // namespace davinci::build
