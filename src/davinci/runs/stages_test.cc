#include "davinci/runs/stages.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/rollout/joined_note.h"

namespace davinci::runs {
namespace {

TEST(Stages, WhatBrokeOffInASessionIsPartOfWhatTheRunSpent) {
  const TempDir folder = std::move(MakeTempDir("stages")).value();
  auto run = store::RunStore::Create(folder.path() / "run", {{"title", "t"}});
  ASSERT_TRUE(run.ok()) << run.status().message();
  SessionTimes session;
  session.lost["m"] = {0, 2, 1, 30, 0, 4, 0.25};
  ASSERT_TRUE((*run)->Record("session 1", "session", SessionBody(session)).ok());
  ASSERT_TRUE((*run)->Record("session 2", "session", SessionBody({})).ok());

  const auto totals = TotalsOf(**run);
  ASSERT_TRUE(totals.ok()) << totals.status().message();
  const llm::Spending& spent = totals->spending.at("m");
  EXPECT_EQ(spent.num_lost, 2);
  EXPECT_EQ(spent.num_calls, 0);
  EXPECT_DOUBLE_EQ(spent.usd, 0.25);

  const auto stages = MeasureStages(**run);
  ASSERT_TRUE(stages.ok()) << stages.status().message();
  const LlmCost lost = LostCost(*stages);
  EXPECT_EQ(lost.calls, 2);
  EXPECT_EQ(lost.prompt_tokens, 30);
  EXPECT_EQ(lost.completion_tokens, 4);
  EXPECT_EQ(lost.unpriced, 1);
}

// The replies to the parts of a turn are paid, and their joined reply is not paid again.
TEST(Stages, AJoinedReplyIsPaidOnce) {
  const TempDir folder = std::move(MakeTempDir("stages")).value();
  auto run = store::RunStore::Create(folder.path() / "run", {{"title", "t"}});
  ASSERT_TRUE(run.ok()) << run.status().message();
  llm::Reply reply;
  reply.model = "m";
  reply.cost_usd = 0.25;
  const nlohmann::json note = rollout::ToJson(rollout::JoinedNote{{{1, {"f1"}}, {1, {}}}}),
                       part = {{"reply", llm::ToJson(reply)}, {"note", nullptr}},
                       joined = {{"reply", llm::ToJson(reply)}, {"note", note}};
  ASSERT_TRUE((*run)->Record("generation sample=0", "generation", part).ok());
  ASSERT_TRUE((*run)->Record("generation sample=1", "generation", part).ok());
  ASSERT_TRUE((*run)->Record("generation", "generation", joined).ok());
  const nlohmann::json chosen = {{"reply", llm::ToJson(reply)}, {"note", rollout::NoteOfChosen()}};
  ASSERT_TRUE((*run)->Record("generation turn=2", "generation", chosen).ok());
  const auto totals = TotalsOf(**run);
  ASSERT_TRUE(totals.ok()) << totals.status().message();
  EXPECT_EQ(totals->spending.at("m").num_calls, 2);
  EXPECT_DOUBLE_EQ(totals->spending.at("m").usd, 0.5);
}

}  // namespace
}  // namespace davinci::runs
