#include "davinci/skill/library.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "davinci/base/files.h"
#include "davinci/skill/difference.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Skill Make(const std::string& name, const std::string& about) {
  Skill skill;
  skill.name = name;
  skill.description = "About " + about;
  skill.content =
      about + ": advice on " + about + " number " + name + " and why " + name + " helps";
  return skill;
}

Evidence MeasuredOnce(double low) {
  Evidence evidence;
  evidence.uplift = {low + 0.05, low, low + 0.1};
  evidence.last_verified = "2026-01-01T00:00:00Z";
  return evidence;
}

class LibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("library-test");
    ASSERT_TRUE(made.ok());
    folder_ = std::move(*made);
  }
  fs::path File() const { return folder_.path() / "skills.db"; }
  std::unique_ptr<Library> Open(Access access = Access::kWrite, size_t max_active = 0) {
    LibraryOptions options;
    options.access = access;
    options.max_active = max_active;
    options.actor = "test";
    options.now_unix_s = [] { return int64_t{1'700'000'000}; };
    auto opened = Library::Open(File(), options);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  static std::vector<std::string> Names(const std::vector<Record>& records) {
    std::vector<std::string> names;
    for (const Record& record : records) names.push_back(record.skill.name);
    return names;
  }
  static std::vector<std::string> Found(Library& library, std::string_view query) {
    const auto found = library.Search(query, 10);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    std::vector<std::string> names;
    if (!found.ok()) return names;
    for (const Ranked& ranked : *found) names.push_back(ranked.record.skill.name);
    return names;
  }

  TempDir folder_;
};

Skill For(const std::string& name, const std::string& words, std::vector<std::string> tags) {
  Skill skill = Make(name, words);
  skill.tags = std::move(tags);
  return skill;
}

TEST_F(LibraryTest, ASearchForAnAudienceKnowsItBeforeItRanks) {
  auto library = Open();
  const auto add = [&](const Skill& skill, std::vector<Evidence> evidence = {}) {
    EXPECT_EQ(AddSkill(*library, skill, evidence)->admission, Admission::kAdded) << skill.name;
  };
  Evidence cuda = MeasuredOnce(1.3);
  cuda.target = "cuda";
  cuda.language = "triton";
  add(For("cpu-only", "softmax softmax softmax rows", {"cpp", "cpu"}));
  add(For("plain", "softmax lanes", {"triton"}));
  add(For("proven", "softmax warps", {"triton"}), {cuda});
  add(For("in-cuda", "softmax blocks", {"cuda-inline"}));
  add(For("any-general", "tiles", {}));
  add(For("unrelated", "convolution", {"triton"}));
  const auto names = [&](Audience audience, size_t k) {
    std::vector<std::string> found;
    const auto ranked = library->SearchFor(audience, "softmax", k);
    EXPECT_TRUE(ranked.ok());
    for (const Ranked& one : *ranked) found.push_back(one.record.skill.name);
    return found;
  };
  // Equal matches: the proven one first. Filled up by what fits, then by the other language.
  EXPECT_THAT(names({Target::kCuda, Language::kTriton}, 20),
              ElementsAre("proven", "plain", "any-general", "unrelated", "in-cuda"));
  EXPECT_THAT(names({Target::kCuda, Language::kTriton}, 3),
              ElementsAre("proven", "plain", "any-general"));
  EXPECT_THAT(names({Target::kCpu, Language::kCpp}, 20), ElementsAre("cpu-only", "any-general"));
  // It follows changes.
  ASSERT_TRUE(library->Retire("proven", "").ok());
  EXPECT_THAT(names({Target::kCuda, Language::kTriton}, 1), ElementsAre("plain"));
}

TEST_F(LibraryTest, AProspectIsRefusedForWhatNoEvidenceWouldMend) {
  auto library = Open();
  const Skill known = Make("one", "softmax rows");
  ASSERT_TRUE(AddSkill(*library, known, {}).ok());
  Skill twin = known;
  twin.name = "two";
  EXPECT_THAT(library->ProspectOf(twin, true)->refused, HasSubstr("near-duplicate of \"one\""));
  Skill other = Make("one", "matrix tiles");
  EXPECT_THAT(library->ProspectOf(other, false)->refused, HasSubstr("name is taken"));
  EXPECT_EQ(library->ProspectOf(other, true)->refused, "");
  EXPECT_TRUE(library->ProspectOf(other, true)->is_version);
  EXPECT_THAT(library->ProspectOf(known, true)->refused, HasSubstr("has this skill already"));
  EXPECT_EQ(library->ProspectOf(Make("new", "matrix tiles"), false)->refused, "");
  // A version enters by better evidence only, and only when it was made as one.
  ASSERT_TRUE(library->Stage(1, {"a", other, {MeasuredOnce(1.3)}, false}).ok());
  ASSERT_TRUE(library->Stage(1, {"b", other, {MeasuredOnce(1.3)}, true}).ok());
  const auto flushed = library->Flush(1);
  ASSERT_TRUE(flushed.ok());
  EXPECT_EQ(flushed->admissions[0].second.admission, Admission::kRefused);
  EXPECT_EQ(flushed->admissions[1].second.admission, Admission::kMerged);
  EXPECT_EQ((*library->Get("one"))->skill.content, other.content);
}

TEST_F(LibraryTest, ExactRecordsKeepStatisticsStatesAndNearDuplicates) {
  auto library = Open();
  Record first;
  first.skill = Make("one", "softmax rows");
  first.usage.selected = 7;
  first.evidence = {MeasuredOnce(1.3)};
  Record twin = first;
  twin.skill.name = "two";
  twin.state = SkillState::kRetired;
  EXPECT_EQ(*library->AddExactly({first, twin}), 2);
  EXPECT_EQ((*library->Get("one"))->usage.selected, 7);
  EXPECT_EQ((*library->Get("one"))->evidence, first.evidence);
  EXPECT_EQ((*library->Get("two"))->state, SkillState::kRetired);
  EXPECT_EQ(*library->AddExactly({first, twin}), 0);
  Record other = first;
  other.skill.content = "something else";
  EXPECT_THAT(library->AddExactly({other}).status().message(), HasSubstr("same name: one"));
}

TEST_F(LibraryTest, WhatIsAddedIsThereAfterReopening) {
  Skill skill = Make("one-pass", "softmax");
  skill.extra = {{"source_uuid", 7}};
  skill.json_line = "{\"as\": \"read\"}";
  {
    auto library = Open();
    ASSERT_EQ(AddSkill(*library, skill, {MeasuredOnce(1.3)})->admission, Admission::kAdded);
  }
  auto library = Open(Access::kRead);
  const auto record = *library->Get("one-pass");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->skill, skill);
  EXPECT_EQ(record->skill.json_line, skill.json_line);
  EXPECT_THAT(record->evidence, ElementsAre(MeasuredOnce(1.3)));
  EXPECT_EQ(record->position, 1);
  EXPECT_FALSE(*library->Get("other"));
}

TEST_F(LibraryTest, SearchFollowsEveryChangeAlsoOfOtherProcesses) {
  auto writer = Open();
  auto reader = Open(Access::kRead);
  ASSERT_TRUE(AddSkill(*writer, Make("a", "softmax rows"), {}).ok());
  EXPECT_THAT(Found(*reader, "torch.softmax"), ElementsAre("a"));
  ASSERT_TRUE(AddSkill(*writer, Make("b", "conv2d windows"), {}).ok());
  EXPECT_THAT(Found(*reader, "conv2d"), ElementsAre("b"));
  ASSERT_TRUE(writer->Retire("a", "by hand").ok());
  EXPECT_THAT(Found(*reader, "softmax"), IsEmpty());
  EXPECT_THAT(Found(*writer, "softmax"), IsEmpty());
  EXPECT_THAT(Names(*reader->All()), ElementsAre("b"));
  EXPECT_THAT(Names(*reader->All(true)), ElementsAre("a", "b"));
}

TEST_F(LibraryTest, SearchesRunBesideAWriter) {
  auto writer = Open();
  auto reader = Open(Access::kRead);
  std::atomic<bool> done = false;
  std::atomic<int> num_searches = 0;
  std::vector<std::thread> threads;
  for (Library* library : {writer.get(), reader.get(), reader.get()})
    threads.emplace_back([&, library] {
      while (!done) {
        EXPECT_TRUE(library->Search("softmax advice", 5).ok());
        ++num_searches;
      }
    });
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(AddSkill(*writer, Make("s" + std::to_string(i), "softmax"), {}).ok());
  while (num_searches < 10) std::this_thread::yield();
  done = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Found(*reader, "softmax").size(), 10u);
}

TEST_F(LibraryTest, ASecondWriterIsToldWhoWrites) {
  auto first = Open();
  LibraryOptions options;
  options.access = Access::kWrite;
  const auto second = Library::Open(File(), options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("process " + std::to_string(getpid())));
  first.reset();
  EXPECT_TRUE(Library::Open(File(), options).ok());
}

TEST_F(LibraryTest, ReadersCannotWriteAndNeedAFile) {
  EXPECT_EQ(Library::Open(File(), {}).status().code(), StatusCode::kNotFound);
  Open();
  auto reader = Open(Access::kRead);
  EXPECT_EQ(AddSkill(*reader, Make("a", "x"), {}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(reader->Flush(1).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(reader->Retire("a", "").code(), StatusCode::kFailedPrecondition);
}

TEST_F(LibraryTest, ForeignFilesAreRefusedAndUntouched) {
  ASSERT_TRUE(WriteFileAtomic(File(), std::string(4096, 'x')).ok());
  for (const Access access : {Access::kRead, Access::kWrite}) {
    LibraryOptions options;
    options.access = access;
    EXPECT_EQ(Library::Open(File(), options).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(*ReadFile(File()), std::string(4096, 'x'));
  fs::remove(File());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(File().c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "CREATE TABLE mine (x)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  LibraryOptions options;
  options.access = Access::kWrite;
  EXPECT_THAT(Library::Open(File(), options).status().message(), HasSubstr("not a skill library"));
}

TEST_F(LibraryTest, CollisionsAndNearDuplicatesAreNeverRenamed) {
  auto library = Open();
  ASSERT_TRUE(AddSkill(*library, Make("a", "softmax"), {MeasuredOnce(1.2)}).ok());
  const auto taken = *AddSkill(*library, Make("a", "convolution"), {MeasuredOnce(1.9)});
  EXPECT_EQ(taken.admission, Admission::kRefused);
  EXPECT_THAT(taken.reason, HasSubstr("name is taken"));
  Skill twin = Make("a", "softmax");
  twin.name = "b";
  const auto refused = *AddSkill(*library, twin, {MeasuredOnce(1.1)});
  EXPECT_EQ(refused.admission, Admission::kRefused);
  EXPECT_THAT(refused.reason, HasSubstr("near-duplicate of \"a\" (similarity 1.00)"));
  const auto merged = *AddSkill(*library, twin, {MeasuredOnce(1.5)});
  EXPECT_EQ(merged.admission, Admission::kMerged);
  EXPECT_EQ(merged.name, "a");
  EXPECT_THAT(Names(*library->All()), ElementsAre("a"));
  EXPECT_EQ((*library->Get("a"))->evidence[0].uplift.low, 1.5);
}

TEST_F(LibraryTest, InvalidSkillsAndEvidenceAreRefusedWithTheReason) {
  auto library = Open();
  Skill bad = Make("a", "x");
  bad.description = "";
  EXPECT_THAT(AddSkill(*library, bad, {})->reason, HasSubstr("description is empty"));
  EXPECT_THAT(AddSkill(*library, Make("a", "x"), {MeasuredOnce(1), MeasuredOnce(2)})->reason,
              HasSubstr("two pieces of evidence for cpu"));
  EXPECT_THAT(AddSkill(*library, Make("a", "x"), {MeasuredOnce(-3)})->reason,
              HasSubstr("no interval"));
  EXPECT_THAT(*library->All(), IsEmpty());
}

TEST_F(LibraryTest, ReplaceKeepsStatisticsAndDropsEvidenceOfOtherContent) {
  auto library = Open();
  EXPECT_EQ(library->Replace(Make("a", "x"), {}, "").code(), StatusCode::kNotFound);
  ASSERT_TRUE(AddSkill(*library, Make("a", "softmax"), {MeasuredOnce(1.3)}).ok());
  Skill described = Make("a", "softmax");
  described.description = "clearer";
  ASSERT_TRUE(library->Replace(described, {}, "wording").ok());
  EXPECT_THAT((*library->Get("a"))->evidence, ElementsAre(MeasuredOnce(1.3)));
  ASSERT_TRUE(library->Replace(Make("a", "matmul"), {}, "rewritten").ok());
  EXPECT_THAT((*library->Get("a"))->evidence, IsEmpty());
  EXPECT_THAT(Found(*library, "matmul"), ElementsAre("a"));
}

TEST_F(LibraryTest, HistoryTellsEveryChange) {
  auto library = Open();
  ASSERT_TRUE(AddSkill(*library, Make("a", "softmax"), {}).ok());
  ASSERT_TRUE(AddSkill(*library, Make("b", "matmul"), {}).ok());
  ASSERT_TRUE(library->Retire("a", "no use").ok());
  ASSERT_TRUE(library->Retire("a", "again").ok());  // nothing left to do
  const auto all = *library->History("", 0);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].kind, "retire");
  EXPECT_EQ(all[2].reason, "no use");
  EXPECT_EQ(all[2].actor, "test");
  EXPECT_FALSE(all[2].step);
  EXPECT_EQ(library->History("a", 0)->size(), 2u);
  EXPECT_EQ((*library->History("", 1))[0].kind, "retire");
}

TEST_F(LibraryTest, EventsCannotBeChangedByAnybody) {
  AddSkill(*Open(), Make("a", "softmax"), {}).ok();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(File().c_str(), &db), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(db, "UPDATE events SET actor = 'x'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_NE(sqlite3_exec(db, "DELETE FROM events", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
}

TEST_F(LibraryTest, TheLibraryCanBeSeenAndRestoredAsItWas) {
  auto library = Open();
  ASSERT_TRUE(AddSkill(*library, Make("a", "softmax"), {MeasuredOnce(1.2)}).ok());
  ASSERT_TRUE(library->Flush(1).ok());
  ASSERT_TRUE(AddSkill(*library, Make("b", "matmul"), {}).ok());
  ASSERT_TRUE(library->Retire("a", "x").ok());
  ASSERT_TRUE(library->Flush(2).ok());

  const auto step1 = *library->At({Moment::Kind::kStep, 1});
  EXPECT_THAT(Names(step1), ElementsAre("a"));
  EXPECT_EQ(step1[0].state, SkillState::kActive);
  const auto differences = Diff(step1, *library->At({}));
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].name, "a");
  EXPECT_THAT(differences[0].fields, ElementsAre("state"));
  EXPECT_EQ(differences[1].kind, Difference::Kind::kAdded);
  EXPECT_THAT(*library->At({Moment::Kind::kEvent, 0}), IsEmpty());
  EXPECT_EQ(library->At({Moment::Kind::kStep, 9}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(library->At({Moment::Kind::kEvent, 99}).status().code(), StatusCode::kNotFound);

  EXPECT_EQ(*library->Rollback({Moment::Kind::kStep, 1}, "wrong turn"), 2);
  EXPECT_EQ(*library->At({}), step1);
  EXPECT_THAT(Found(*library, "softmax"), ElementsAre("a"));
  EXPECT_THAT(Found(*library, "matmul"), IsEmpty());
  EXPECT_EQ(library->Snapshots()->size(), 1u);
  // Nothing is forgotten, so the rollback can be undone.
  const auto history = *library->History("b", 0);
  EXPECT_EQ(history.back().kind, "rollback");
  EXPECT_THAT(history.back().reason, HasSubstr("wrong turn"));
  EXPECT_EQ(*library->Rollback({Moment::Kind::kEvent, history.front().sequence}, ""), 1);
  EXPECT_THAT(Names(*library->All()), ElementsAre("a", "b"));
}

TEST_F(LibraryTest, ARolledBackStepCanBeDoneAgain) {
  auto library = Open();
  ASSERT_TRUE(library->Flush(1).ok());
  ASSERT_TRUE(*library->Stage(2, {"k", Make("a", "softmax"), {}}));
  ASSERT_TRUE(library->Flush(2).ok());
  ASSERT_TRUE(library->Rollback({Moment::Kind::kStep, 1}, "").ok());
  EXPECT_THAT(*library->All(), IsEmpty());
  EXPECT_TRUE(*library->Stage(2, {"k", Make("b", "matmul"), {}}));
  EXPECT_FALSE(library->Flush(2)->already_flushed);
  EXPECT_THAT(Names(*library->All()), ElementsAre("b"));
}

TEST_F(LibraryTest, AnInMemoryLibraryNeedsNoFile) {
  auto library = Library::OpenInMemory({});
  ASSERT_TRUE(library.ok());
  ASSERT_TRUE(AddSkill(**library, Make("a", "softmax"), {}).ok());
  EXPECT_THAT(Found(**library, "softmax"), ElementsAre("a"));
}

TEST(Moment, HasThreeSpellings) {
  EXPECT_EQ(ParseMoment("now")->kind, Moment::Kind::kNow);
  EXPECT_EQ(ParseMoment("step:12")->number, 12);
  EXPECT_EQ(ParseMoment("event:3")->kind, Moment::Kind::kEvent);
  for (const char* bad : {"", "12", "step:", "step:x", "step:1x", "event:99999999999999999999"})
    EXPECT_FALSE(ParseMoment(bad).ok()) << bad;
}

}  // namespace
}  // namespace davinci::skill
