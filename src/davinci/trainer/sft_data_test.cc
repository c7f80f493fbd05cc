// Examples from files of rows to the order in which they are trained.
#include "davinci/trainer/sft_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "davinci/base/files.h"
#include "davinci/base/test_environment.h"
#include "davinci/text/test_tokenizer.h"
#include "davinci/trainer/epoch.h"
#include "davinci/trainer/row_files.h"
#include "davinci/trainer/sft_order.h"

namespace davinci::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A folder with a tokenizer of bytes and files of rows; the cache lies in it, too.
class SftDataTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTempDir("sftdata").value();
    environment_.Set("DAVINCI_CACHE_DIR", folder_.path() / "cache");
    ASSERT_TRUE(text::WriteByteTokenizer(folder_.path()).ok());
    auto encoder = SftEncoder::Open(folder_.path());
    ASSERT_TRUE(encoder.ok()) << encoder.status().ToString();
    encoder_.emplace(std::move(encoder).value());
  }

  std::string Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
    return (folder_.path() / name).string();
  }
  static std::string RowOf(const std::string& reply, const std::string& more = "") {
    return R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": ")" +
           reply + R"("}])" + more + "}\n";
  }
  Result<SftData> Load(const std::vector<std::string>& entries, bool skip = false) {
    return SftData::Load(entries, {}, encoder_.value(), 100, skip);
  }

  TempDir folder_;
  TestEnvironment environment_;
  std::optional<SftEncoder> encoder_;
};

TEST_F(SftDataTest, ExamplesComeBackFromTheirFileAsTheyWereEncoded) {
  const std::string row = RowOf("hello", R"(, "agent": "summary", "split": "style")");
  const auto data = Load({Write("a.jsonl", row + "\n" + RowOf("b"))});
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  const SftExample expected = encoder_.value().Encode(row).value();
  const SftExample found = data->Example(0);
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.targets, expected.targets);
  EXPECT_EQ(found.weights, expected.weights);
  EXPECT_EQ(found.targets.size(), 6U);  // five letters and the end
  EXPECT_EQ(data->agent(0), rl::AgentKind::kSummary);
  EXPECT_EQ(data->split(0), "style");
  EXPECT_EQ(data->size(), 2U);
  EXPECT_EQ(data->split(1), "");
  EXPECT_EQ(data->num_tokens(1), static_cast<int64_t>(data->Example(1).tokens.size()));
}

TEST_F(SftDataTest, RowsAreEncodedOnceForAllWhoAsk) {
  const std::vector<std::string> files = {Write("a.jsonl", RowOf("one")),
                                          Write("b.jsonl", RowOf("two"))};
  const auto first = Load(files);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->num_encoded(), 2);
  EXPECT_EQ(Load(files)->num_encoded(), 0);
  EXPECT_EQ(Load(files)->digest(), first->digest());
  Write("b.jsonl", RowOf("three"));
  const auto changed = Load(files);
  EXPECT_EQ(changed->num_encoded(), 1);
  EXPECT_NE(changed->digest(), first->digest());
}

TEST_F(SftDataTest, ADamagedTokenFileIsMadeAgain) {
  const std::string rows = Write("a.jsonl", RowOf("one") + RowOf("two"));
  ASSERT_TRUE(Load({rows}).ok());
  const auto files = ListFiles(folder_.path() / "cache/tokens", ".tokens").value();
  ASSERT_EQ(files.size(), 1U);
  const std::string whole = ReadFile(files[0]).value();
  for (const std::string& damaged :
       {whole.substr(0, whole.size() - 1), whole.substr(0, 20), std::string(whole.size(), 'x')}) {
    ASSERT_TRUE(WriteFileAtomic(files[0], damaged).ok());
    const auto again = Load({rows});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(again->num_encoded(), 2);
    EXPECT_EQ(ReadFile(files[0]).value(), whole);
  }
}

TEST_F(SftDataTest, ManyPiecesKeepTheOrderOfTheirLines) {
  std::string rows;
  for (int i = 0; i < 3000; ++i)
    rows += RowOf(std::to_string(i), R"(, "reference": ")" + std::string(1000, 'x') + "\"");
  const auto data = Load({Write("a.jsonl", rows)});
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->size(), 3000U);
  for (const size_t i : {0, 1023, 1024, 2999}) {
    const auto expected = encoder_.value().Encode(RowOf(std::to_string(i))).value();
    EXPECT_EQ(data->Example(i).tokens, expected.tokens);
  }
  Write("a.jsonl", rows + "{}\n");
  EXPECT_THAT(Load({(folder_.path() / "a.jsonl").string()}).status().message(),
              HasSubstr("a.jsonl:3001"));
}

TEST_F(SftDataTest, NamesTheLineThatIsTooLongOrLeavesItOut) {
  const std::string rows = Write("a.jsonl", RowOf("short") + "\n" + RowOf(std::string(200, 'x')));
  EXPECT_THAT(Load({rows}).status().message(), HasSubstr("a.jsonl:3: an example of"));
  EXPECT_EQ(Load({rows}, /*skip=*/true)->num_skipped(), 1);
}

TEST_F(SftDataTest, AnEntryIsAFileAFolderOrAPattern) {
  const std::string a = Write("part-a.jsonl", "");
  const std::string b = Write("part-b.jsonl", "");
  Write("other.txt", "");
  EXPECT_THAT(RowFiles(b).value(), ElementsAre(b));
  EXPECT_THAT(RowFiles(folder_.path().string()).value(), ElementsAre(a, b));
  EXPECT_THAT(RowFiles((folder_.path() / "part-*.jsonl").string()).value(), ElementsAre(a, b));
  EXPECT_THAT(RowFiles((folder_.path() / "none-*").string()).status().message(),
              HasSubstr("no file matches"));
}

TEST(SftOrder, WeightsRepeatRowsAndDrawParts) {
  const std::vector<DataSection> plain = {{0, 5, 1}, {5, 9, 1}};
  EXPECT_EQ(SftOrder(7, 2, plain), EpochOrder(7, 2, 9));
  const std::vector<DataSection> mixed = {{0, 4, 2.5}, {4, 10, 0.5}};
  EXPECT_EQ(EpochSize(mixed), 13U);
  std::vector<int> counts(10);
  std::set<size_t> drawn;
  for (const int64_t epoch : {0, 1}) {
    std::vector<int> now(10);
    for (const size_t i : SftOrder(1, epoch, mixed)) ++now[i];
    for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(now[i] == 2 || now[i] == 3);
    for (size_t i = 4; i < 10; ++i)
      if (now[i] == 1) drawn.insert(i);
  }
  EXPECT_EQ(drawn.size(), 6U);  // two halves
}

TEST(SftOrder, CurriculumLetsLongExamplesJoinLater) {
  std::vector<int64_t> lengths(1000);
  for (size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<int64_t>(i);
  const std::vector<DataSection> all = {{0, 1000, 1}};
  auto order = SftOrder(3, 0, all, lengths, 0.5);
  const auto mean = [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<double>(lengths[order[i]]);
    return sum / static_cast<double>(end - begin);
  };
  EXPECT_LT(mean(0, 100), 350);
  EXPECT_GT(mean(800, 1000), 500);
  EXPECT_LT(mean(800, 1000), 800);
  EXPECT_EQ(SftOrder(3, 1, all, lengths, 0.5), EpochOrder(3, 1, 1000));
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
}

}  // namespace
}  // namespace davinci::trainer
