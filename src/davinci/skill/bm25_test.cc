#include "davinci/skill/bm25.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/skill/tokenizer.h"

namespace davinci::skill {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

using Tokens = std::vector<std::string>;

std::vector<std::string> Names(const std::vector<Bm25Index::Hit>& hits) {
  std::vector<std::string> names;
  for (const auto& hit : hits) names.push_back(hit.name);
  return names;
}

TEST(Bm25Index, RareTermOutranksCommonTerm) {
  Bm25Index index;
  index.Add("a", {"kernel", "softmax"});
  index.Add("b", {"kernel", "matmul"});
  index.Add("c", {"kernel", "pool"});
  EXPECT_THAT(Names(index.Search({"kernel", "matmul"}, 10)), ElementsAre("b", "a", "c"));
}

TEST(Bm25Index, OneDocumentIsFoundWithAPositiveScore) {
  Bm25Index index;
  index.Add("only", {"softmax", "row"});
  const auto hits = index.Search({"softmax"}, 5);
  ASSERT_EQ(hits.size(), 1u);
  // N = df = 1, tf = 1, |d| = avgdl: ln(1 + 0.5 / 1.5) * 2.5 / 2.5.
  EXPECT_DOUBLE_EQ(hits[0].score, std::log(1 + 0.5 / 1.5));
}

TEST(Bm25Index, RepetitionInTheQueryCountsOnce) {
  Bm25Index index;
  index.Add("a", {"row", "sum"});
  index.Add("b", {"sum", "sum"});
  EXPECT_EQ(index.Search({"sum", "sum", "sum"}, 1)[0].score, index.Search({"sum"}, 1)[0].score);
}

TEST(Bm25Index, EqualScoresAreOrderedByName) {
  Bm25Index index;
  for (const char* name : {"delta", "alpha", "charlie", "bravo"}) index.Add(name, {"tile", "k"});
  EXPECT_THAT(Names(index.Search({"tile"}, 3)), ElementsAre("alpha", "bravo", "charlie"));
}

TEST(Bm25Index, NothingMatchesNothing) {
  Bm25Index index;
  EXPECT_THAT(index.Search({"softmax"}, 3), IsEmpty());
  index.Add("a", {"row"});
  EXPECT_THAT(index.Search({"softmax"}, 3), IsEmpty());
  EXPECT_THAT(index.Search({}, 3), IsEmpty());
  EXPECT_THAT(index.Search({"row"}, 0), IsEmpty());
}

TEST(Bm25Index, AddingAgainReplaces) {
  Bm25Index index;
  index.Add("a", {"softmax"});
  index.Add("a", {"matmul"});
  EXPECT_EQ(index.size(), 1u);
  EXPECT_THAT(index.Search({"softmax"}, 3), IsEmpty());
  EXPECT_THAT(Names(index.Search({"matmul"}, 3)), ElementsAre("a"));
}

// The definition, term by term, without any cleverness.
std::vector<Bm25Index::Hit> Naive(const std::map<std::string, Tokens>& documents,
                                  const Tokens& query, size_t k) {
  const auto n = static_cast<double>(documents.size());
  double average = 0;
  for (const auto& [name, tokens] : documents) average += static_cast<double>(tokens.size()) / n;
  std::vector<Bm25Index::Hit> hits;
  for (const auto& [name, tokens] : documents) {
    double score = 0;
    for (const std::string& term : std::set<std::string>(query.begin(), query.end())) {
      double df = 0;
      for (const auto& [other, others] : documents)
        df += std::find(others.begin(), others.end(), term) != others.end() ? 1 : 0;
      const auto tf = static_cast<double>(std::count(tokens.begin(), tokens.end(), term));
      score += std::log(1 + (n - df + 0.5) / (df + 0.5)) * tf * 2.5 /
               (tf + 1.5 * (0.25 + 0.75 * static_cast<double>(tokens.size()) / average));
    }
    if (score > 0) hits.push_back({name, score});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score + 1e-12; });
  if (hits.size() > k) hits.resize(k);
  return hits;
}

// Words follow a power law, so that queries mix very common with very rare ones and the search
// really stops early.
Tokens RandomTokens(SplitMix64* random, size_t most, double skew) {
  Tokens tokens;
  const size_t size = 1 + random->Below(most);
  for (size_t i = 0; i < size; ++i)
    tokens.push_back(
        "w" + std::to_string(static_cast<int>(std::pow(400.0, std::pow(random->Uniform(), skew)))));
  return tokens;
}

TEST(Bm25Index, AnyHistoryOfChangesGivesTheResultsOfTheDefinition) {
  SplitMix64 random(7);
  Bm25Index index;
  std::map<std::string, Tokens> documents;
  for (int change = 0; change < 1500; ++change) {
    const std::string name = "d" + std::to_string(random.Below(400));
    if (random.Below(3) == 0) {
      index.Remove(name);
      documents.erase(name);
    } else {
      documents[name] = RandomTokens(&random, 30, 1.0);
      index.Add(name, documents[name]);
    }
    if (change % 50 != 49) continue;
    ASSERT_EQ(index.size(), documents.size());
    const Tokens query = RandomTokens(&random, 12, 0.7);
    const size_t k = 1 + random.Below(20);
    const auto found = index.Search(query, k);
    const auto expected = Naive(documents, query, documents.size());
    ASSERT_EQ(found.size(), std::min(k, expected.size()));
    std::map<std::string, double> score_of;
    for (const auto& hit : expected) score_of[hit.name] = hit.score;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].score, score_of[found[i].name], 1e-9);
      EXPECT_NEAR(found[i].score, expected[i].score, 1e-9) << "rank " << i;
    }
  }
}

TEST(Bm25Index, TheOrderOfAddingDoesNotMatterToTheLastBit) {
  SplitMix64 random(11);
  std::vector<std::pair<std::string, Tokens>> documents;
  for (int i = 0; i < 300; ++i)
    documents.emplace_back("d" + std::to_string(i), RandomTokens(&random, 40, 1.0));
  Bm25Index forward, backward;
  for (const auto& [name, tokens] : documents) forward.Add(name, tokens);
  for (auto it = documents.rbegin(); it != documents.rend(); ++it)
    backward.Add(it->first, it->second);
  for (int i = 0; i < 50; ++i) {
    const Tokens query = RandomTokens(&random, 15, 0.7);
    const auto a = forward.Search(query, 20);
    const auto b = backward.Search(query, 20);
    ASSERT_EQ(Names(a), Names(b));
    for (size_t j = 0; j < a.size(); ++j) EXPECT_EQ(a[j].score, b[j].score);
  }
}

// --- against rank_bm25 (tests/golden/bm25) ---

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    auto text = ReadFile(DAVINCI_SOURCE_DIR "/tests/golden/bm25/golden.json");
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    golden_ = json::parse(*text);
  }
  static Bm25Index IndexOf(const json& corpus) {
    Bm25Index index;
    for (const json& document : corpus["documents"])
      index.Add(document["name"].get<std::string>(), document["tokens"].get<Tokens>());
    return index;
  }
  json golden_;
};

TEST_F(Golden, TheTokenizerOfTheGeneratorAgrees) {
  for (const json& corpus : golden_["corpora"]) {
    for (const json& document : corpus["documents"])
      EXPECT_EQ(Tokenize(document["name"].get<std::string>() + "\n" +
                         document["text"].get<std::string>()),
                document["tokens"].get<Tokens>())
          << document["name"];
  }
}

// rank_bm25 with only its idf replaced: the same scores, and the same order where it defines one.
TEST_F(Golden, ScoresAreThoseOfRankBm25WithNonNegativeIdf) {
  for (const json& corpus : golden_["corpora"]) {
    const Bm25Index index = IndexOf(corpus);
    for (const json& query : corpus["queries"]) {
      const auto hits = index.Search(query["tokens"].get<Tokens>(), 1000);
      EXPECT_EQ(hits.size(), query["scores"].size()) << query["query"];
      for (const auto& hit : hits)
        EXPECT_NEAR(hit.score, query["scores"].value(hit.name, 0.0), 1e-9) << query["query"];
      const auto order = query["ranking"].get<std::vector<std::string>>();
      for (size_t i = 0; i < std::min(order.size(), hits.size()); ++i)
        EXPECT_NEAR(hits[i].score, query["scores"][order[i]].get<double>(), 1e-9) << query["query"];
    }
  }
}

// The unchanged rank_bm25 has another idf. Over documents like skills that changes no ranking,
// except for words that most documents have: their logarithm is negative there, and is replaced by
// a quarter of the mean idf.
TEST_F(Golden, RankingsAreThoseOfRankBm25UnlessAWordIsInMostDocuments) {
  const json& corpus = golden_["corpora"][0];
  ASSERT_EQ(corpus["label"], "skills");
  const auto majority = corpus["majority_terms"].get<std::set<std::string>>();
  const Bm25Index index = IndexOf(corpus);
  int num_compared = 0;
  for (const json& query : corpus["queries"]) {
    const auto tokens = query["tokens"].get<Tokens>();
    if (std::any_of(tokens.begin(), tokens.end(),
                    [&](const std::string& t) { return majority.contains(t); }))
      continue;
    EXPECT_EQ(Names(index.Search(tokens, 1000)),
              query["okapi_ranking"].get<std::vector<std::string>>())
        << query["query"];
    ++num_compared;
  }
  EXPECT_GE(num_compared, 15);
}

// … and in a library of one or two skills it finds nothing at all, or the wrong one first.
TEST_F(Golden, SmallLibrariesCanBeSearchedUnlikeWithRankBm25) {
  int num_lost = 0;
  for (const json& corpus : golden_["corpora"]) {
    if (corpus["documents"].size() > 2) continue;
    const Bm25Index index = IndexOf(corpus);
    for (const json& query : corpus["queries"]) {
      EXPECT_EQ(Names(index.Search(query["tokens"].get<Tokens>(), 5)),
                query["ranking"].get<std::vector<std::string>>());
      num_lost += query["okapi_ranking"].size() < query["ranking"].size() ? 1 : 0;
    }
  }
  EXPECT_GE(num_lost, 3);
}

}  // namespace
}  // namespace davinci::skill
