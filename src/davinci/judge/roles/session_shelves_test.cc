#include "davinci/judge/roles/session_shelves.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace davinci::judge {
namespace {

std::unique_ptr<Session> Rested(const std::string& key, double since) {
  auto session = std::make_unique<Session>();
  session->key = key;
  session->resting_since = since;
  return session;
}

TEST(SessionShelves, AFullShelfGivesUpItsOldest) {
  SessionShelves shelves(2, 8);
  EXPECT_EQ(shelves.Put(Rested("a", 1), false), nullptr);
  EXPECT_EQ(shelves.Put(Rested("b", 2), false), nullptr);
  const auto oldest = shelves.Put(Rested("c", 3), false);
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(oldest->key, "a");
  EXPECT_FALSE(shelves.Holds("a"));
  EXPECT_TRUE(shelves.Holds("c"));
}

TEST(SessionShelves, ProcessesAreLentByTheStrippedOrWhereSeveralRest) {
  SessionShelves shelves(8, 8);
  shelves.Put(Rested("a", 1), false);
  EXPECT_FALSE(shelves.LendsProcesses());
  shelves.Put(Rested("b", 1), false);
  EXPECT_TRUE(shelves.LendsProcesses());
  SessionShelves stripped(8, 8);
  stripped.Put(Rested("", 1), true);
  EXPECT_TRUE(stripped.LendsProcesses());
  EXPECT_FALSE(stripped.Holds(""));  // of no task
}

TEST(SessionShelves, TheOldLeaveStrippedOrNot) {
  SessionShelves shelves(8, 8);
  shelves.Put(Rested("a", 1), false);
  shelves.Put(Rested("b", 9), false);
  shelves.Put(Rested("", 2), true);
  EXPECT_EQ(shelves.TakeOlderThan(5).size(), 2u);
  EXPECT_TRUE(shelves.Holds("b"));
  EXPECT_FALSE(shelves.LendsProcesses());
}

TEST(SessionShelves, WhatMatchesIsTakenFromThoseAtRestAlone) {
  SessionShelves shelves(8, 8);
  shelves.Put(Rested("a", 1), false);
  shelves.Put(Rested("b", 1), false);
  shelves.Put(Rested("a", 1), true);
  const auto taken = shelves.TakeResting([](const Session& one) { return one.key == "a"; });
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_FALSE(shelves.Holds("a"));
  EXPECT_TRUE(shelves.LendsProcesses());
}

TEST(SessionShelves, OneThatHasEndedServesNoClaimButLeavesItsPlace) {
  SessionShelves shelves(8, 1);
  shelves.Put(Rested("a", 1), false);  // it has no processes
  const SessionClaim claim = shelves.Claim("a", "");
  EXPECT_EQ(claim.session, nullptr);
  EXPECT_TRUE(claim.may_make);
  EXPECT_FALSE(shelves.Claim("a", "").granted());
  shelves.EndUse("a");
  EXPECT_TRUE(shelves.Claim("a", "").may_make);
}

}  // namespace
}  // namespace davinci::judge
