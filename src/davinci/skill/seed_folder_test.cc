#include "davinci/skill/seed_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

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
  ASSERT_EQ(seed->examples.size(), 1u);
  EXPECT_EQ(seed->examples[0].threshold, kDefaultThreshold);
  EXPECT_EQ(seed->examples[0].task, folder_ / "task.py");
  EXPECT_EQ(seed->examples[0].EvidencePath(), folder_ / "evidence" / "cpu.json");
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
  const auto digest_now = [&] { return ReadSeedFolder(folder_)->examples[0].example_digest; };
  const std::string digest = digest_now();
  Put("SKILL.md", std::string(kSkillMd) + "more words\n");
  EXPECT_EQ(digest_now(), digest);
  for (const char* file : {"task.py", "before.py", "after.py", "task.toml"}) {
    Put(file, "# changed\n");
    EXPECT_NE(digest_now(), digest) << file;
    fs::path(file).extension() == ".toml" ? (void)fs::remove(folder_ / file) : Put(file, "pass\n");
  }
  EXPECT_EQ(digest_now(), digest);
}

TEST_F(SeedFolderTest, EvidenceComesBackAsWritten) {
  const auto seed = *ReadSeedFolder(folder_);
  const SeedExample& example = seed.examples[0];
  const auto made =
      MakeEvidence(seed, example, Timed(2), Timed(3), "Some CPU", "r", "2026-01-01T00:00:00Z");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NEAR(made->evidence.uplift.median, 1.5, 1e-12);
  EXPECT_EQ(made->evidence.protocol, "davinci/1");
  EXPECT_EQ(made->evidence.device, "Some CPU");
  EXPECT_THAT(made->evidence.tasks, testing::ElementsAre("skills/a-skill/task"));
  Put("evidence/cpu.json", ToJson(*made).dump());
  EXPECT_EQ((*ReadEvidenceFile(example.EvidencePath()))->evidence, made->evidence);
  const auto read = ReadSkills(folder_);
  ASSERT_TRUE(read.ok() && read->problems.empty());
  EXPECT_THAT(read->documents[0].evidence, testing::ElementsAre(made->evidence));
  Put("evidence/cpu.json", "{}");
  EXPECT_THAT(ReadEvidenceFile(example.EvidencePath()).status().message(), HasSubstr("cpu.json"));
  Evaluation wrong;
  EXPECT_FALSE(MakeEvidence(seed, example, Timed(2), wrong, "", "r", "").ok());
}

constexpr char kTwoLanguages[] =
    "---\nname: a-skill\ndescription: d\n---\n\n## Motivation\nm\n## Key Idea\nk\n"
    "## Example\nFor all.\n### triton\nT\n### cuda\nC\n";

TEST_F(SeedFolderTest, HasOneExamplePerLanguage) {
  Put("SKILL.md", kTwoLanguages);
  Put("example.toml", "target = \"cuda\"\nlanguage = \"triton\"\n");
  Put("examples/cuda/example.toml",
      "target = \"cuda\"\nlanguage = \"cuda\"\ntask = \"../../task.py\"\n");
  Put("examples/cuda/before.py", "b\n");
  Put("examples/cuda/after.py", "a\n");
  const auto seed = ReadSeedFolder(folder_);
  ASSERT_TRUE(seed.ok()) << seed.status().message();
  ASSERT_EQ(seed->examples.size(), 2u);
  EXPECT_EQ(seed->examples[0].language, Language::kTriton);
  EXPECT_EQ(seed->examples[1].language, Language::kCuda);
  EXPECT_EQ(seed->examples[1].task, folder_ / "task.py");
  // Each has evidence of its own, and the skill has both.
  for (const SeedExample& example : seed->examples) {
    const auto made = MakeEvidence(*seed, example, Timed(2), Timed(3), "", "r", "now");
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(MakeDirs(example.EvidencePath().parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(example.EvidencePath(), ToJson(*made).dump()).ok());
  }
  const auto read = ReadSkills(folder_);
  ASSERT_TRUE(read.ok() && read->problems.empty());
  const auto& evidence = read->documents[0].evidence;
  ASSERT_EQ(evidence.size(), 2u);
  EXPECT_EQ(evidence[0].language, "cuda");
  EXPECT_EQ(evidence[1].language, "triton");
  auto library = Library::OpenInMemory({});
  EXPECT_EQ(AddSkill(**library, read->documents[0].skill, evidence)->admission, Admission::kAdded);
  EXPECT_EQ((*(*library)->Get("a-skill"))->evidence, evidence);
}

TEST_F(SeedFolderTest, ExamplesAreShownUnderTheirLanguage) {
  Put("example.toml", "target = \"cuda\"\nlanguage = \"triton\"\n");
  for (const char* file : {"before.py", "after.py", "task.py"})
    Put(std::string("examples/cuda/") + file, "pass\n");
  Put("examples/cuda/example.toml", "target = \"cuda\"\nlanguage = \"cuda\"\n");
  EXPECT_THAT(Problem(), HasSubstr("no line \"### "));
  Put("SKILL.md", kTwoLanguages);
  EXPECT_EQ(Problem(), "");
  Put("SKILL.md", std::string(kTwoLanguages) + "### cpp\n");
  EXPECT_THAT(Problem(), HasSubstr("\"### cpp\" has no examples/cpp"));
  Put("SKILL.md", kTwoLanguages);
  Put("examples/cuda/example.toml", "target = \"cuda\"\nlanguage = \"triton\"\n");
  EXPECT_THAT(Problem(), HasSubstr("the folder must be examples/triton"));
  Put("examples/cuda/example.toml", "target = \"cuda\"\nlanguage = \"cpp\"\n");
  EXPECT_THAT(Problem(), HasSubstr("must be one of triton, cuda, cuda-inline on cuda"));
}

// The skills that ship: well formed, proven on the files that are there, and welcome in one
// library.
TEST(SeedSkills, StandByTheirEvidence) {
  const fs::path skills = fs::path(DAVINCI_SOURCE_DIR) / "skills";
  const auto folders = ListSkillFolders(skills);
  ASSERT_TRUE(folders.ok());
  // Examples whose measurement is still to come; tests/skills/seeds_test.py keeps the list exact.
  std::set<std::string> pending;
  std::ifstream list(fs::path(DAVINCI_SOURCE_DIR) / "tests/skills/pending_evidence.txt");
  for (std::string line; std::getline(list, line);) pending.insert(line);
  for (const fs::path& folder : *folders) {
    const auto seed = ReadSeedFolder(folder);
    ASSERT_TRUE(seed.ok()) << seed.status().message();
    for (const SeedExample& example : seed->examples) {
      if (pending.contains(fs::relative(example.folder, skills).string())) continue;
      const auto file = ReadEvidenceFile(example.EvidencePath());
      ASSERT_TRUE(file.ok()) << file.status().message();
      ASSERT_TRUE(file->has_value()) << example.folder << ": davinci skills verify --update";
      EXPECT_EQ((*file)->example_digest, example.example_digest)
          << example.folder << ": measured on other files";
      EXPECT_GE((*file)->evidence.uplift.low, example.threshold) << example.folder;
    }
  }
  auto library = Library::OpenInMemory({});
  ASSERT_TRUE(library.ok());
  const auto read = ReadSkills(skills);
  ASSERT_TRUE(read.ok() && read->problems.empty());
  EXPECT_EQ(read->documents.size(), folders->size());
  for (const Document& document : read->documents) {
    const auto result = AddSkill(**library, document.skill, document.evidence);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->admission, Admission::kAdded)
        << document.skill.name << ": " << result->reason;
  }
}

}  // namespace
}  // namespace davinci::skill
