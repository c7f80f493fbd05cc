#include "davinci/store/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/number.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kJournalName[] = "journal.jsonl";
constexpr char kBlobsName[] = "blobs.sqlite";
constexpr char kStepsFolder[] = "steps";

}  // namespace

bool RunStore::IsRun(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / kJournalName, error) &&
         fs::file_size(folder / kJournalName, error) > 0;
}

Result<std::unique_ptr<RunStore>> RunStore::Create(const fs::path& folder, json header,
                                                   const std::vector<std::string_view>& blobs) {
  std::error_code error;
  if (IsRun(folder)) return InvalidArgument(fmt::format("{} already holds a run", folder.string()));
  if (fs::exists(folder, error)) {
    // What a Create() leaves behind that was killed half way is fine; anything else is the user's.
    if (!fs::is_directory(folder, error))
      return InvalidArgument(
          fmt::format("{} is not a folder; choose another --run", folder.string()));
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name != kJournalName && !name.starts_with(kBlobsName))
        return InvalidArgument(
            fmt::format("{} is not empty and holds no run ({} lies there); choose another --run",
                        folder.string(), name));
    }
  }
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  {
    // Blobs first: a folder whose journal has a header is complete.
    DAVINCI_ASSIGN_OR_RETURN(auto journal, Journal::Open(folder / kJournalName));
    DAVINCI_ASSIGN_OR_RETURN(auto store,
                             BlobStore::Open(folder / kBlobsName, BlobStore::Access::kWrite));
    for (const std::string_view blob : blobs) DAVINCI_RETURN_IF_ERROR(store->Put(blob).status());
    header["schema"] = kRunSchema;
    DAVINCI_RETURN_IF_ERROR(journal->Append(header));
  }
  return OpenAs(folder, BlobStore::Access::kWrite);
}

Result<std::unique_ptr<RunStore>> RunStore::Open(const fs::path& folder) {
  return OpenAs(folder, BlobStore::Access::kWrite);
}

Result<std::unique_ptr<RunStore>> RunStore::OpenForReading(const fs::path& folder) {
  return OpenAs(folder, BlobStore::Access::kRead);
}

Result<std::unique_ptr<RunStore>> RunStore::OpenAs(const fs::path& folder,
                                                   BlobStore::Access access) {
  if (!IsRun(folder)) return NotFound(fmt::format("{} holds no run", folder.string()));
  std::unique_ptr<RunStore> run(new RunStore(folder));
  run->writable_ = access == BlobStore::Access::kWrite;
  const auto own = run->Get(kRunSegment, run->writable_);
  if (!own.ok()) {
    if (own.status().code() != StatusCode::kUnavailable) return own.status();
    return Unavailable(fmt::format(
        "another process is working on the run {}; wait for it, or choose another --run (to "
        "find it: fuser {})",
        folder.string(), (folder / kJournalName).string()));
  }
  run->header_ = (*own)->header();
  const json schema = run->header_.is_object() ? run->header_.value("schema", json()) : json();
  if (schema == "davinci.run/1")
    return FailedPrecondition(fmt::format(
        "{} was written by an earlier davinci ({}; format davinci.run/1, one journal for all "
        "steps), which this one does not read; look at it with that version, or start anew with "
        "another --run",
        folder.string(), JsonText(run->header_.value("version", json("version unknown")))));
  if (schema != kRunSchema)
    return FailedPrecondition(
        fmt::format("{} is not a run of this davinci (its first line should say {})",
                    folder.string(), kRunSchema));
  DAVINCI_ASSIGN_OR_RETURN(run->blobs_, BlobStore::Open(folder / kBlobsName, access));
  return run;
}

fs::path RunStore::PathOf(int segment) const {
  if (segment == kRunSegment) return folder_ / kJournalName;
  return folder_ / kStepsFolder / fmt::format("{:08}.jsonl", segment);
}

Result<std::shared_ptr<Segment>> RunStore::Get(int segment, bool create) {
  MutexLock lock(mutex_);
  if (const auto found = open_.find(segment); found != open_.end()) return found->second;
  const fs::path path = PathOf(segment);
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (!create) return std::shared_ptr<Segment>();
    DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      auto opened, Segment::Open(path, writable_ ? Segment::Access::kWrite : Segment::Access::kRead,
                                 /*has_header=*/segment == kRunSegment));
  for (const int line : opened->damaged_lines()) {
    std::string place = fmt::format("{}:{}", fs::relative(path, folder_, error).string(), line);
    if (std::ranges::find(damaged_lines_, place) == damaged_lines_.end())
      damaged_lines_.push_back(std::move(place));
  }
  return open_[segment] = std::move(opened);
}

Result<std::optional<Unit>> RunStore::Find(std::string_view id, int segment) {
  DAVINCI_ASSIGN_OR_RETURN(const auto from, Get(segment, false));
  if (!from) return std::optional<Unit>();
  return from->Find(id);
}

Status RunStore::Record(std::string_view id, std::string_view kind, json body, int segment) {
  if (!writable_) return Internal(fmt::format("{} is open for reading only", folder_.string()));
  const Stopwatch watch;
  DAVINCI_ASSIGN_OR_RETURN(const auto to, Get(segment, true));
  DAVINCI_ASSIGN_OR_RETURN(const int64_t bytes, to->Record(id, kind, std::move(body)));
  MutexLock lock(mutex_);
  ++cost_.num_units;
  cost_.bytes += bytes;
  cost_.seconds += watch.Seconds();
  return Status::Ok();
}

Status RunStore::ForEachIn(int segment, const std::function<bool(const Unit&)>& visit) {
  DAVINCI_ASSIGN_OR_RETURN(const auto from, Get(segment, false));
  return from ? from->ForEach(visit).status() : Status::Ok();
}

Status RunStore::ForEach(const std::function<bool(const Unit&)>& visit) {
  std::vector<int> segments = Steps();
  segments.insert(segments.begin(), kRunSegment);
  for (const int segment : segments) {
    bool was_open = false;
    {
      MutexLock lock(mutex_);
      was_open = open_.contains(segment);
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto from, Get(segment, false));
    if (!from) continue;
    DAVINCI_ASSIGN_OR_RETURN(const bool more, from->ForEach(visit));
    if (!was_open) Release(segment);
    if (!more) break;
  }
  return Status::Ok();
}

std::vector<int> RunStore::Steps() const {
  std::vector<int> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / kStepsFolder, error)) {
    const std::string name = entry.path().stem().string();
    if (const auto step = WholeNumber<int>(name); step && *step > 0) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

void RunStore::Release(int segment) {
  if (segment == kRunSegment) return;
  MutexLock lock(mutex_);
  open_.erase(segment);
}

int64_t RunStore::NumOpenUnits() {
  MutexLock lock(mutex_);
  int64_t count = 0;
  for (const auto& [segment, units] : open_) count += units->NumUnits();
  return count;
}

Result<int64_t> RunStore::NumUnits() {
  int64_t count = 0;
  DAVINCI_RETURN_IF_ERROR(ForEach([&](const Unit&) {
    ++count;
    return true;
  }));
  return count;
}

std::vector<std::string> RunStore::damaged_lines() {
  MutexLock lock(mutex_);
  return damaged_lines_;
}

WriteCost RunStore::write_cost() {
  MutexLock lock(mutex_);
  return cost_;
}

}  // namespace davinci::store
