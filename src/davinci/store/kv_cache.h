// KvCache: small JSON values on disk that may be lost but must never be wrong.
//
// For things that are costly to find out and cheap to keep: toolchain probes, device peaks, tuning
// results. Keys live in namespaces ("toolchain", "peaks"); put everything that the value depends on
// into the key, entries do not expire.
//
// A damaged file is moved aside (x.db -> x.db.damaged-N) and replaced by an empty one: a cache is
// no reason to stop, and no damaged value is ever returned. recovery_note() tells the user about
// it.
//
// Threads: all methods may be called from any thread. Processes: any number may share the file
// (SQLite WAL); writers wait for each other. Do not use a KvCache across fork(): open it in the
// child.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

struct sqlite3;

namespace davinci::store {

class KvCache {
 public:
  struct Options {
    int busy_timeout_ms = 10'000;         // how long a call waits for another process that writes
    std::function<int64_t()> now_unix_s;  // for "last used"; the system clock when empty
  };

  // Opens or creates `file` and its folder. FailedPrecondition when a newer davinci wrote it.
  static Result<std::unique_ptr<KvCache>> Open(const std::filesystem::path& file, Options options);
  static Result<std::unique_ptr<KvCache>> Open(const std::filesystem::path& file) {
    return Open(file, Options{});
  }
  virtual ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  // Nothing when the key is absent. Marks the entry as used.
  virtual Result<std::optional<nlohmann::json>> Get(std::string_view space, std::string_view key);
  // Creates or replaces. Bytes that are not UTF-8 are replaced by U+FFFD.
  virtual Status Put(std::string_view space, std::string_view key, const nlohmann::json& value);
  Result<int64_t> Count(std::string_view space);
  // Keeps the `max_entries` most recently used of a namespace; returns how many were removed.
  Result<int64_t> Prune(std::string_view space, int64_t max_entries);

  // Empty, or what was found damaged and where it was put.
  std::string recovery_note() const;

 protected:
  KvCache(std::filesystem::path file, Options options);

 private:
  Status OpenLocked() DAVINCI_REQUIRES(mutex_);
  Status OpenOnce() DAVINCI_REQUIRES(mutex_);
  Status MoveAside() DAVINCI_REQUIRES(mutex_);
  void CloseConnection() DAVINCI_REQUIRES(mutex_);
  Status SqliteError(int code, std::string_view doing) const DAVINCI_REQUIRES(mutex_);
  template <typename Body>
  Status WithRecovery(Body body);

  const std::filesystem::path file_;
  const Options options_;
  mutable Mutex mutex_;
  sqlite3* db_ DAVINCI_GUARDED_BY(mutex_) = nullptr;
  std::string recovery_note_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::store
