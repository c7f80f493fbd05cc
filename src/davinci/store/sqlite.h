// What every user of SQLite in this project needs: a prepared statement that finalises itself, and
// one reading of SQLite's error codes.
//
// Not thread-safe; the owner of the connection serialises.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace davinci::store {

// A prepared statement; parameters are bound in order of the '?'. The first error sticks and is
// what Step() returns.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& Bind(std::string_view text);
  Statement& Bind(int64_t number);
  Statement& BindNull();
  // SQLITE_ROW, SQLITE_DONE or an extended error code.
  int Step();
  // Ready to be bound and stepped again.
  void Reset();

  // Columns of the current row.
  std::string Text(int column) const;
  int64_t Int(int column) const;
  bool IsNull(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_;
  int bound_ = 0;
};

// The failure `code` (not SQLITE_OK, _ROW or _DONE) of `db`, which may be null. `what` names action
// and file: "writing the library skills.db". A full disk or quota is ResourceExhausted, a lock held
// by another connection Unavailable, missing rights PermissionDenied, a damaged or foreign file
// InvalidArgument, the rest Internal.
Status SqliteFailure(sqlite3* db, int code, std::string_view what);

// Runs statements that give no rows.
Status SqliteExec(sqlite3* db, const std::string& sql, std::string_view what);

}  // namespace davinci::store
