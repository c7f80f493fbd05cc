// Prices and the ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "davinci/llm/ledger.h"
#include "davinci/llm/prices.h"
#include "davinci/llm/refusing_backbone.h"

namespace davinci::llm {
namespace {

using testing::HasSubstr;

constexpr char kTable[] = R"(
[models."big"]
input_usd_per_million = 2
cached_input_usd_per_million = 0.5
output_usd_per_million = 10
[models."big-*"]
input_usd_per_million = 3
output_usd_per_million = 30
[models."*"]
input_usd_per_million = 0
output_usd_per_million = 0
)";

TEST(PriceTable, CountsCachedTokensAtTheirOwnPrice) {
  const auto table = PriceTable::Parse(kTable, "prices.toml");
  ASSERT_TRUE(table.ok()) << table.status().message();
  // (1000 - 400) * 2 + 400 * 0.5 + 100 * 10 = 2400 millionths.
  EXPECT_DOUBLE_EQ(*table->Cost("big", {1000, 400, 100, false}), 0.0024);
  EXPECT_DOUBLE_EQ(*table->Cost("big-2026", {1000, 400, 100, false}), 0.006);
  EXPECT_DOUBLE_EQ(*table->Cost("mine", {1000, 0, 100, false}), 0);
}

TEST(PriceTable, UnknownModelHasNoPriceRatherThanNone) {
  EXPECT_EQ(PriceTable().Cost("big", {1, 0, 1, false}), std::nullopt);
}

TEST(PriceTable, MistakesNameTheirLine) {
  const struct {
    const char* toml;
    const char* message;
  } cases[] = {{"[model.x]\n", "unknown key \"model\""},
               {"[models.x]\ninput_usd_per_million = 1\n", "lacks output_usd_per_million"},
               {"[models.x]\ninput_usd_per_milion = 1\n", "did you mean \"input_usd_per_million\""},
               {"[models.x]\ninput_usd_per_million = -1\n", "not negative"},
               {"[models.x]\ninput_usd_per_million = \"1\"\n", "must be a number"},
               {"[models]\nx = 1\n", "must be a table"},
               {"[models\n", "prices.toml:1"}};
  for (const auto& [toml, message] : cases) {
    const auto table = PriceTable::Parse(toml, "prices.toml");
    ASSERT_FALSE(table.ok()) << toml;
    EXPECT_THAT(table.status().message(), HasSubstr(message)) << toml;
    EXPECT_THAT(table.status().message(), HasSubstr("prices.toml:")) << toml;
  }
}

TEST(Ledger, AddsUpByModelAndSaysWhatIsUnknown) {
  Ledger ledger;
  {
    auto entry = ledger.Open("a", 2, 0.5, {});
    ASSERT_TRUE(entry.ok());
    entry->Charge("a", {100, 50, 10, false}, 0.1);
    entry->Charge("a", {100, 0, 10, false}, 0.1);
  }
  EXPECT_EQ(CostText(ledger.Total()), "$0.2000");
  {
    auto entry = ledger.Open("b", 1, std::nullopt, {});
    ASSERT_TRUE(entry.ok());
    entry->ChargeLost("b", {5, 0, 5, true}, std::nullopt);
    entry->Charge("b", {7, 0, 7, false}, std::nullopt);
  }
  EXPECT_EQ(CostText(ledger.Total()), "at least $0.2000 (2 calls of unknown price)");
  EXPECT_EQ(CostText(ledger.ByModel().at("b")), "price unknown (2 calls)");
  EXPECT_EQ(ledger.Total().num_calls, 3);
  EXPECT_EQ(ledger.Total().num_lost, 1);
  EXPECT_EQ(ledger.Total().prompt_tokens, 212);
}

TEST(Ledger, RefusesTheCallThatMayExceedTheMoney) {
  Ledger ledger({.max_usd = 1.0, .max_calls = {}});
  ledger.Restore({{"a", {.num_calls = 5, .usd = 0.8}}});
  EXPECT_TRUE(ledger.Open("a", 1, 0.2, {}).ok());
  const auto refused = ledger.Open("a", 1, 0.3, {});
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("$0.8000 of the budget of $1"));
}

TEST(Ledger, BudgetInMoneyNeedsAPrice) {
  Ledger ledger({.max_usd = 1.0, .max_calls = {}});
  const auto refused = ledger.Open("mystery", 1, std::nullopt, {});
  EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.status().message(), HasSubstr("\"mystery\" is unknown"));
}

TEST(Ledger, WaitsForCallsInFlightBeforeRefusing) {
  Ledger ledger({.max_usd = 1.0, .max_calls = {}});
  auto first = ledger.Open("a", 1, 0.9, {});
  ASSERT_TRUE(first.ok());
  std::atomic<bool> admitted = false;
  std::thread second([&] { admitted = ledger.Open("a", 1, 0.9, {}).ok(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(admitted);
  first->Charge("a", {}, 0.05);  // far cheaper than its worst case
  second.join();
  EXPECT_TRUE(admitted);
}

TEST(Ledger, WaitingEndsWhenCancelled) {
  Ledger ledger({.max_usd = {}, .max_calls = 1});
  auto first = ledger.Open("a", 1, {}, {});
  CancelSource source;
  Status status;
  std::thread second([&] { status = ledger.Open("a", 1, {}, source.get_token()).status(); });
  source.request_stop();
  second.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST(Ledger, NeverAdmitsMoreCallsThanAllowedUnderConcurrency) {
  Ledger ledger({.max_usd = {}, .max_calls = 100});
  std::atomic<int> admitted = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        auto entry = ledger.Open("a", 1, 0.0, {});
        if (!entry.ok()) {
          ++refused;
          continue;
        }
        ++admitted;
        entry->Charge("a", {1, 0, 1, false}, 0.0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 100);
  EXPECT_EQ(refused, 220);
  EXPECT_EQ(ledger.Total().num_calls, 100);
}

TEST(Ledger, WhatBrokeOffIsKeptApartAndInTheSum) {
  Ledger ledger;
  ledger.Restore({{"m", {2, 1, 0, 20, 0, 10, 0.5}}});
  {
    auto entry = ledger.Open("m", 1, 0.1, {});
    ASSERT_TRUE(entry.ok());
    entry->ChargeLost("m", {7, 0, 3, true}, 0.25);
  }
  EXPECT_EQ(ledger.Lost()["m"].num_lost, 1);
  EXPECT_EQ(ledger.Lost()["m"].prompt_tokens, 7);
  EXPECT_EQ(ledger.Total().num_lost, 2);
  EXPECT_DOUBLE_EQ(ledger.Total().usd, 0.75);
}

TEST(CheckPrice, ABudgetNeedsThePriceOfItsModel) {
  const auto prices = PriceTable::Parse(
      "[models.\"known\"]\ninput_usd_per_million = 1\noutput_usd_per_million = 2\n", "prices");
  ASSERT_TRUE(prices.ok()) << prices.status().ToString();
  EXPECT_TRUE(CheckPrice(0, *prices, "other").ok());
  EXPECT_TRUE(CheckPrice(1.5, *prices, "known").ok());
  const Status refused = CheckPrice(1.5, *prices, "other");
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("[models.\"other\"]"), std::string::npos);
}

TEST(RefusingBackbone, EveryCallSaysWhy) {
  const auto backbone = RefusingBackbone("no model here");
  EXPECT_EQ(backbone->Generate({}, CancelToken()).status().message(), "no model here");
  EXPECT_EQ(backbone->GenerateMany({}, 2, CancelToken()).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace davinci::llm
