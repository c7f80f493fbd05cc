#include "davinci/skill/seed_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/library.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kSkillMd[] =
    "---\nname: a-skill\ndescription: d\n---\n\n## Motivation\nm\n## Key Idea\nk\n## Example\ne\n";

class SeedFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("seed-test");
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
    folder_ = scratch_.path() / "a-skill";
    Put("SKILL.md", kSkillMd);
    Put("example.toml", "target = \"cpu\"\n");
    for (const char* file : {"task.py", "before.py", "after.py"}) Put(file, "pass\n");
  }
  void Put(const std::string& file, std::string_view text) {
    ASSERT_TRUE(MakeDirs((folder_ / file).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(folder_ / file, text).ok());
  }
  std::string Problem() { return ReadSeedFolder(folder_).status().message(); }

  TempDir scratch_;
  fs::path folder_;
};

Evaluation Timed(double median) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{median, median * 0.98, median * 1.02, true, "eager"};
  evaluation.provenance["protocol"] = {{"name", "davinci"}, {"version", 1}};
  return evaluation;
}

TEST_F(SeedFolderTest, HasDefaults) {
  const auto seed = ReadSeedFolder(folder_);
  ASSERT_TRUE(seed.ok()) << seed.status().message();
  EXPECT_EQ(seed->skill.name, "a-skill");
  EXPECT_EQ(seed->threshold, kDefaultThreshold);
  EXPECT_EQ(seed->task, folder_ / "task.py");
  EXPECT_EQ(seed->EvidencePath(), folder_ / "evidence" / "cpu.json");
}

TEST_F(SeedFolderTest, ProblemsNameFileAndLine) {
  Put("example.toml", "target = \"cpu\"\ntreshold = 1.3\n");
  EXPECT_THAT(Problem(), HasSubstr("example.toml:2: treshold is not a key of example.toml (did you "
                                   "mean \"threshold\"?)"));
  Put("example.toml", "target = \"tpu\"\n");
  EXPECT_THAT(Problem(), HasSubstr("target must be"));
  Put("example.toml", "");
  EXPECT_THAT(Problem(), HasSubstr("target must be"));
  Put("example.toml", "target = \"cpu\"\nthreshold = 0.5\n");
  EXPECT_THAT(Problem(), HasSubstr("threshold must lie between"));
  Put("example.toml", "target = \"cpu\"\nthreads = 0\n");
  EXPECT_THAT(Problem(), HasSubstr("example.toml:2: threads must be a whole number"));
  Put("example.toml", "target = \"cpu\"\ntask = \"../nowhere.py\"\n");
  EXPECT_THAT(Problem(), HasSubstr("nowhere.py: no such file"));
  Put("example.toml", "target = \"cpu\"\n");
  Put("SKILL.md", std::string("---\nname: other\n") + (kSkillMd + 18));
  EXPECT_THAT(Problem(), HasSubstr("the skill is named \"other\", its folder \"a-skill\""));
  Put("SKILL.md", "---\nname: a-skill\ndescription: d\n---\nno sections\n");
  EXPECT_THAT(Problem(), HasSubstr("## Motivation"));
  fs::remove(folder_ / "SKILL.md");
  EXPECT_EQ(ReadSeedFolder(folder_).status().code(), StatusCode::kNotFound);
}

TEST_F(SeedFolderTest, TheDigestCoversWhatTheMeasurementDependsOn) {
  const std::string digest = ReadSeedFolder(folder_)->example_digest;
  Put("SKILL.md", std::string(kSkillMd) + "more words\n");
  EXPECT_EQ(ReadSeedFolder(folder_)->example_digest, digest);
  for (const char* file : {"task.py", "before.py", "after.py", "task.toml"}) {
    Put(file, "# changed\n");
    EXPECT_NE(ReadSeedFolder(folder_)->example_digest, digest) << file;
    fs::path(file).extension() == ".toml" ? (void)fs::remove(folder_ / file) : Put(file, "pass\n");
  }
  EXPECT_EQ(ReadSeedFolder(folder_)->example_digest, digest);
}

TEST_F(SeedFolderTest, EvidenceComesBackAsWritten) {
  const auto seed = *ReadSeedFolder(folder_);
  const auto made = MakeEvidence(seed, Timed(2), Timed(3), "Some CPU", "r", "2026-01-01T00:00:00Z");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NEAR(made->evidence.uplift.median, 1.5, 1e-12);
  EXPECT_EQ(made->evidence.protocol, "davinci/1");
  EXPECT_EQ(made->evidence.device, "Some CPU");
  EXPECT_THAT(made->evidence.tasks, testing::ElementsAre("skills/a-skill/task"));
  Put("evidence/cpu.json", ToJson(*made).dump());
  EXPECT_EQ((*ReadEvidenceFile(seed.EvidencePath()))->evidence, made->evidence);
  const auto read = ReadSkills(folder_);
  ASSERT_TRUE(read.ok() && read->problems.empty());
  EXPECT_THAT(read->documents[0].evidence, testing::ElementsAre(made->evidence));
  Put("evidence/cpu.json", "{}");
  EXPECT_THAT(ReadEvidenceFile(seed.EvidencePath()).status().message(), HasSubstr("cpu.json"));
  Evaluation wrong;
  EXPECT_FALSE(MakeEvidence(seed, Timed(2), wrong, "", "r", "").ok());
}

// The skills that ship: well formed, proven on the files that are there, and welcome in one
// library.
TEST(SeedSkills, StandByTheirEvidence) {
  const fs::path skills = fs::path(DAVINCI_SOURCE_DIR) / "skills";
  const auto folders = ListSkillFolders(skills);
  ASSERT_TRUE(folders.ok());
  for (const fs::path& folder : *folders) {
    const auto seed = ReadSeedFolder(folder);
    ASSERT_TRUE(seed.ok()) << seed.status().message();
    const auto file = ReadEvidenceFile(seed->EvidencePath());
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(file->has_value()) << folder << ": davinci skills verify --update";
    EXPECT_EQ((*file)->example_digest, seed->example_digest)
        << folder << ": measured on other files";
    EXPECT_GE((*file)->evidence.uplift.low, seed->threshold) << folder;
  }
  auto library = Library::OpenInMemory({});
  ASSERT_TRUE(library.ok());
  const auto read = ReadSkills(skills);
  ASSERT_TRUE(read.ok() && read->problems.empty());
  EXPECT_EQ(read->documents.size(), folders->size());
  for (const Document& document : read->documents) {
    const auto result = (*library)->Add(document.skill, document.evidence);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->admission, Admission::kAdded)
        << document.skill.name << ": " << result->reason;
  }
}

}  // namespace
}  // namespace davinci::skill
