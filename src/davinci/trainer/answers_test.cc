#include "davinci/trainer/answers.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::trainer {
namespace {

AnswerScore Scored(double correct, double fast_1) {
  return {"set", 10, {correct, 0, 1}, {fast_1, 0, 1}};
}

TEST(Answers, BestIsFastThenCorrectThenLate) {
  const TempDir folder = MakeTempDir("answers").value();
  const auto best = [&](int64_t last) { return BestAnswers(folder.path() / "answers", last); };
  const auto write = [&](int64_t step, const std::vector<AnswerScore>& scores) {
    ASSERT_TRUE(WriteAnswers(folder.path() / "answers", step, scores).ok());
  };
  EXPECT_FALSE(best(100).has_value());
  write(10, {Scored(0.9, 0.2), Scored(0.9, 0.4)});
  EXPECT_EQ(best(100), 10);
  write(20, {Scored(0.5, 0.4), Scored(0.5, 0.4)});  // a mean of 0.4 is above 0.3
  EXPECT_EQ(best(100), 20);
  write(30, {Scored(0.6, 0.4), Scored(0.6, 0.4)});
  EXPECT_EQ(best(100), 30);
  write(40, {Scored(0.6, 0.4), Scored(0.6, 0.4)});
  EXPECT_EQ(best(100), 40);
  EXPECT_EQ(best(39), 30);
  EXPECT_TRUE(HasAnswers(folder.path() / "answers", 40));
  EXPECT_FALSE(HasAnswers(folder.path() / "answers", 50));
}

}  // namespace
}  // namespace davinci::trainer
