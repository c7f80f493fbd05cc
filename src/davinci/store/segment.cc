#include "davinci/store/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kReadBytes = size_t{1} << 20;

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

Result<std::unique_ptr<Segment>> Segment::Open(const fs::path& path, Access access,
                                               bool has_header) {
  std::unique_ptr<Segment> segment(new Segment(path));
  if (access == Access::kWrite) {
    DAVINCI_ASSIGN_OR_RETURN(segment->journal_, Journal::Open(path));
  }
  segment->reader_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!segment->reader_.valid()) {
    if (errno == ENOENT) return NotFound(fmt::format("{}: no such file", path.string()));
    return FromErrno(errno, path.string());
  }
  const MutexLock lock(segment->mutex_);
  DAVINCI_RETURN_IF_ERROR(segment->ReadIndex(has_header));
  return segment;
}

Status Segment::ReadIndex(bool has_header) {
  std::string pending;  // the beginning of a line whose end is not read yet
  int line_number = 0;
  int64_t end = 0;
  std::string buffer(kReadBytes, '\0');
  for (int64_t offset = 0;;) {
    const ssize_t got = ::pread(reader_.get(), buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, "reading " + path_.string());
    if (got == 0) break;
    offset += got;
    std::string_view rest(buffer.data(), static_cast<size_t>(got));
    for (size_t newline; (newline = rest.find('\n')) != std::string_view::npos;) {
      pending += rest.substr(0, newline);
      rest.remove_prefix(newline + 1);
      ++line_number;
      const Place place{end, static_cast<int64_t>(pending.size())};
      end += place.size + 1;
      json line = json::parse(pending, nullptr, /*allow_exceptions=*/false);
      pending.clear();
      if (has_header && line_number == 1) {
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

Result<Unit> Segment::ReadAt(const Place& place) const {
  std::string text(static_cast<size_t>(place.size), '\0');
  DAVINCI_RETURN_IF_ERROR(
      ReadExactly(reader_.get(), place.offset, text.data(), text.size(), path_));
  json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !line.contains("body"))
    return Internal(fmt::format("{}: the line at byte {} changed while the run was open",
                                path_.string(), place.offset));
  Unit unit;
  try {
    unit.id = line.at("unit").get<std::string>();
    unit.kind = line.at("kind").get<std::string>();
    unit.finished_unix_s = line.at("finished_unix_s").get<double>();
  } catch (const json::exception& error) {
    return Internal(fmt::format("{}: the line at byte {} is no unit: {}", path_.string(),
                                place.offset, error.what()));
  }
  unit.body = std::move(line["body"]);
  return unit;
}

Result<std::optional<Unit>> Segment::Find(std::string_view id) {
  Place place;
  {
    MutexLock lock(mutex_);
    const auto found = places_.find(id);
    if (found == places_.end()) return std::optional<Unit>();
    place = found->second;
  }
  DAVINCI_ASSIGN_OR_RETURN(Unit unit, ReadAt(place));
  return std::optional<Unit>(std::move(unit));
}

Result<int64_t> Segment::Record(std::string_view id, std::string_view kind, json body) {
  if (!journal_) return Internal(fmt::format("{} is open for reading only", path_.string()));
  MutexLock lock(mutex_);
  if (places_.contains(id))
    return Internal(fmt::format("{}: the unit \"{}\" is recorded already", path_.string(), id));
  const json line = {{"unit", id},
                     {"kind", kind},
                     {"finished_unix_s", NowUnixSeconds()},
                     {"body", std::move(body)}};
  const int64_t before = journal_->size_bytes();
  if (const Status written = journal_->Append(line); !written.ok()) {
    if (written.code() != StatusCode::kResourceExhausted) return written;
    return ResourceExhausted(
        fmt::format("{}; free some space, then give the same command again; it continues from here",
                    written.message()));
  }
  const int64_t bytes = journal_->size_bytes() - before;
  const Place place{before, bytes - 1};
  places_.emplace(std::string(id), place);
  order_.push_back(place);
  return bytes;
}

Result<bool> Segment::ForEach(const std::function<bool(const Unit&)>& visit) {
  std::vector<Place> order;
  {
    MutexLock lock(mutex_);
    order = order_;
  }
  for (const Place& place : order) {
    DAVINCI_ASSIGN_OR_RETURN(const Unit unit, ReadAt(place));
    if (!visit(unit)) return false;
  }
  return true;
}

int64_t Segment::NumUnits() {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(order_.size());
}

}  // namespace davinci::store
