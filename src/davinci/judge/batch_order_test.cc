#include "davinci/judge/batch_order.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace davinci::judge {
namespace {

TEST(BatchOrder, AWorkerGoesOnWithItsTask) {
  BatchOrder order({"a", "a", "b", "a", "b"});
  const auto first = order.Next({});
  const auto other = order.Next({});
  EXPECT_EQ(first, 0);  // of a
  EXPECT_EQ(other, 2);  // of b, though a has more
  EXPECT_EQ(order.Next(first), 1);
  EXPECT_EQ(order.Next(other), 4);
}

TEST(BatchOrder, WhoIsDoneHelpsWhereMostIsLeft) {
  BatchOrder order({"a", "b", "c", "c", "b", "b"});
  const auto a = order.Next({});
  const auto b = order.Next({});  // two more of b are left
  const auto c = order.Next({});  // one more of c
  EXPECT_EQ(a, 0);
  EXPECT_EQ(b, 1);
  EXPECT_EQ(c, 2);
  EXPECT_EQ(order.Next(a), 4);  // helps with b
}

TEST(BatchOrder, GivesEachQuestionOnce) {
  std::vector<std::string> tasks;
  for (int i = 0; i < 300; ++i) tasks.push_back(std::to_string(i * i % 41));
  BatchOrder order(tasks);
  std::mutex mutex;
  std::multiset<size_t> given;
  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w)
    workers.emplace_back([&] {
      for (auto next = order.Next({}); next; next = order.Next(next)) {
        std::lock_guard lock(mutex);
        given.insert(*next);
      }
    });
  workers.clear();
  EXPECT_EQ(given.size(), 300);
  EXPECT_EQ(std::set<size_t>(given.begin(), given.end()).size(), 300);
}

TEST(BatchOrder, OfNothingGivesNothing) {
  BatchOrder order({});
  EXPECT_EQ(order.Next({}), std::nullopt);
}

}  // namespace
}  // namespace davinci::judge
