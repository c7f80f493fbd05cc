// Records of a skill library as rows: reads states, writes changes together with their events.
//
// The only place that knows the columns. No rules and no transactions: the caller (library.cc) has
// both, and serialises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

struct sqlite3;

namespace davinci::skill {

// Who changes something, when and why; becomes part of the event.
struct Cause {
  std::string kind;
  std::string reason;
  std::optional<int64_t> step;
};

class RecordStore {
 public:
  // `db` stays the caller's; `file` names it in errors.
  RecordStore(sqlite3* db, std::string file, std::string actor)
      : db_(db), file_(std::move(file)), actor_(std::move(actor)) {}

  Result<std::optional<Record>> Find(std::string_view name) const;
  // By order of arrival.
  Result<std::vector<Record>> All() const;
  // By name, as they were after event `sequence`.
  Result<std::vector<Record>> At(int64_t sequence) const;
  // Records whose latest event is later than `sequence`; of those that are gone, only the name.
  struct Change {
    std::string name;
    std::optional<Record> record;
  };
  Result<std::vector<Change>> ChangedAfter(int64_t sequence) const;

  Result<int64_t> LastSequence() const;
  Result<int64_t> LastPosition() const;
  Result<int64_t> CountActive() const;

  // Writes the record as it is now, and the event.
  Status Put(const Record& record, const Cause& cause, int64_t unix_s);
  // The record is gone (a rollback to before it came); its history stays.
  Status Remove(const Record& record, const Cause& cause, int64_t unix_s);

 private:
  Result<std::vector<Record>> Read(std::string_view sql, std::optional<int64_t> sequence) const;
  Status Write(const Record& record, std::string_view state, const Cause& cause, int64_t unix_s);
  Result<int64_t> Number(std::string_view sql) const;
  std::string Doing(std::string_view what) const;

  sqlite3* db_;
  std::string file_;
  std::string actor_;
};

}  // namespace davinci::skill
