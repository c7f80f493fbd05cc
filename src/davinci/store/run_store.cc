#include "davinci/store/run_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kJournalName[] = "journal.jsonl";
constexpr char kBlobsName[] = "blobs.sqlite";
constexpr size_t kReadBytes = size_t{1} << 20;

double NowUnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Reads `size` bytes at `offset`, or fails.
Status ReadExactly(int fd, int64_t offset, char* data, size_t size, const fs::path& path) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, data, size, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return FromErrno(got < 0 ? errno : EIO, "reading " + path.string());
    data += got;
    offset += got;
    size -= static_cast<size_t>(got);
  }
  return Status::Ok();
}

}  // namespace

bool RunStore::IsRun(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / kJournalName, error) &&
         fs::file_size(folder / kJournalName, error) > 0;
}

Result<std::unique_ptr<RunStore>> RunStore::Create(const fs::path& folder, json header) {
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
    DAVINCI_ASSIGN_OR_RETURN(auto blobs,
                             BlobStore::Open(folder / kBlobsName, BlobStore::Access::kWrite));
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
  if (access == BlobStore::Access::kWrite) {
    auto journal = Journal::Open(folder / kJournalName);
    if (!journal.ok()) {
      if (journal.status().code() != StatusCode::kUnavailable) return journal.status();
      return Unavailable(fmt::format(
          "another process is working on the run {}; wait for it, or choose another --run (to "
          "find it: fuser {})",
          folder.string(), (folder / kJournalName).string()));
    }
    run->journal_ = std::move(journal).value();
  }
  DAVINCI_ASSIGN_OR_RETURN(run->blobs_, BlobStore::Open(folder / kBlobsName, access));
  const fs::path journal_path = folder / kJournalName;
  run->reader_ = UniqueFd(::open(journal_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!run->reader_.valid()) return FromErrno(errno, journal_path.string());
  DAVINCI_RETURN_IF_ERROR(run->ReadIndex());
  return run;
}

Status RunStore::ReadIndex() {
  const fs::path path = folder_ / kJournalName;
  std::string pending;  // the beginning of a line whose end is not read yet
  int line_number = 0;
  bool header_seen = false;
  std::string buffer(kReadBytes, '\0');
  for (int64_t offset = 0;;) {
    const ssize_t got = ::pread(reader_.get(), buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, "reading " + path.string());
    if (got == 0) break;
    offset += got;
    std::string_view rest(buffer.data(), static_cast<size_t>(got));
    for (size_t newline; (newline = rest.find('\n')) != std::string_view::npos;) {
      pending += rest.substr(0, newline);
      rest.remove_prefix(newline + 1);
      ++line_number;
      const Place place{end_, static_cast<int64_t>(pending.size())};
      end_ += place.size + 1;
      json line = json::parse(pending, nullptr, /*allow_exceptions=*/false);
      pending.clear();
      if (!header_seen) {
        header_seen = true;
        if (!line.is_object() || line.value("schema", json()) != kRunSchema)
          return FailedPrecondition(
              fmt::format("{} is not a run of this davinci (its first line should say {})",
                          folder_.string(), kRunSchema));
        header_ = std::move(line);
      } else if (!line.is_object() || !line.contains("unit") || !line["unit"].is_string()) {
        damaged_lines_.push_back(line_number);
      } else if (places_.emplace(line["unit"].get<std::string>(), place).second) {
        order_.push_back(place);
      }
    }
    pending += rest;
  }
  return Status::Ok();
}

Result<Unit> RunStore::ReadAt(const Place& place) const {
  std::string text(static_cast<size_t>(place.size), '\0');
  DAVINCI_RETURN_IF_ERROR(
      ReadExactly(reader_.get(), place.offset, text.data(), text.size(), folder_ / kJournalName));
  json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !line.contains("body"))
    return Internal(fmt::format("{}: the line at byte {} changed while the run was open",
                                (folder_ / kJournalName).string(), place.offset));
  Unit unit;
  try {
    unit.id = line.at("unit").get<std::string>();
    unit.kind = line.at("kind").get<std::string>();
    unit.finished_unix_s = line.at("finished_unix_s").get<double>();
  } catch (const json::exception& error) {
    return Internal(fmt::format("{}: the line at byte {} is no unit: {}",
                                (folder_ / kJournalName).string(), place.offset, error.what()));
  }
  unit.body = std::move(line["body"]);
  return unit;
}

Result<std::optional<Unit>> RunStore::Find(std::string_view id) {
  Place place;
  {
    std::lock_guard lock(mutex_);
    const auto found = places_.find(id);
    if (found == places_.end()) return std::optional<Unit>();
    place = found->second;
  }
  DAVINCI_ASSIGN_OR_RETURN(Unit unit, ReadAt(place));
  return std::optional<Unit>(std::move(unit));
}

Status RunStore::Record(std::string_view id, std::string_view kind, json body) {
  if (!journal_) return Internal(fmt::format("{} is open for reading only", folder_.string()));
  const Stopwatch watch;
  std::lock_guard lock(mutex_);
  if (places_.contains(id))
    return Internal(fmt::format("{}: the unit \"{}\" is recorded already", folder_.string(), id));
  const json line = {{"unit", id},
                     {"kind", kind},
                     {"finished_unix_s", NowUnixSeconds()},
                     {"body", std::move(body)}};
  const int64_t before = journal_->size_bytes();
  if (const Status written = journal_->Append(line); !written.ok()) {
    if (written.code() != StatusCode::kResourceExhausted) return written;
    return ResourceExhausted(
        fmt::format("{}; free some space, then give the same command again, it goes on from here",
                    written.message()));
  }
  end_ = journal_->size_bytes();
  const Place place{before, end_ - before - 1};
  places_.emplace(std::string(id), place);
  order_.push_back(place);
  ++cost_.num_units;
  cost_.bytes += end_ - before;
  cost_.seconds += watch.Seconds();
  return Status::Ok();
}

Status RunStore::ForEach(const std::function<bool(const Unit&)>& visit) {
  std::vector<Place> order;
  {
    std::lock_guard lock(mutex_);
    order = order_;
  }
  for (const Place& place : order) {
    DAVINCI_ASSIGN_OR_RETURN(const Unit unit, ReadAt(place));
    if (!visit(unit)) break;
  }
  return Status::Ok();
}

int64_t RunStore::NumUnits() {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(order_.size());
}

WriteCost RunStore::write_cost() {
  std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace davinci::store
