#include "davinci/config/task_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "davinci/base/files.h"

namespace davinci::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TaskConfig Good(std::string_view text) {
  auto config = ParseTaskConfig(text, "x.toml");
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  return config.ok() ? *config : TaskConfig{};
}

std::string Bad(std::string_view text) {
  auto config = ParseTaskConfig(text, "x.toml");
  EXPECT_FALSE(config.ok()) << text;
  EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
  return config.status().message();
}

TEST(TaskConfig, EmptySidecarIsTheDefault) {
  const TaskConfig config = Good("");
  EXPECT_EQ(config.entry, "Model");
  EXPECT_EQ(config.CandidateEntry(), "ModelNew");
  EXPECT_EQ(config.precision, Precision::kFp32);
  EXPECT_EQ(config.mode, ModuleMode::kAsConstructed);
  EXPECT_FALSE(config.inplace);
  EXPECT_EQ(config.tolerance_multiple, std::nullopt);
  EXPECT_TRUE(config.variants.empty());
}

TEST(TaskConfig, EveryKeyIsRead) {
  const TaskConfig config = Good(R"(
title = "Rows"
entry = "Softmax"
precision = "tf32"
mode = "eval"
inplace = true
tolerance_multiple = 64
tags = ["constant-output"]
split = "family"
[sizes.cpu]
N = 1024
[sizes.cuda]
N = 16384
SHAPE = [1, 2]
[[variants]]
N = 1023
[[variants]]
FLAG = true
[inputs.1]
order = "none"
)");
  EXPECT_EQ(config.title, "Rows");
  EXPECT_EQ(config.CandidateEntry(), "SoftmaxNew");
  EXPECT_EQ(config.precision, Precision::kTf32);
  EXPECT_EQ(config.mode, ModuleMode::kEval);
  EXPECT_TRUE(config.inplace);
  EXPECT_EQ(config.tolerance_multiple, 64.0);
  EXPECT_THAT(config.tags, ElementsAre("constant-output"));
  EXPECT_EQ(config.split, "family");
  EXPECT_EQ(config.variants.size(), 2u);
  EXPECT_EQ(config.inputs, Json({{"1", {{"order", "none"}}}}));
}

TEST(TaskConfig, WordThatNoInputHasIsNamedWithThoseThereAre) {
  EXPECT_THAT(Bad("[inputs.0]\nsign = \"any\"\norder = \"ascend\""),
              HasSubstr("x.toml:3: inputs.0.order \"ascend\" is not one of none, ascending, "
                        "descending (did you mean \"ascending\"?)"));
  EXPECT_THAT(
      Bad("inputs.0.ordre = \"none\""),
      HasSubstr("x.toml:1: inputs.0 has no entry ordre; it may have fractions, order, sign, "
                "sums, symmetry, values, varies, zeros (did you mean \"order\"?)"));
  EXPECT_THAT(Bad("inputs.0.zeros = true"), HasSubstr("inputs.0.zeros must be a word, not"));
  EXPECT_THAT(Bad("inputs.x.zeros = \"free\""),
              HasSubstr("inputs.x is not the number of an input"));
  EXPECT_THAT(Bad("inputs = 3"), HasSubstr("inputs must be tables ([inputs.0])"));
}

// | `entry` | `word`; `word`: what it means |
TEST(TaskConfig, WordsOfInputsAreThoseOfTheManual) {
  const auto manual =
      ReadFile(std::filesystem::path(DAVINCI_SOURCE_DIR) / "docs/tasks.md", 1 << 20);
  ASSERT_TRUE(manual.ok()) << manual.status().ToString();
  const size_t begin = manual->find("| entry | words |");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = manual->substr(begin, manual->find("\n\n", begin) - begin);
  const std::regex row(R"(\| `(\w+)` \| (.*) \|)"), quoted("`(\\w+)`");
  std::string entries;
  for (std::sregex_iterator it(table.begin(), table.end(), row), end; it != end; ++it) {
    const std::string entry = (*it)[1], cell = (*it)[2];
    const std::string told = Bad("inputs.0." + entry + " = \"?\"") + ",";
    size_t words = 0;
    for (std::sregex_iterator word(cell.begin(), cell.end(), quoted); word != end; ++word, ++words)
      EXPECT_THAT(told, HasSubstr(" " + (*word)[1].str() + ",")) << entry;
    EXPECT_EQ(std::count(told.begin(), told.end(), ','), static_cast<std::ptrdiff_t>(words))
        << told;
    entries += entry;
  }
  EXPECT_EQ(entries, "variesvaluessumsorderzerossymmetrysignfractions");
}

TEST(TaskConfig, VariantIsAppliedOverTheSizesOfTheTarget) {
  const TaskConfig config =
      Good("sizes.cpu = {N = 8, M = 2}\nsizes.cuda = {N = 80}\n[[variants]]\nN = 7\n");
  EXPECT_EQ(config.Globals("cpu"), Json({{"N", 8}, {"M", 2}}));
  EXPECT_EQ(config.Globals("cpu", 0), Json({{"N", 7}, {"M", 2}}));
  EXPECT_EQ(config.Globals("cuda", 0), Json({{"N", 7}}));
}

TEST(TaskConfig, FunctionalTaskNamesItsCandidate) {
  EXPECT_EQ(Good("function = \"rows\"").CandidateEntry(), "rows_new");
  const TaskConfig op = Good("op = \"torch.nn.functional.gelu\"");
  EXPECT_EQ(op.CandidateEntry(), "gelu_new");
  EXPECT_EQ(op.entry, "");
}

TEST(TaskConfig, TypoIsNamedWithLineAndSuggestion) {
  EXPECT_THAT(Bad("title = \"x\"\npresicion = \"fp32\"\n"),
              HasSubstr("x.toml:2: unknown key \"presicion\" (did you mean \"precision\"?)"));
  EXPECT_THAT(Bad("precision = \"fp23\""), HasSubstr("did you mean \"fp32\"?"));
  EXPECT_THAT(Bad("[sizes.cudda]\nN = 1"), HasSubstr("x.toml:1: sizes.cudda is not a target"));
}

TEST(TaskConfig, SizeOutsideATableGetsTheRemedy) {
  EXPECT_THAT(Bad("N = 1024"), HasSubstr("a module global belongs under [sizes.cpu]"));
}

TEST(TaskConfig, WrongTypesSayWhatIsWanted) {
  EXPECT_THAT(Bad("inplace = 1"), HasSubstr("inplace must be true or false, not integer (1)"));
  EXPECT_THAT(Bad("title = 3"), HasSubstr("title must be text in quotes"));
  EXPECT_THAT(Bad("tags = \"a\""), HasSubstr("tags must be a list of texts"));
  EXPECT_THAT(Bad("variants = [1]"), HasSubstr("a variant must be a table"));
  EXPECT_THAT(Bad("[variants]\nN = 1"), HasSubstr("[[variants]]"));
  EXPECT_THAT(Bad("sizes = 3"), HasSubstr("sizes must be a table"));
  EXPECT_THAT(Bad("[sizes.cpu]\nN = {a = 1}"), HasSubstr("x.toml:2: N must be a finite number"));
  EXPECT_THAT(Bad("[sizes.cpu]\nN = 1979-05-27"), HasSubstr("x.toml:2: dates and times"));
}

TEST(TaskConfig, ToleranceMustBeAUsefulNumber) {
  for (const char* value : {"0", "-1", "nan", "inf", "1e7"}) {
    EXPECT_THAT(Bad(std::string("tolerance_multiple = ") + value), HasSubstr("above 0")) << value;
  }
}

TEST(TaskConfig, NamesThatSteerPythonAreRefused) {
  for (const char* name : {"__name__", "\"a b\"", "class", "\"x; import os\"", "\"\""}) {
    EXPECT_THAT(Bad(std::string("[sizes.cpu]\n") + name + " = 1"), HasSubstr("x.toml:2")) << name;
  }
  EXPECT_THAT(Bad("entry = \"os.system\""), HasSubstr("name of a class"));
  EXPECT_THAT(Bad("function = \"torch.relu\""), HasSubstr("use op"));
  EXPECT_THAT(Bad("op = \"gelu\""), HasSubstr("path of a function"));
}

TEST(TaskConfig, EntryFunctionAndOpExcludeEachOther) {
  EXPECT_THAT(Bad("entry = \"A\"\nfunction = \"b\""), HasSubstr("exclude each other"));
}

TEST(TaskConfig, AllProblemsAreReportedAtOnce) {
  const std::string message = Bad("inplace = 1\nmode = \"evil\"\n[[variants]]\n");
  EXPECT_THAT(message, HasSubstr("x.toml:1:"));
  EXPECT_THAT(
      message,
      HasSubstr("x.toml:2: mode \"evil\" is not one of train, eval (did you mean \"eval\"?)"));
  EXPECT_THAT(message, HasSubstr("this variant is empty"));
}

TEST(TaskConfig, BrokenTomlNamesTheLine) {
  EXPECT_THAT(Bad("title = \"a\"\nmode = \n"), HasSubstr("x.toml:2: "));
}

TEST(TaskConfig, SidecarIsFoundBesideTheTaskAndMayBeAbsent) {
  auto dir = MakeTempDir("task");
  ASSERT_TRUE(dir.ok());
  ASSERT_TRUE(WriteFileAtomic(dir->path() / "rows.toml", "mode = \"train\"").ok());
  EXPECT_EQ(LoadTaskConfig(dir->path() / "rows.py")->mode, ModuleMode::kTrain);
  EXPECT_EQ(LoadTaskConfig(dir->path() / "other.py")->mode, ModuleMode::kAsConstructed);
  ASSERT_TRUE(WriteFileAtomic(dir->path() / "bad.toml", "mode = 1").ok());
  EXPECT_THAT(LoadTaskConfig(dir->path() / "bad.py").status().message(), HasSubstr("bad.toml:1: "));
}

TEST(TaskConfig, EverySidecarOfTheRepositoryParses) {
  auto files =
      ListFiles(std::filesystem::path(DAVINCI_SOURCE_DIR) / "tasks", ".toml", /*recursive=*/true);
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  ASSERT_THAT(*files, Not(::testing::IsEmpty()));
  for (const auto& file : *files) {
    auto config = LoadTaskConfig(file);
    EXPECT_TRUE(config.ok()) << config.status().message();
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(file).replace_extension(".py")))
        << file;
  }
}

}  // namespace
}  // namespace davinci::config
