// Inside of Library: its state, and the steps of its changes. Not for others.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/skill/admission_rules.h"
#include "davinci/skill/library_file.h"
#include "davinci/skill/library_types.h"
#include "davinci/skill/minhash.h"
#include "davinci/skill/record_store.h"
#include "davinci/skill/search_index.h"
#include "davinci/store/sqlite.h"

namespace davinci::skill {

struct LibraryState {
  LibraryState(std::unique_ptr<LibraryFile> opened, LibraryOptions opts)
      : file(std::move(opened)),
        options(std::move(opts)),
        store(file->db(), file->name(), options.actor) {}

  const std::unique_ptr<LibraryFile> file;
  const LibraryOptions options;
  SearchIndex search;

  Mutex mutex;  // guards the connection, and everything below
  RecordStore store DAVINCI_GUARDED_BY(mutex);
  // Every record's content, inactive ones too; made when the first skill asks to enter.
  std::optional<NearDuplicateIndex> near_duplicates DAVINCI_GUARDED_BY(mutex);

  sqlite3* db() const { return file->db(); }
  std::string Doing(std::string_view what) const {
    return fmt::format("{} the library {}", what, file->name());
  }
  int64_t Now() const;

  // Runs `body` in one transaction: all of it or nothing.
  Status Transact(const std::function<Status()>& body) DAVINCI_REQUIRES(mutex);
  Status Write(const Record& record, const Cause& cause) DAVINCI_REQUIRES(mutex);
  Result<AdmissionResult> Admit(const Skill& skill, const std::vector<Evidence>& evidence,
                                std::optional<int64_t> step, bool is_version = false)
      DAVINCI_REQUIRES(mutex);
  Result<Encounter> Meet(const Skill& skill) DAVINCI_REQUIRES(mutex);
  Result<bool> StageDocument(int64_t step, const std::string& key, const char* kind,
                             const std::string& document) DAVINCI_REQUIRES(mutex);
  Result<std::optional<Snapshot>> LatestSnapshot() DAVINCI_REQUIRES(mutex);
  Result<std::vector<Snapshot>> AllSnapshots() DAVINCI_REQUIRES(mutex);
  Result<int64_t> SequenceOf(const Moment& moment) DAVINCI_REQUIRES(mutex);

  // The parts of Flush(step), in their order.
  Status AdmitStaged(int64_t step, FlushResult* result) DAVINCI_REQUIRES(mutex);
  Status CountUsage(int64_t step, const std::map<std::string, Usage>& usage)
      DAVINCI_REQUIRES(mutex);
  Status Retire(int64_t step, int64_t since_sequence, FlushResult* result) DAVINCI_REQUIRES(mutex);
  Status Evict(int64_t step, FlushResult* result) DAVINCI_REQUIRES(mutex);
  Status WriteSnapshot(int64_t step, const FlushResult& result) DAVINCI_REQUIRES(mutex);
};

}  // namespace davinci::skill
