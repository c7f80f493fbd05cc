// BuildCache: finished artifacts, named by the hash of everything that went into them.
//
//   <root>/objects/ab/abcd…/outcome.json   the BuildOutcome, size and SHA-256 of the artifact
//                          /<artifact>     "my_ext.so", "kernel.cubin"; none for a remembered
//                                          compile error
//   <root>/tmp/…                           work in progress; a whole folder is renamed into place
//
// Safe for any number of threads and processes: an entry appears complete or not at all, the first
// writer wins and the others use its entry. A damaged entry (wrong size or hash, unreadable
// document) is removed and counts as a miss. When the entries outgrow the cap the least recently
// used go, but none used in the last ten minutes: a runner may be about to load it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "davinci/base/files.h"
#include "davinci/base/status.h"
#include "davinci/build/request.h"

namespace davinci::build {

class BuildCache {
 public:
  // Makes the folders. `max_bytes` 0 = no cap.
  static Result<BuildCache> Open(const std::filesystem::path& root, uint64_t max_bytes);
  BuildCache(BuildCache&& other) noexcept
      : root_(std::move(other.root_)),
        max_bytes_(other.max_bytes_),
        unscanned_bytes_(other.unscanned_bytes_.load()) {}

  const std::filesystem::path& root() const { return root_; }

  // The remembered outcome (artifact or compile error) with `cached` set, or nothing.
  std::optional<BuildOutcome> Find(const std::string& key);

  // A private folder on the cache's file system to build in.
  Result<TempDir> WorkDir() const;

  // Stores `outcome`, copying nothing: `artifact` (in a WorkDir; empty for an error) is moved.
  // Returns the outcome as it stands in the cache, which is another writer's if that was faster.
  Result<BuildOutcome> Insert(const std::string& key, BuildOutcome outcome,
                              const std::filesystem::path& artifact);

  // Removes least recently used entries until the cap holds. Returns the bytes removed.
  Result<uint64_t> Evict();

 private:
  BuildCache(std::filesystem::path root, uint64_t max_bytes)
      : root_(std::move(root)), max_bytes_(max_bytes) {}
  std::filesystem::path EntryDir(const std::string& key) const;

  std::filesystem::path root_;
  uint64_t max_bytes_;
  std::atomic<uint64_t> unscanned_bytes_{
      ~uint64_t{0} / 2};  // inserted since the last scan; large: scan at first insert
};

}  // namespace davinci::build
