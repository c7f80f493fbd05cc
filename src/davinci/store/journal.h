// Journal: a file of JSON lines to which one process appends finished units of work, each exactly
// once.
//
// Append() returns after the line is on the disk: what the journal reports as done is done, also
// after kill -9 or power loss. A line that was being written then is torn; it is not reported, and
// the next writer cuts it off. Used by batches to resume: read the journal, skip what is in it,
// append the rest.
//
// One writer at a time, enforced with flock(2) on the file itself (no lock file stays behind).
// Readers need no lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::store {

struct JournalContent {
  std::vector<nlohmann::json> records;  // in order of writing
  std::vector<int>
      damaged_lines;  // complete lines (from 1) that are not JSON: their work has to be done again
  bool torn_tail = false;  // the last line had no end; it does not count
};

class Journal {
 public:
  // Opens or creates `path` for appending; its folder must exist. Unavailable when another process
  // is writing it. A torn last line is cut off.
  static Result<std::unique_ptr<Journal>> Open(const std::filesystem::path& path);

  // A journal that does not exist is NotFound.
  static Result<JournalContent> Read(const std::filesystem::path& path);

  // Adds one line and makes it durable. On failure the file is as it was before. Any thread.
  Status Append(const nlohmann::json& record);

  const std::filesystem::path& path() const { return path_; }
  // Of complete lines: where the next one will begin.
  int64_t size_bytes();

 private:
  Journal(std::filesystem::path path, UniqueFd fd, int64_t size_bytes);

  const std::filesystem::path path_;
  Mutex mutex_;
  UniqueFd fd_ DAVINCI_GUARDED_BY(mutex_);
  int64_t size_bytes_ DAVINCI_GUARDED_BY(mutex_);  // of complete lines
  Status broken_ DAVINCI_GUARDED_BY(mutex_);       // set when a failed line could not be taken back
};

}  // namespace davinci::store
