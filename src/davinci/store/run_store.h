// RunStore: everything a run knows, in one folder, so that nothing is lost and nothing is paid
// twice.
//
//   RUN/
//     recipe.toml     the settings in force, defaults included (written by the owner)
//     journal.jsonl   first line {"schema": "davinci.run/1", …what the owner passed}; then one line
//                     per finished unit {"unit", "kind", "finished_unix_s", "body"}
//     blobs.sqlite    prompts and sources by content (blob_store.h)
//     library/  tasks/  results/   belong to the run's owner
//
// The rule that makes kill -9 harmless: a program does each unit of work through Find() and
// Record(). What Find() knows is not done again; Record() returns after the unit is on the disk, so
// nobody uses a result that could still be lost. Started again, the same program finds what it had
// finished and goes on behind it. A call that was in flight is repeated.
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
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"
#include "davinci/store/blob_store.h"
#include "davinci/store/journal.h"

namespace davinci::store {

inline constexpr std::string_view kRunSchema = "davinci.run/1";

struct Unit {
  std::string id;    // unique within the run
  std::string kind;  // "generation", "judgement", …: what to count
  double finished_unix_s = 0;
  nlohmann::json body;
};

struct WriteCost {
  int64_t num_units = 0;  // recorded by this process
  double seconds = 0;     // callers spent in Record(), waiting for each other included
  int64_t bytes = 0;
};

class RunStore {
 public:
  // Makes the folder and an empty run. InvalidArgument when it exists and is not empty.
  // `header` (an object) becomes the first line of the journal, with "schema" added.
  static Result<std::unique_ptr<RunStore>> Create(const std::filesystem::path& folder,
                                                  nlohmann::json header);
  // An existing run, for going on with it. NotFound when the folder holds no run, Unavailable when
  // another process is at it, FailedPrecondition when a newer davinci wrote it. A folder in which
  // Create() was killed before it was done counts as no run and may be created again.
  static Result<std::unique_ptr<RunStore>> Open(const std::filesystem::path& folder);
  // For looking at it; Record() and PutBlob() are errors.
  static Result<std::unique_ptr<RunStore>> OpenForReading(const std::filesystem::path& folder);
  // Does `folder` hold a run (of whatever version)?
  static bool IsRun(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const nlohmann::json& header() const { return header_; }
  bool writable() const { return journal_ != nullptr; }

  // The finished unit, or nothing. An unreadable line is an error, never "not done".
  Result<std::optional<Unit>> Find(std::string_view id);
  // Makes a finished unit durable. Internal when there is one with this id already: every unit is
  // recorded exactly once. On failure (disk full) the run is as it was before and may be gone on
  // with once there is space.
  Status Record(std::string_view id, std::string_view kind, nlohmann::json body);
  // All units in the order in which they were finished; `visit` returns false to stop.
  Status ForEach(const std::function<bool(const Unit&)>& visit);
  int64_t NumUnits();

  Result<std::string> PutBlob(std::string_view bytes) { return blobs_->Put(bytes); }
  Result<std::string> GetBlob(std::string_view name) { return blobs_->Get(name); }

  // Lines that are not JSON (from 1); what stood there is done again.
  const std::vector<int>& damaged_lines() const { return damaged_lines_; }
  WriteCost write_cost();

 private:
  struct Place {
    int64_t offset = 0;
    int64_t size = 0;
  };
  explicit RunStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  static Result<std::unique_ptr<RunStore>> OpenAs(const std::filesystem::path& folder,
                                                  BlobStore::Access access);
  Status ReadIndex();
  Result<Unit> ReadAt(const Place& place) const;

  const std::filesystem::path folder_;
  nlohmann::json header_;
  std::unique_ptr<Journal> journal_;  // only when writable
  std::unique_ptr<BlobStore> blobs_;
  UniqueFd reader_;
  std::vector<int> damaged_lines_;

  std::mutex mutex_;  // guards everything below
  std::map<std::string, Place, std::less<>> places_;
  std::vector<Place> order_;
  int64_t end_ = 0;  // of the journal file
  WriteCost cost_;
};

}  // namespace davinci::store
