#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/skill/library.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Skill Make(const std::string& name) {
  Skill skill;
  skill.name = name;
  skill.description = "About " + name;
  skill.content = name + "1 " + name + "2 " + name + "3 " + name + "4 softmax";
  return skill;
}

Evidence MeasuredBetween(double low, double high) {
  Evidence evidence;
  evidence.uplift = {(low + high) / 2, low, high};
  return evidence;
}

std::unique_ptr<Library> Open(const fs::path& file, size_t max_active = 0) {
  LibraryOptions options;
  options.access = Access::kWrite;
  options.max_active = max_active;
  options.now_unix_s = [] { return int64_t{1'700'000'000}; };
  auto opened = Library::Open(file, options);
  EXPECT_TRUE(opened.ok()) << opened.status().ToString();
  return opened.ok() ? std::move(*opened) : nullptr;
}

class FlushTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("flush-test");
    ASSERT_TRUE(made.ok());
    folder_ = std::move(*made);
  }
  fs::path File() const { return folder_.path() / "skills.db"; }
  TempDir folder_;
};

TEST_F(FlushTest, StagedSkillsEnterWithTheirStepAndNotBefore) {
  auto library = Open(File());
  EXPECT_TRUE(*library->Stage(1, {"t/0/0/1#0", Make("alpha"), {MeasuredBetween(1.2, 1.4)}}));
  EXPECT_TRUE(*library->Stage(2, {"t/0/0/2#0", Make("beta"), {}}));
  EXPECT_THAT(*library->All(), IsEmpty());
  const auto flushed = *library->Flush(1);
  ASSERT_EQ(flushed.admissions.size(), 1u);
  EXPECT_EQ(flushed.admissions[0].first, "t/0/0/1#0");
  EXPECT_EQ(flushed.admissions[0].second.admission, Admission::kAdded);
  EXPECT_EQ(flushed.num_active, 1);
  EXPECT_EQ(library->History("alpha", 0)->front().step, 1);
  EXPECT_EQ(library->Flush(2)->num_active, 2);
}

TEST_F(FlushTest, TheSameStepTwiceIsANoOpThatRepeatsTheAnswer) {
  auto library = Open(File());
  ASSERT_TRUE(*library->Stage(1, {"k", Make("alpha"), {}}));
  Usage shown;
  shown.shown = 3;
  ASSERT_TRUE(*library->StageUsage(1, {"u", {{"alpha", shown}, {"unknown", shown}}}));
  const auto first = *library->Flush(1);
  EXPECT_FALSE(first.already_flushed);
  library.reset();
  library = Open(File());
  const auto events = library->History("", 0)->size();
  const auto second = *library->Flush(1);
  EXPECT_TRUE(second.already_flushed);
  ASSERT_EQ(second.admissions.size(), 1u);
  EXPECT_EQ(second.admissions[0].second.admission, Admission::kAdded);
  EXPECT_EQ(second.num_active, 1);
  EXPECT_EQ(library->History("", 0)->size(), events);
  EXPECT_EQ((*library->Get("alpha"))->usage.shown, 3);
}

TEST_F(FlushTest, TheSameKeyIsStagedOnce) {
  auto library = Open(File());
  EXPECT_TRUE(*library->Stage(1, {"k", Make("alpha"), {}}));
  EXPECT_FALSE(*library->Stage(1, {"k", Make("beta"), {}}));
  EXPECT_EQ(library->StageUsage(1, {"k", {}}).status().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(library->Flush(1).ok());
  EXPECT_FALSE(*library->Stage(1, {"k", Make("beta"), {}}));  // also afterwards
  EXPECT_FALSE(*library->Get("beta"));
}

TEST_F(FlushTest, StepsOnlyGrow) {
  auto library = Open(File());
  ASSERT_TRUE(library->Flush(5).ok());
  const auto late = library->Stage(5, {"k", Make("alpha"), {}});
  EXPECT_EQ(late.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(late.status().message(), HasSubstr("step 5"));
  EXPECT_EQ(library->Flush(4).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(FlushTest, OrderOfStagingDoesNotMatter) {
  const auto digest = [&](bool backwards, const fs::path& file) {
    auto library = Open(file);
    std::vector<std::string> names = {"alpha", "beta", "gamma"};
    if (backwards) std::reverse(names.begin(), names.end());
    for (const std::string& name : names)
      EXPECT_TRUE(*library->Stage(1, {"key-" + name, Make(name), {}}));
    EXPECT_TRUE(library->Flush(1).ok());
    return library->Snapshots()->back().digest;
  };
  EXPECT_EQ(digest(false, folder_.path() / "a.db"), digest(true, folder_.path() / "b.db"));
}

TEST_F(FlushTest, NewcomersOfOneStepMeetEachOther) {
  auto library = Open(File());
  Skill twin = Make("alpha");
  twin.name = "beta";
  ASSERT_TRUE(*library->Stage(1, {"1", Make("alpha"), {MeasuredBetween(1.2, 1.4)}}));
  ASSERT_TRUE(*library->Stage(1, {"2", twin, {MeasuredBetween(1.1, 1.4)}}));
  const auto flushed = *library->Flush(1);
  EXPECT_EQ(flushed.admissions[1].second.admission, Admission::kRefused);
  EXPECT_THAT(flushed.admissions[1].second.reason, HasSubstr("near-duplicate of \"alpha\""));
}

TEST_F(FlushTest, EvidenceAndUsageRetireSkills) {
  auto library = Open(File());
  ASSERT_TRUE(*library->Stage(1, {"1", Make("refuted"), {MeasuredBetween(0.8, 0.95)}}));
  ASSERT_TRUE(*library->Stage(1, {"2", Make("fine"), {MeasuredBetween(1.2, 1.4)}}));
  EXPECT_THAT(library->Flush(1)->retired, ElementsAre("refuted"));
  Usage poor;
  for (int i = 0; i < 20; ++i) poor.Observe(i % 2 == 0 ? 0.8 : 0.9);
  ASSERT_TRUE(*library->StageUsage(2, {"u", {{"fine", poor}}}));
  EXPECT_THAT(library->Flush(2)->retired, ElementsAre("fine"));
  EXPECT_THAT(library->History("fine", 0)->back().reason, HasSubstr("20 observations"));
  EXPECT_THAT(*library->Search("softmax", 5), IsEmpty());
}

TEST_F(FlushTest, TheCapEvictsTheLeastWorth) {
  auto library = Open(File(), 2);
  for (const auto& [name, low] : {std::pair{"alpha", 1.3}, {"beta", 1.1}, {"gamma", 1.2}})
    ASSERT_TRUE(*library->Stage(1, {name, Make(name), {MeasuredBetween(low, 2)}}));
  const auto flushed = *library->Flush(1);
  EXPECT_THAT(flushed.evicted, ElementsAre("beta"));
  EXPECT_EQ(flushed.num_active, 2);
  EXPECT_EQ((*library->Get("beta"))->state, SkillState::kEvicted);
}

// --- killed anywhere ---

// What a run does: stages and flushes three steps, repeating whatever may have been done before.
void DoTheWork(const fs::path& file) {
  auto library = Open(file, 6);
  for (int step = 1; step <= 3; ++step) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = "s" + std::to_string(step) + std::to_string(i);
      if (!library->Stage(step, {"skill-" + name, Make(name), {MeasuredBetween(1 + 0.1 * i, 2)}})
               .ok())
        _exit(7);
      Usage usage;
      usage.shown = 1;
      if (!library->StageUsage(step, {"usage-" + name, {{name, usage}, {"s11", usage}}}).ok())
        _exit(7);
    }
    if (!library->Flush(step).ok()) _exit(7);
  }
}

TEST_F(FlushTest, KilledAnywhereAndStartedAgainGivesTheUndisturbedLibrary) {
  const fs::path undisturbed = folder_.path() / "undisturbed.db";
  const Stopwatch watch;
  DoTheWork(undisturbed);
  auto longest_us = static_cast<uint64_t>(2e6 * watch.Seconds());
  const auto expected = Open(undisturbed)->Snapshots()->back().digest;
  const auto expected_events = Open(undisturbed)->History("", 0)->size();
  SplitMix64 random(2026);
  // Later runs may take a small part of the first one's time. So a run that is killed doubles the
  // wait, and one that ends halves it.
  int num_killed = 0;
  for (int attempt = 0; num_killed < 12; ++attempt) {
    const fs::path file = folder_.path() / ("killed-" + std::to_string(attempt) + ".db");
    for (bool finished = false; !finished;) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        DoTheWork(file);
        _exit(0);
      }
      usleep(static_cast<useconds_t>(random.Below(longest_us)));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
      finished = WIFEXITED(status);
      num_killed += finished ? 0 : 1;
      longest_us = finished ? longest_us / 2 + 1 : longest_us * 2;
    }
    auto library = Open(file);
    EXPECT_EQ(library->Snapshots()->back().digest, expected);
    EXPECT_EQ(library->History("", 0)->size(), expected_events);
  }
}

TEST_F(FlushTest, AFullDiskLosesNothing) {
  auto library = Open(File());
  ASSERT_TRUE(*library->Stage(1, {"k", Make("alpha"), {}}));
  ASSERT_TRUE(library->Flush(1).ok());
  Skill big = Make("beta");
  big.content += std::string(60'000, 'y');
  {
    // A limit on file sizes is met like a full disk; the signal that goes with it is not wanted.
    signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{fs::file_size(File().string() + "-wal"), before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const auto staged = library->Stage(2, {"k2", big, {}});
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(staged.status().code(), StatusCode::kResourceExhausted) << staged.status().ToString();
  }
  EXPECT_TRUE(*library->Stage(2, {"k2", big, {}}));
  EXPECT_EQ(library->Flush(2)->num_active, 2);
}

}  // namespace
}  // namespace davinci::skill
