#include "davinci/runs/generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/llm/code_extraction.h"

namespace davinci::runs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GenerationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("generations");
    ASSERT_TRUE(made.ok());
    dir_ = std::move(*made);
    task::TaskEntry softmax;
    softmax.id = "level1/23_Softmax";
    softmax.level = 1;
    softmax.problem = 23;
    task::TaskEntry own;
    own.id = "gelu";
    tasks_ = {softmax, own};
  }
  void Put(const std::string& file, const std::string& text) {
    ASSERT_TRUE(MakeDirs((dir_.path() / file).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(dir_.path() / file, text).ok());
  }

  TempDir dir_;
  std::vector<task::TaskEntry> tasks_;
};

TEST_F(GenerationsTest, BothLayoutsAreReadInOrder) {
  Put("level_1_problem_23_sample_10_kernel.py", "ten");
  Put("level_1_problem_23_sample_2_kernel.py", "two");
  Put("level_2_problem_1_sample_0_kernel.py", "another set");
  Put("eval_results.json", "{}");
  Put("gelu/b.py", "b");
  Put("gelu/a.py", "a");
  const auto read = ReadGenerations(dir_.path(), tasks_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT(read->samples.at("level1/23_Softmax"), ElementsAre("two", "ten"));
  EXPECT_THAT(read->samples.at("gelu"), ElementsAre("a", "b"));
  EXPECT_THAT(read->unmatched, ElementsAre(HasSubstr("level_2_problem_1")));
  const std::string digest = read->digest;
  Put("gelu/a.py", "changed");
  EXPECT_NE(ReadGenerations(dir_.path(), tasks_)->digest, digest);
}

TEST_F(GenerationsTest, ANumberBeyondIntIsNoLevel) {
  Put("level_4294967297_problem_23_sample_0_kernel.py", "x");  // 2^32 + 1
  Put("gelu/a.py", "a");
  const auto read = ReadGenerations(dir_.path(), tasks_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_FALSE(read->samples.contains("level1/23_Softmax"));
}

TEST_F(GenerationsTest, ATaskIsFoundByTheEndOfItsId) {
  Put("23_Softmax.py", "x");
  EXPECT_EQ(ReadGenerations(dir_.path(), tasks_)->samples.size(), 1u);
}

TEST_F(GenerationsTest, WhatFitsNothingIsAnError) {
  EXPECT_EQ(ReadGenerations(dir_.path() / "nowhere", tasks_).status().code(),
            StatusCode::kNotFound);
  Put("nothing.py", "x");
  EXPECT_THAT(ReadGenerations(dir_.path(), tasks_).status().message(),
              HasSubstr("none of 1 .py files fits a task"));
}

TEST_F(GenerationsTest, TheTextComesBackAsTheCandidateWhateverItHolds) {
  const std::string source =
      "DOC = \"\"\"\n```python\nclass ModelNew: pass\n```\n````\n\"\"\"\n\n\nclass ModelNew:\n    "
      "x = 1\n";
  Put("gelu.py", source);
  auto read = ReadGenerations(dir_.path(), tasks_);
  ASSERT_TRUE(read.ok());
  const auto backbone = GenerationsBackbone(std::move(*read));
  llm::Request request;
  request.label = "gelu@1#s0r0t1";
  const auto reply = backbone->Generate(request, CancelToken());
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  const auto extraction = llm::ExtractCode(*reply, "ModelNew");
  ASSERT_TRUE(extraction.ok()) << extraction.diagnosis;
  EXPECT_EQ(extraction.source, source);
  request.label = "gelu@1#s0r1t1";
  EXPECT_EQ(backbone->Generate(request, CancelToken()).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace davinci::runs
