#include "davinci/judge/batch_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/judge/judge_pool.h"

namespace davinci::judge {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

JobFiles Parsed(std::string_view line, const JobFiles& defaults = {}) {
  auto job = ParseBatchLine(line, defaults, "/jobs");
  EXPECT_TRUE(job.ok()) << job.status().ToString();
  return job.ok() ? *job : JobFiles{};
}

std::string Refusal(std::string_view line) {
  auto job = ParseBatchLine(line, {}, "/jobs");
  EXPECT_FALSE(job.ok()) << line;
  EXPECT_EQ(job.status().code(), StatusCode::kInvalidArgument);
  return job.status().message();
}

TEST(BatchLine, PathsAreRelativeToTheFolderOfTheJobFile) {
  const JobFiles job = Parsed(R"({"reference": "a/../ref.py", "candidate": "/abs/cand.py"})");
  EXPECT_EQ(job.reference_path, "/jobs/ref.py");
  EXPECT_EQ(job.candidate_path, "/abs/cand.py");
}

TEST(BatchLine, EveryKeyIsRead) {
  const JobFiles job = Parsed(
      R"({"id": "x", "reference": "r", "candidate": "c", "target": "cuda", "language": "triton",
          "protocol": "screening", "baseline": "compile"})");
  EXPECT_EQ(job.id, "x");
  EXPECT_EQ(job.target, Target::kCuda);
  EXPECT_EQ(job.language, Language::kTriton);
  EXPECT_EQ(job.protocol, "screening");
  EXPECT_EQ(job.baseline, "compile");
}

TEST(BatchLine, MissingKeysTakeTheDefaultsButNotItsFiles) {
  JobFiles defaults;
  defaults.id = "other";
  defaults.target = Target::kCuda;
  defaults.protocol = "kernelbench";
  const JobFiles job = Parsed(R"({"reference": "r", "candidate": "c"})", defaults);
  EXPECT_EQ(job.id, "");
  EXPECT_EQ(job.target, Target::kCuda);
  EXPECT_EQ(job.protocol, "kernelbench");
}

TEST(BatchLine, AnIntegerIsAnId) {
  EXPECT_EQ(Parsed(R"({"id": 17, "reference": "r", "candidate": "c"})").id, "17");
}

TEST(BatchLine, AnUnknownKeyGetsTheNearestOne) {
  EXPECT_THAT(Refusal(R"({"refrence": "r", "candidate": "c"})"),
              AllOf(HasSubstr("refrence"), HasSubstr("did you mean \"reference\"?")));
}

TEST(BatchLine, AnUnknownValueGetsTheNearestOne) {
  EXPECT_THAT(Refusal(R"({"reference": "r", "candidate": "c", "protocol": "screning"})"),
              HasSubstr("did you mean \"screening\"?"));
  EXPECT_THAT(Refusal(R"({"reference": "r", "candidate": "c", "target": "tpu"})"),
              HasSubstr("known: cpu, cuda"));
}

TEST(BatchLine, BrokenJsonNamesTheColumn) {
  EXPECT_THAT(Refusal(R"({"reference": "r",, "candidate": "c"})"),
              HasSubstr("not JSON at column 19"));
  EXPECT_THAT(Refusal(R"([1, 2])"), HasSubstr("object is expected, this is an array"));
  EXPECT_THAT(Refusal(R"({"id": 1e999})"), HasSubstr("JSON"));
}

TEST(BatchLine, WrongTypesAndMissingFilesAreNamed) {
  EXPECT_THAT(Refusal(R"({"reference": 3, "candidate": "c"})"),
              HasSubstr("\"reference\" must be a string"));
  EXPECT_THAT(Refusal(R"({"reference": "r"})"), HasSubstr("\"candidate\" is missing"));
  EXPECT_THAT(Refusal(R"({"reference": "r", "candidate": ""})"),
              HasSubstr("\"candidate\" is empty"));
  EXPECT_THAT(Refusal(R"({"reference": "r\u0000x", "candidate": "c"})"),
              HasSubstr("control characters"));
}

class BatchFile : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = MakeTempDir("batch-job-test");
    ASSERT_TRUE(folder.ok());
    folder_ = std::move(*folder);
    Write("ref.py", "class Model: pass\ndef get_inputs(): return []\n");
    Write("a.py", "class ModelNew: pass\n");
    Write("b.py", "class ModelNew: ...\n");
  }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  std::vector<BatchEntry> Read(std::string_view text) {
    Write("jobs.jsonl", text);
    auto entries = ReadBatchFile(folder_.path() / "jobs.jsonl", {});
    EXPECT_TRUE(entries.ok()) << entries.status().ToString();
    return entries.ok() ? *entries : std::vector<BatchEntry>{};
  }
  TempDir folder_;
};

TEST_F(BatchFile, ABadLineDoesNotSpoilItsNeighbours) {
  const auto entries = Read(
      "{\"reference\": \"ref.py\", \"candidate\": \"a.py\"}\r\n"
      "\n"
      "{nonsense\n"
      "{\"id\": \"gone\", \"reference\": \"ref.py\", \"candidate\": \"missing.py\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"b.py\"}");
  ASSERT_EQ(entries.size(), 4u);
  const std::string file = (folder_.path() / "jobs.jsonl").string();
  EXPECT_TRUE(entries[0].bad.ok());
  EXPECT_EQ(entries[0].job.id, "line 1");
  EXPECT_THAT(entries[1].bad.message(), StartsWith(file + ":3: not JSON"));
  EXPECT_THAT(entries[2].bad.message(), AllOf(StartsWith(file + ":4: "), HasSubstr("missing.py")));
  EXPECT_EQ(entries[2].job.id, "gone");
  EXPECT_EQ(entries[2].hash, "");
  EXPECT_TRUE(entries[3].bad.ok());
  EXPECT_EQ(entries[3].line, 5);
}

TEST_F(BatchFile, ABadLineKeepsItsId) {
  const auto entries = Read("{\"id\": \"mine\", \"refrence\": \"ref.py\"}\n");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_FALSE(entries[0].bad.ok());
  EXPECT_EQ(entries[0].job.id, "mine");
}

TEST_F(BatchFile, TheHashIsOfContentsAndOptionsNotOfNames) {
  Write("copy_of_a.py", "class ModelNew: pass\n");
  const auto entries = Read(
      "{\"reference\": \"ref.py\", \"candidate\": \"a.py\", \"target\": \"cpu\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"copy_of_a.py\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"b.py\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"a.py\", \"protocol\": \"screening\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"a.py\", \"target\": \"cuda\"}\n"
      "{\"reference\": \"ref.py\", \"candidate\": \"a.py\", \"baseline\": \"compile\"}\n");
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[0].hash, entries[1].hash);
  for (size_t i = 2; i < entries.size(); ++i) EXPECT_NE(entries[0].hash, entries[i].hash) << i;
}

TEST_F(BatchFile, AnIdMayNotNameTwoQuestions) {
  const auto entries = Read(
      "{\"id\": \"x\", \"reference\": \"ref.py\", \"candidate\": \"a.py\"}\n"
      "{\"id\": \"x\", \"reference\": \"ref.py\", \"candidate\": \"a.py\"}\n"
      "{\"id\": \"x\", \"reference\": \"ref.py\", \"candidate\": \"b.py\"}\n");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_TRUE(entries[1].bad.ok());
  EXPECT_THAT(entries[2].bad.message(), HasSubstr("names another job on line 1"));
}

TEST_F(BatchFile, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadBatchFile(folder_.path() / "none.jsonl", {}).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace davinci::judge
