// A whole run in a temporary folder, around a scripted model and judge.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "davinci/base/files.h"
#include "scenario.h"

namespace davinci::integration {

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("run-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    scenario_ = Scenario::Make(dir_.path());
  }

  Result<runs::RunResult> Execute(const std::string& name = "run") {
    if (!backbone_)
      backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
    runs::RunParts parts = scenario_.Parts(backbone_.get(), &evaluator_);
    if (!author_.verdicts.empty()) parts.author = &author_;
    parts.author_alone = author_alone_;
    return runs::ExecuteRun(scenario_.Request(dir_.path() / name), parts, &stop_, {});
  }
  int NumCalls() const {
    const auto log = ReadFile(dir_.path() / "calls");
    return log.ok() ? static_cast<int>(std::count(log->begin(), log->end(), '\n')) : 0;
  }

  TempDir dir_;
  Scenario scenario_;
  ScriptedEvaluator evaluator_{0};
  std::unique_ptr<SlowRecording> backbone_;
  ScriptedAuthor author_;
  bool author_alone_ = false;
  rollout::StopFlag stop_;
};

}  // namespace davinci::integration
