// Inside of Library: state and steps shared by library.cc and library_flush.cc. Not for others.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "davinci/skill/library.h"
#include "davinci/skill/library_file.h"
#include "davinci/skill/minhash.h"
#include "davinci/skill/record_store.h"
#include "davinci/skill/search_index.h"
#include "davinci/store/sqlite.h"

namespace davinci::skill {

struct Library::Impl {
  Impl(std::unique_ptr<LibraryFile> opened, LibraryOptions opts)
      : file(std::move(opened)),
        options(std::move(opts)),
        store(file->db(), file->name(), options.actor) {}

  const std::unique_ptr<LibraryFile> file;
  const LibraryOptions options;
  SearchIndex search;

  std::mutex mutex;  // guards the connection, and everything below
  RecordStore store;
  // Every record's content, inactive ones too; made when the first skill asks to enter.
  std::optional<NearDuplicateIndex> near_duplicates;

  sqlite3* db() const { return file->db(); }
  std::string Doing(std::string_view what) const {
    return fmt::format("{} the library {}", what, file->name());
  }
  int64_t Now() const;

  // Runs `body` in one transaction: all of it or nothing.
  template <typename Body>
  Status Transact(Body body);
  Status Write(const Record& record, const Cause& cause);
  Result<AdmissionResult> Admit(const Skill& skill, const std::vector<Evidence>& evidence,
                                std::optional<int64_t> step, bool is_version = false);
  Result<Encounter> Meet(const Skill& skill);
  Result<bool> StageDocument(int64_t step, const std::string& key, const char* kind,
                             const std::string& document);
  Result<std::optional<Snapshot>> LatestSnapshot();
  Result<std::vector<Snapshot>> AllSnapshots();
  Result<int64_t> SequenceOf(const Moment& moment);

  // The parts of Flush(step), in their order.
  Status AdmitStaged(int64_t step, FlushResult* result);
  Status CountUsage(int64_t step, const std::map<std::string, Usage>& usage);
  Status Retire(int64_t step, int64_t since_sequence, FlushResult* result);
  Status Evict(int64_t step, FlushResult* result);
  Status WriteSnapshot(int64_t step, const FlushResult& result);
};

template <typename Body>
Status Library::Impl::Transact(Body body) {
  if (options.access != Access::kWrite)
    return FailedPrecondition(fmt::format("the library {} was opened for reading", file->name()));
  DAVINCI_RETURN_IF_ERROR(store::SqliteExec(db(), "BEGIN IMMEDIATE", Doing("writing")));
  Status status = body();
  if (status.ok()) status = store::SqliteExec(db(), "COMMIT", Doing("writing"));
  if (!status.ok()) {
    sqlite3_exec(db(), "ROLLBACK", nullptr, nullptr, nullptr);
    near_duplicates.reset();  // may know what was taken back
  }
  return status;
}

}  // namespace davinci::skill
