// RunStore: everything a run knows, in one folder, so that nothing is lost and nothing is paid
// twice.
//
//   RUN/
//     recipe.toml     the settings in force, defaults included (written by the owner)
//     journal.jsonl   first line {"schema": "davinci.run/2", …what the owner passed}; then the
//     units
//                     that belong to no step, one line each {"unit", "kind", "finished_unix_s",
//                     "body"}
//     steps/00000001.jsonl, …   the units of each step, in the same form
//     blobs.sqlite    prompts, sources, task texts and token traces by content (blob_store.h)
//     library/  tasks/  results/   belong to the run's owner
//
// A run may be of any length: a step's file (segment) is opened when one of its units is asked for
// and forgotten with Release(), and nothing here reads more than one of them at a time.
//
// The rule that makes kill -9 harmless: a program does each unit of work through Find() and
// Record(). What Find() knows is not done again; Record() returns after the unit is on the disk, so
// no result is used that could still be lost. Started again, the same program finds what it had
// finished and continues after it. A call that was in flight is repeated.
//
// Threads: all methods may be called from any thread. Processes: one writer, enforced by a lock on
// the journal that dies with the process; the second one gets Unavailable with the folder's name.
// Readers need no lock and see what was durable when they opened.
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
#include "davinci/store/blob_store.h"
#include "davinci/store/segment.h"

namespace davinci::store {

inline constexpr std::string_view kRunSchema = "davinci.run/2";

// The segment of units that belong to no step; steps count from 1.
inline constexpr int kRunSegment = 0;

struct WriteCost {
  int64_t num_units = 0;  // recorded by this process
  double seconds = 0;     // callers spent in Record(), waiting for each other included
  int64_t bytes = 0;
};

class RunStore {
 public:
  // Makes the folder and an empty run. InvalidArgument when it exists and is not empty.
  // `header` (an object) becomes the first line of the journal, with "schema" added; `blobs` are
  // stored before it, so that it may name them.
  static Result<std::unique_ptr<RunStore>> Create(const std::filesystem::path& folder,
                                                  nlohmann::json header,
                                                  const std::vector<std::string_view>& blobs = {});
  // An existing run, for going on with it. NotFound when the folder holds no run, Unavailable when
  // another process is at it, FailedPrecondition when another version of davinci wrote it (also
  // davinci.run/1, which had one journal for all steps: it is not read). A folder in which
  // Create() was killed before it was done counts as no run and may be created again.
  static Result<std::unique_ptr<RunStore>> Open(const std::filesystem::path& folder);
  // For looking at it; Record() and PutBlob() are errors.
  static Result<std::unique_ptr<RunStore>> OpenForReading(const std::filesystem::path& folder);
  // Does `folder` hold a run (of whatever version)?
  static bool IsRun(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const nlohmann::json& header() const { return header_; }
  bool writable() const { return writable_; }

  // The finished unit, or nothing. An unreadable line is an error, never "not done".
  Result<std::optional<Unit>> Find(std::string_view id, int segment = kRunSegment);
  // Makes a finished unit durable. Internal when the segment has one with this id already: every
  // unit is recorded exactly once. On failure (disk full) the run is as it was before and may be
  // gone on with once there is space.
  Status Record(std::string_view id, std::string_view kind, nlohmann::json body,
                int segment = kRunSegment);
  // All units of one segment in the order in which they were finished; `visit` returns false to
  // stop. ForEach: of all segments, the run's own first, holding one segment's index at a time.
  Status ForEachIn(int segment, const std::function<bool(const Unit&)>& visit);
  Status ForEach(const std::function<bool(const Unit&)>& visit);
  // Steps that have a segment, ascending.
  std::vector<int> Steps() const;
  // Forgets a segment's index; it is read again when it is needed.
  void Release(int segment);
  // Of the segments that are open. With everything released: of the run's own.
  int64_t NumOpenUnits();
  // Of all segments; reads each that is not open.
  Result<int64_t> NumUnits();

  Result<std::string> PutBlob(std::string_view bytes) { return blobs_->Put(bytes); }
  Result<std::string> GetBlob(std::string_view name) { return blobs_->Get(name); }

  // "FILE:LINE" of lines that are not JSON, in the segments opened so far; what stood there is done
  // again.
  std::vector<std::string> damaged_lines();
  WriteCost write_cost();

 private:
  explicit RunStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  static Result<std::unique_ptr<RunStore>> OpenAs(const std::filesystem::path& folder,
                                                  BlobStore::Access access);
  std::filesystem::path PathOf(int segment) const;
  // Null when a segment is only to be read and there is none.
  Result<std::shared_ptr<Segment>> Get(int segment, bool create);

  const std::filesystem::path folder_;
  nlohmann::json header_;
  bool writable_ = false;
  std::unique_ptr<BlobStore> blobs_;

  Mutex mutex_;
  std::map<int, std::shared_ptr<Segment>> open_ DAVINCI_GUARDED_BY(mutex_);
  std::vector<std::string> damaged_lines_ DAVINCI_GUARDED_BY(mutex_);
  WriteCost cost_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::store
