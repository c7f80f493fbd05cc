#include "davinci/store/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci::store {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("run-store");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    folder_ = dir_.path() / "run";
  }
  std::unique_ptr<RunStore> Create() {
    auto run = RunStore::Create(folder_, {{"title", "t"}});
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    return run.ok() ? std::move(run).value() : nullptr;
  }

  TempDir dir_;
  std::filesystem::path folder_;
};

TEST_F(RunStoreTest, WhatWasRecordedIsFoundAgainByALaterProcess) {
  {
    auto run = Create();
    ASSERT_TRUE(run->Record("generation 1", "generation", {{"text", "two\nlines"}}).ok());
    EXPECT_EQ(run->Find("generation 1")->value().body["text"], "two\nlines");
  }
  auto run = RunStore::Open(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ((*run)->header()["title"], "t");
  const auto unit = (*run)->Find("generation 1");
  ASSERT_TRUE(unit.ok() && *unit);
  EXPECT_EQ(unit->value().kind, "generation");
  EXPECT_EQ(unit->value().body["text"], "two\nlines");
  EXPECT_GT(unit->value().finished_unix_s, 0);
  EXPECT_FALSE(*(*run)->Find("generation 2"));
}

TEST_F(RunStoreTest, AUnitIsRecordedOnce) {
  auto run = Create();
  ASSERT_TRUE(run->Record("a", "k", 1).ok());
  EXPECT_EQ(run->Record("a", "k", 2).code(), StatusCode::kInternal);
  EXPECT_EQ(run->Find("a")->value().body, 1);
  EXPECT_EQ(*run->NumUnits(), 1);
}

TEST_F(RunStoreTest, UnitsComeInTheOrderTheyWereFinished) {
  auto run = Create();
  for (const char* id : {"c", "a", "b"}) ASSERT_TRUE(run->Record(id, "k", id).ok());
  std::vector<std::string> ids;
  ASSERT_TRUE(run->ForEach([&](const Unit& unit) {
                   ids.push_back(unit.id);
                   return ids.size() < 2;
                 })
                  .ok());
  EXPECT_THAT(ids, ElementsAre("c", "a"));
}

TEST_F(RunStoreTest, ASecondWriterIsRefusedAndAReaderIsNot) {
  auto run = Create();
  ASSERT_TRUE(run->Record("a", "k", 1).ok());
  const auto second = RunStore::Open(folder_);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr(folder_.string()));
  auto reader = RunStore::OpenForReading(folder_);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*(*reader)->Find("a")).has_value());
  EXPECT_FALSE((*reader)->Record("b", "k", 1).ok());
  EXPECT_FALSE((*reader)->PutBlob("x").ok());
}

TEST_F(RunStoreTest, ATornLastUnitIsDoneAgain) {
  {
    auto run = Create();
    ASSERT_TRUE(run->Record("a", "k", 1).ok());
  }
  std::ofstream(folder_ / "journal.jsonl", std::ios::app) << R"({"unit":"b","kind":"k","bo)";
  auto run = RunStore::Open(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(*(*run)->Find("b"));
  ASSERT_TRUE((*run)->Record("b", "k", 2).ok());
  EXPECT_EQ((*run)->Find("b")->value().body, 2);
}

TEST_F(RunStoreTest, ADamagedLineCostsOnlyItself) {
  {
    auto run = Create();
    for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(run->Record(id, "k", id).ok());
  }
  std::string text = *ReadFile(folder_ / "journal.jsonl");
  text[text.find("\"b\"")] = '\x01';
  ASSERT_TRUE(WriteFileAtomic(folder_ / "journal.jsonl", text).ok());
  auto run = RunStore::Open(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_THAT((*run)->damaged_lines(), ElementsAre("journal.jsonl:3"));
  EXPECT_TRUE((*(*run)->Find("a")).has_value());
  EXPECT_TRUE((*(*run)->Find("c")).has_value());
}

TEST_F(RunStoreTest, ACreationThatWasKilledMayBeRepeated) {
  ASSERT_TRUE(MakeDirs(folder_).ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ / "journal.jsonl", "").ok());
  EXPECT_FALSE(RunStore::IsRun(folder_));
  EXPECT_NE(Create(), nullptr);
}

TEST_F(RunStoreTest, AFolderOfSomethingElseIsLeftAlone) {
  ASSERT_TRUE(MakeDirs(folder_).ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ / "thesis.tex", "x").ok());
  const auto run = RunStore::Create(folder_, json::object());
  EXPECT_EQ(run.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(run.status().message(), HasSubstr("thesis.tex"));
  EXPECT_EQ(RunStore::Open(folder_).status().code(), StatusCode::kNotFound);
}

TEST_F(RunStoreTest, BlobsAreNamedByTheirContentAndCheckedWhenRead) {
  auto run = Create();
  const auto name = run->PutBlob("kernel");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->size(), 64u);
  EXPECT_EQ(*run->PutBlob("kernel"), *name);
  EXPECT_EQ(*run->GetBlob(*name), "kernel");
  EXPECT_EQ(*run->GetBlob(*run->PutBlob("")), "");
  const std::string bytes("\0\xff\n", 3);
  EXPECT_EQ(*run->GetBlob(*run->PutBlob(bytes)), bytes);
  EXPECT_EQ(run->GetBlob("no such").status().code(), StatusCode::kNotFound);
}

TEST_F(RunStoreTest, EachStepHasItsOwnSegmentWhichIsReadAlone) {
  {
    auto run = Create();
    for (const int step : {1, 2, 10})
      ASSERT_TRUE(run->Record("a", "k", step, step).ok()) << "the same id in every step";
    ASSERT_TRUE(run->Record("s", "session", 0).ok());
  }
  // What is not asked for is not read: a ruined segment harms no other.
  ASSERT_TRUE(WriteFileAtomic(folder_ / "steps/00000002.jsonl", "ruined\n").ok());
  auto run = RunStore::Open(folder_);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ((*run)->NumOpenUnits(), 1);
  EXPECT_EQ((*run)->Find("a", 10)->value().body, 10);
  EXPECT_THAT((*run)->damaged_lines(), ::testing::IsEmpty());
  EXPECT_EQ((*run)->NumOpenUnits(), 2);
  (*run)->Release(10);
  EXPECT_EQ((*run)->NumOpenUnits(), 1);
  EXPECT_FALSE((*(*run)->Find("a", 2)).has_value());
  EXPECT_THAT((*run)->damaged_lines(), ElementsAre("steps/00000002.jsonl:1"));
  EXPECT_FALSE((*(*run)->Find("a", 3)).has_value());
  EXPECT_THAT((*run)->Steps(), ElementsAre(1, 2, 10));
  EXPECT_EQ(*(*run)->NumUnits(), 3);
}

TEST_F(RunStoreTest, ARunOfTheFormerFormatIsRefusedAndSaysWhatToDo) {
  ASSERT_TRUE(MakeDirs(folder_).ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ / "journal.jsonl",
                              "{\"schema\":\"davinci.run/1\",\"version\":\"0.9\"}\n")
                  .ok());
  const auto run = RunStore::OpenForReading(folder_);
  EXPECT_EQ(run.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(run.status().message(), HasSubstr("\"0.9\""));
  EXPECT_THAT(run.status().message(), HasSubstr("another --run"));
}

TEST_F(RunStoreTest, BlobsThatTheHeaderNamesAreThereBeforeIt) {
  auto run = RunStore::Create(folder_, {{"task", "name"}}, {"text"});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(*(*RunStore::OpenForReading(folder_))->GetBlob(Sha256Hex("text")), "text");
}

TEST_F(RunStoreTest, ThreadsRecordSideBySide) {
  auto run = Create();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(t) + "/" + std::to_string(i);
        EXPECT_TRUE(run->Record(id, "k", id).ok());
        EXPECT_EQ(run->Find(id)->value().body, id);
      }
    });
  threads.clear();
  EXPECT_EQ(*run->NumUnits(), 80);
  EXPECT_EQ(run->write_cost().num_units, 80);
}

}  // namespace
}  // namespace davinci::store
