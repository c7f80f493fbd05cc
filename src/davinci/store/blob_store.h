// BlobStore: texts by content, in one SQLite file of a run.
//
// The name of a blob is the SHA-256 of its bytes (64 hex digits), so equal texts are stored once
// and a damaged one is noticed: Get() compares. Put() returns after the bytes are on the disk;
// nothing that refers to a blob is ever older than the blob.
//
// Threads: any. Processes: one writer, which the owner of the file has to make sure of (RunStore's
// journal lock does); readers at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

struct sqlite3;

namespace davinci::store {

class BlobStore {
 public:
  enum class Access { kWrite, kRead };

  // Opens `file`, with kWrite creating it. NotFound when there is none to read;
  // FailedPrecondition when a newer davinci wrote it; Internal when it is damaged.
  static Result<std::unique_ptr<BlobStore>> Open(const std::filesystem::path& file, Access access);
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  // The blob's name. A full disk is ResourceExhausted and leaves the store as it was.
  Result<std::string> Put(std::string_view bytes);
  // NotFound when there is no such blob, Internal when its bytes are not what its name says.
  Result<std::string> Get(std::string_view name);
  Result<int64_t> Count();

 private:
  BlobStore(std::filesystem::path file, Access access);
  Status Connect() DAVINCI_REQUIRES(mutex_);
  Status SqliteError(int code, std::string_view doing) const DAVINCI_REQUIRES(mutex_);

  const std::filesystem::path file_;
  const Access access_;
  Mutex mutex_;
  sqlite3* db_ DAVINCI_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace davinci::store
