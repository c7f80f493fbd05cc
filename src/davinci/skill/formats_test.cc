#include "davinci/skill/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/skill/library.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// As a published library writes them: Python's separators, escapes and numbers, unknown fields.
constexpr char kPublished[] =
    "{\"name\": \"fuse_bias\", \"description\": \"Fuse the bias.\", \"scope\": \"general\", "
    "\"tags\": [\"fusion\"], \"content\": \"## Motivation\\nOne write \\u2014 not two.\", "
    "\"verify_speedup\": 1.250}\n"
    "{\"content\": \"Walk tiles of keys.\", \"name\": \"online_softmax\", \"source_uuid\": 17, "
    "\"description\": \"Softmax in one pass.\", \"tags\": [], \"scope\": "
    "\"task_specific/softmax\"}\n";

class FormatsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("formats-test");
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
  }
  fs::path Put(const std::string& name, std::string_view text) {
    const fs::path path = scratch_.path() / name;
    EXPECT_TRUE(MakeDirs(path.parent_path()).ok());
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path;
  }
  TempDir scratch_;
};

TEST_F(FormatsTest, APublishedLibraryComesBackByteByByteThroughTheDatabase) {
  const auto read = ReadSkills(Put("global_step_40.jsonl", kPublished));
  ASSERT_TRUE(read.ok());
  ASSERT_TRUE(read->problems.empty());
  const fs::path file = scratch_.path() / "skills.db";
  {
    LibraryOptions options;
    options.access = Access::kWrite;
    auto library = Library::Open(file, options);
    ASSERT_TRUE(library.ok());
    for (const Document& document : read->documents)
      ASSERT_EQ(AddSkill(**library, document.skill, {})->admission, Admission::kAdded);
  }
  auto library = Library::Open(file, {});
  ASSERT_TRUE(library.ok());
  const auto records = (*library)->All();
  ASSERT_TRUE(records.ok());
  std::vector<Document> documents;
  for (const Record& record : *records) documents.push_back({record.skill, record.evidence});
  const fs::path out = scratch_.path() / "out.jsonl";
  ASSERT_TRUE(WriteJsonl(out, documents).ok());
  EXPECT_EQ(*ReadFile(out), kPublished);
}

TEST_F(FormatsTest, FoldersAndJsonLinesConvertBothWays) {
  const auto read = ReadSkills(Put("a.jsonl", kPublished));
  ASSERT_TRUE(read.ok());
  const fs::path folder = scratch_.path() / "folders";
  ASSERT_TRUE(WriteFolders(folder, read->documents).ok());
  EXPECT_TRUE(fs::exists(folder / "fuse-bias" / "SKILL.md"));
  const auto again = ReadSkills(folder);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->documents.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(again->documents[i].skill, read->documents[i].skill);
}

TEST_F(FormatsTest, BadEntriesAreListedWithTheirLines) {
  const auto read = ReadSkills(
      Put("bad.jsonl", std::string(kPublished) + "\n{oops\n{\"name\": \"fuse_bias\", "
                                                 "\"description\": \"d\", \"content\": \"c\"}\n"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->documents.size(), 2u);
  ASSERT_EQ(read->problems.size(), 2u);
  EXPECT_THAT(read->problems[0].where, HasSubstr("bad.jsonl:4"));
  EXPECT_THAT(read->problems[1].what, HasSubstr("that of line 1 already"));
}

TEST_F(FormatsTest, WrongPathsAreErrors) {
  EXPECT_EQ(ReadSkills(scratch_.path() / "nowhere").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadSkills(Put("x.txt", "x")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ReadSkills(scratch_.path()).status().message(), HasSubstr("SKILL.md"));
}

TEST_F(FormatsTest, TwoNamesForOneFolderAreRefusedBeforeAnythingIsWritten) {
  std::vector<Document> documents(2);
  documents[0].skill.name = "a_b";
  documents[1].skill.name = "a-b";
  const fs::path folder = scratch_.path() / "folders";
  EXPECT_EQ(WriteFolders(folder, documents).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(FormatsTest, MeasuredSpeedupsArePublished) {
  Document document;
  document.skill.name = "a";
  document.skill.description = "d";
  document.skill.content = "c";
  document.evidence.resize(1);
  document.evidence[0].speedup = 1.75;
  ASSERT_TRUE(WriteJsonl(scratch_.path() / "m.jsonl", {document}).ok());
  EXPECT_THAT(*ReadFile(scratch_.path() / "m.jsonl"), HasSubstr("\"verify_speedup\":1.75,"));
}

TEST_F(FormatsTest, EvidenceTravelsWithTheSkill) {
  Document document;
  document.skill.name = "a";
  document.skill.description = "d";
  document.skill.content = "c";
  Evidence cpu;
  cpu.uplift = {1.5, 1.25, 2};
  cpu.language = "cpp";
  cpu.device = "a CPU";
  cpu.speedup = 1.75;
  Evidence cuda = cpu;
  cuda.target = "cuda";
  cuda.language = "triton";
  cuda.speedup = 3;
  document.evidence = {cpu, cuda};
  const fs::path file = scratch_.path() / "m.jsonl";
  const fs::path folder = scratch_.path() / "folders";
  ASSERT_TRUE(WriteJsonl(file, {document}).ok());
  ASSERT_TRUE(WriteFolders(folder, {document}).ok());
  for (const fs::path& path : {file, folder}) {
    const auto read = ReadSkills(path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_TRUE(read->problems.empty()) << read->problems[0].what;
    EXPECT_EQ(read->documents[0].skill, document.skill);
    EXPECT_EQ(read->documents[0].evidence, document.evidence);
  }
  const auto read = ReadSkills(file);
  EXPECT_THAT(*ReadFile(file), HasSubstr("\"verify_speedup\":3"));
  // Newer evidence is written in the place of that of the line.
  Document newer = read->documents[0];
  newer.evidence.pop_back();
  ASSERT_TRUE(WriteJsonl(file, {newer}).ok());
  EXPECT_EQ(ReadSkills(file)->documents[0].evidence, newer.evidence);
}

TEST_F(FormatsTest, EvidenceThatIsNoneIsAProblem) {
  const auto read = ReadSkills(Put(
      "bad.jsonl",
      R"({"name": "a", "description": "d", "content": "c", "davinci_evidence": [{"uplift": 1}]})"));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->problems.size(), 1u);
  EXPECT_THAT(read->problems[0].what, HasSubstr("davinci_evidence"));
}

}  // namespace
}  // namespace davinci::skill
