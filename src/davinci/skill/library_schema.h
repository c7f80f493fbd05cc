// The tables of a skill library and how older files become new ones.
//
//   bodies     documents by SHA-256: the fields of a skill and the text they were read from
//   events     append-only: one row per change, with the whole state of the record after it
//   skills     the state now, one row per name; follows from events
//   snapshots  the event at which a step ended, a digest of the state, what the flush did
//   staged     what waits for a flush, and afterwards what became of it
//
// The version is PRAGMA user_version, and application_id tells a skill library from other SQLite
// files. A new file runs through all migrations, so there is one path to the present form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

struct sqlite3;

namespace davinci::skill {

inline constexpr int kLibrarySchemaVersion = 2;

// The version of an open file; 0 for an empty one. InvalidArgument for a file that is something
// else, FailedPrecondition for one of a newer davinci. `file` names it in errors.
Result<int> LibrarySchemaVersion(sqlite3* db, std::string_view file);

// Brings the file to kLibrarySchemaVersion, each version in a transaction of its own. The caller
// holds the writer's lock.
Status MigrateLibrary(sqlite3* db, std::string_view file);

// SHA-256 over the state of all records at event `sequence`, as snapshots keep it.
Result<std::string> LibraryDigest(sqlite3* db, int64_t sequence, std::string_view file);

// The state of every record at event ?1: (name, body, evidence, usage, state, position, seq), rows
// of absent ones included.
inline constexpr char kStateAtEvent[] =
    "SELECT name, body, evidence, usage, state, position, seq FROM events WHERE seq IN "
    "(SELECT MAX(seq) FROM events WHERE seq <= ? GROUP BY name) ORDER BY name";

}  // namespace davinci::skill
