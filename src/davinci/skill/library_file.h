// Opening the file of a skill library: connection, writer's lock, migration.
#pragma once

#include <filesystem>
#include <memory>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

struct sqlite3;

namespace davinci::skill {

class LibraryFile {
 public:
  // Errors as promised by Library::Open (library.h).
  static Result<std::unique_ptr<LibraryFile>> OpenForReading(const std::filesystem::path& file);
  static Result<std::unique_ptr<LibraryFile>> OpenForWriting(const std::filesystem::path& file);
  static Result<std::unique_ptr<LibraryFile>> OpenInMemory();
  ~LibraryFile();
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  sqlite3* db() const { return db_; }
  // For messages.
  const std::string& name() const { return name_; }

 private:
  explicit LibraryFile(std::string name) : name_(std::move(name)) {}
  Status Connect(int flags);

  const std::string name_;
  UniqueFd writer_lock_;
  sqlite3* db_ = nullptr;  // closed before the lock is released
};

}  // namespace davinci::skill
