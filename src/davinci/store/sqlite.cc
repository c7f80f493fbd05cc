#include "davinci/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace davinci::store {

Statement::Statement(sqlite3* db, std::string_view sql)
    : code_(
          sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bind(std::string_view text) {
  // A null pointer would bind NULL, not the empty text.
  if (code_ == SQLITE_OK)
    code_ = sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                                SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int64_t number) {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, number);
  return *this;
}

Statement& Statement::BindNull() {
  if (code_ == SQLITE_OK) code_ = sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

int Statement::Step() { return code_ == SQLITE_OK ? sqlite3_step(statement_) : code_; }

void Statement::Reset() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  bound_ = 0;
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr
             ? ""
             : std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Status SqliteFailure(sqlite3* db, int code, std::string_view what) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:  // a quota or a file-size limit looks like any other failed write
      return ResourceExhausted(fmt::format(
          "{}: the disk is full, a quota is reached or the disk fails ({}); nothing was "
          "changed, free some space and give the same command again",
          what, sqlite3_errstr(code)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable(fmt::format("{}: another process kept it locked; repeat later", what));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return PermissionDenied(fmt::format("{}: {}", what, sqlite3_errstr(code)));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return InvalidArgument(
          fmt::format("{}: {}; restore it from a copy", what, sqlite3_errstr(code)));
    default:
      return Internal(fmt::format("{}: {}{}{}", what, sqlite3_errstr(code),
                                  db == nullptr ? "" : ": ",
                                  db == nullptr ? "" : sqlite3_errmsg(db)));
  }
}

Status SqliteExec(sqlite3* db, const std::string& sql, std::string_view what) {
  const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::Ok() : SqliteFailure(db, sqlite3_extended_errcode(db), what);
}

}  // namespace davinci::store
