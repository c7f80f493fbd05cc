// Segment: one append-only file of finished units and the index of where each stands.
//
// A run has one for every step and one for what belongs to no step (run_store.h). The index is of
// this file alone, so that a run's memory does not grow with its length. Threads: any. Processes:
// one writer, by the lock of Journal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"
#include "davinci/store/journal.h"

namespace davinci::store {

struct Unit {
  std::string id;    // unique within the run
  std::string kind;  // "generation", "judgement", …: what to count
  double finished_unix_s = 0;
  nlohmann::json body;
};

class Segment {
 public:
  enum class Access { kWrite, kRead };
  // With `has_header` the first line is no unit; header() has it. kWrite creates the file. Errors
  // as Journal::Open; NotFound without a file to read.
  static Result<std::unique_ptr<Segment>> Open(const std::filesystem::path& path, Access access,
                                               bool has_header);

  // An unreadable line is an error, never "not there".
  Result<std::optional<Unit>> Find(std::string_view id);
  // Returns after the unit is on the disk, with the bytes it took. Internal when there is one with
  // this id already.
  Result<int64_t> Record(std::string_view id, std::string_view kind, nlohmann::json body);
  // In the order of finishing; `visit` returns false to stop, and then the result is false.
  Result<bool> ForEach(const std::function<bool(const Unit&)>& visit);
  int64_t NumUnits();

  const nlohmann::json& header() const { return header_; }
  // Lines that are not JSON (from 1); what stood there is done again.
  const std::vector<int>& damaged_lines() const { return damaged_lines_; }

 private:
  struct Place {
    int64_t offset = 0;
    int64_t size = 0;
  };
  explicit Segment(std::filesystem::path path) : path_(std::move(path)) {}
  Status ReadIndex(bool has_header) DAVINCI_REQUIRES(mutex_);
  Result<Unit> ReadAt(const Place& place) const;

  const std::filesystem::path path_;
  nlohmann::json header_;
  std::unique_ptr<Journal> journal_;  // only when writable
  UniqueFd reader_;
  std::vector<int> damaged_lines_;

  Mutex mutex_;
  std::map<std::string, Place, std::less<>> places_ DAVINCI_GUARDED_BY(mutex_);
  std::vector<Place> order_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::store
