// Files: read whole, write whole, scratch folders, the cache folder.
//
// Every failure names the path. Writers never leave a half-written file behind: WriteFileAtomic
// writes a temporary neighbour, makes it durable and renames it into place, so a reader sees the
// old content or the new one, also after kill -9 or on a full disk. Functions are thread-safe in
// the sense of the file system below them; they hold no state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci {

inline constexpr uint64_t kNoSizeLimit = ~uint64_t{0};

// The whole content of a regular file. A folder, a device or more than `max_bytes` is
// InvalidArgument: inputs come from users, and a judge must not be talked into swallowing
// /dev/zero.
Result<std::string> ReadFile(const std::filesystem::path& path, uint64_t max_bytes = kNoSizeLimit);

enum class Durability {
  kDurable,  // fsync of file and folder: survives power loss. For records.
  kFastest,  // no fsync: still atomic against crashes of this program. For caches that can be made
             // again.
};

// Creates or replaces `path` with `content`; the parent folder must exist. On failure the old file
// is untouched and the temporary file is removed.
Status WriteFileAtomic(const std::filesystem::path& path, std::string_view content,
                       Durability durability = Durability::kDurable, mode_t mode = 0644);

// Writes all of `data` to `fd`, resuming after short writes and EINTR. `what` names the file in the
// error.
Status WriteAll(int fd, std::string_view data, std::string_view what);

// mkdir -p. Folders that exist are fine; a file in the way is an error.
Status MakeDirs(const std::filesystem::path& path);

// rm -rf. A path that does not exist is fine. Symbolic links are removed, not followed.
Status RemoveAll(const std::filesystem::path& path);

// Regular files below `folder` whose names end in `suffix` ("" = all), sorted by path so that runs
// are repeatable. Folders whose name starts with '.' are skipped when recursing. Links are not
// followed.
Result<std::vector<std::filesystem::path>> ListFiles(const std::filesystem::path& folder,
                                                     std::string_view suffix = "",
                                                     bool recursive = false);

// A fresh folder (mode 0700) that disappears, with its content, when the object does. Move-only.
class TempDir {
 public:
  TempDir() = default;
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  // The folder stays on disk and belongs to the caller from here on, who moves it elsewhere.
  std::filesystem::path Release();

 private:
  friend Result<TempDir> MakeTempDir(std::string_view, const std::filesystem::path&);
  TempDir(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  UniqueFd lock_;  // held on the folder: its owner lives
};

// Makes <parent>/<prefix>-XXXXXX. An empty `parent` means TMPDIR, else /tmp; there the first call
// for a prefix also removes what processes that were killed have left behind under it, unless that
// was within the last minute: a folder that is only just being made looks the same.
Result<TempDir> MakeTempDir(std::string_view prefix = "davinci",
                            const std::filesystem::path& parent = {});

// The folder for everything that may be deleted at any time, created on demand:
//   DAVINCI_CACHE_DIR, else XDG_CACHE_HOME/davinci, else HOME/.cache/davinci,
//   else (no usable home) a private folder of this user under the temporary directory.
// `sub` ("build", "tuning/v1") is appended. Fails with a remedy when the folder cannot be created.
Result<std::filesystem::path> CacheDir(std::string_view sub = "");

}  // namespace davinci
