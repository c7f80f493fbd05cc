#include "davinci/skill/library_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "davinci/base/files.h"
#include "davinci/skill/library.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// The state of a file, as text: columns of tables and who may change events.
std::string SchemaOf(const fs::path& file) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  std::string schema;
  const auto append = [](void* out, int count, char** values, char**) {
    for (int i = 0; i < count; ++i)
      *static_cast<std::string*>(out) += std::string(values[i] != nullptr ? values[i] : "") + "|";
    *static_cast<std::string*>(out) += "\n";
    return 0;
  };
  for (const char* sql :
       {"PRAGMA user_version", "PRAGMA application_id",
        "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_master m, "
        "pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid",
        "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') ORDER BY name"})
    EXPECT_EQ(sqlite3_exec(db, sql, append, &schema, nullptr), SQLITE_OK);
  sqlite3_close(db);
  return schema;
}

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("schema-test");
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
    file_ = scratch_.path() / "old.db";
    auto dump = ReadFile(DAVINCI_SOURCE_DIR "/src/davinci/skill/testdata/library_v1.sql");
    ASSERT_TRUE(dump.ok());
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    ASSERT_EQ(sqlite3_exec(db, dump->c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(db);
  }
  std::unique_ptr<Library> Open(Access access) {
    LibraryOptions options;
    options.access = access;
    auto library = Library::Open(file_, options);
    EXPECT_TRUE(library.ok()) << library.status().ToString();
    return library.ok() ? std::move(*library) : nullptr;
  }
  TempDir scratch_;
  fs::path file_;
};

TEST_F(SchemaTest, AnOlderFileIsMigratedAndLosesNothing) {
  auto library = Open(Access::kWrite);
  ASSERT_NE(library, nullptr);
  const auto records = *library->All(true);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].skill.name, "one-pass");
  EXPECT_EQ(records[0].usage.selected, 2);
  EXPECT_EQ(records[0].evidence[0].uplift.low, 1.25);
  EXPECT_EQ(records[1].state, SkillState::kRetired);
  EXPECT_EQ(library->History("", 0)->size(), 4u);
  EXPECT_EQ(library->At({Moment::Kind::kStep, 1})->size(), 1u);
  EXPECT_EQ(library->Search("matmul softmax", 5)->size(), 1u);
  // What was flushed stays flushed, what was staged still waits.
  const auto again = *library->Flush(2);
  EXPECT_TRUE(again.already_flushed);
  EXPECT_THAT(again.retired, ElementsAre("tile-it"));
  ASSERT_TRUE(library->Flush(3).ok());
  EXPECT_EQ((*library->Get("one-pass"))->usage.selected, 4);
}

TEST_F(SchemaTest, OldSnapshotsGetTheDigestThatANewFileWouldHave) {
  auto migrated = Open(Access::kWrite);
  ASSERT_NE(migrated, nullptr);
  const auto snapshots = *migrated->Snapshots();
  ASSERT_EQ(snapshots.size(), 2u);
  EXPECT_EQ(snapshots[0].digest.size(), 64u);
  EXPECT_NE(snapshots[0].digest, snapshots[1].digest);
  // The digest follows from the state alone: back at step 1, a flush repeats that of step 1.
  ASSERT_TRUE(migrated->Rollback({Moment::Kind::kStep, 1}, "").ok());
  ASSERT_TRUE(migrated->Flush(2).ok());
  EXPECT_EQ(migrated->Snapshots()->back().digest, snapshots[0].digest);
}

TEST_F(SchemaTest, MigratedAndNewFilesHaveTheSameSchema) {
  Open(Access::kWrite);
  const fs::path fresh = scratch_.path() / "new.db";
  LibraryOptions options;
  options.access = Access::kWrite;
  ASSERT_TRUE(Library::Open(fresh, options).ok());
  EXPECT_EQ(SchemaOf(file_), SchemaOf(fresh));
}

TEST_F(SchemaTest, AReaderMigratesWhenNobodyWrites) {
  EXPECT_EQ(Open(Access::kRead)->All()->size(), 1u);
}

TEST_F(SchemaTest, AFileOfANewerDavinciIsLeftAlone) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  for (const Access access : {Access::kRead, Access::kWrite}) {
    LibraryOptions options;
    options.access = access;
    const auto library = Library::Open(file_, options);
    EXPECT_EQ(library.status().code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(library.status().message(), HasSubstr("newer davinci (format 99"));
  }
}

}  // namespace
}  // namespace davinci::skill
