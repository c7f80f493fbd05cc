// Search in a library of 100,000 skills, and what changing it costs.
//
// Documents are as long as skills (150 tokens on average) over a vocabulary of 60,000 words whose
// frequencies follow Zipf's law, as those of English text and code do; queries are the distinct
// words of a reference: 8, 40 or 120 of them, drawn with the same law, so that each has some words
// that nearly every document contains.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/skill/bm25.h"

namespace davinci::skill {
namespace {

constexpr size_t kNumSkills = 100'000;
constexpr size_t kVocabulary = 60'000;
constexpr size_t kMeanTokens = 150;
constexpr size_t kTop = 20;

class Words {
 public:
  Words() : random_(1) {
    double sum = 0;
    for (size_t i = 0; i < kVocabulary; ++i)
      cumulative_.push_back(sum += 1.0 / static_cast<double>(i + 2));
    for (double& c : cumulative_) c /= sum;
  }
  std::string One() {
    const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), random_.Uniform());
    return "w" + std::to_string(at - cumulative_.begin());
  }
  std::vector<std::string> Several(size_t count) {
    std::vector<std::string> words;
    for (size_t i = 0; i < count; ++i) words.push_back(One());
    return words;
  }
  std::vector<std::string> Document() {
    return Several(kMeanTokens / 2 + random_.Below(kMeanTokens));
  }

 private:
  SplitMix64 random_;
  std::vector<double> cumulative_;
};

Bm25Index& Index(size_t num_skills) {
  static Bm25Index index;
  static Words words;
  while (index.size() < num_skills)
    index.Add("skill-" + std::to_string(index.size()), words.Document());
  return index;
}

void BM_Top20(benchmark::State& state) {
  const Bm25Index& index = Index(kNumSkills);
  Words words;
  std::vector<std::vector<std::string>> queries;
  for (int i = 0; i < 64; ++i)
    queries.push_back(words.Several(static_cast<size_t>(state.range(0))));
  size_t next = 0;
  double slowest_ms = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    auto hits = index.Search(queries[next++ % queries.size()], kTop);
    benchmark::DoNotOptimize(hits);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    slowest_ms = std::max(slowest_ms, took.count());
  }
  state.counters["slowest_ms"] = slowest_ms;
}
BENCHMARK(BM_Top20)->Arg(8)->Arg(40)->Arg(120)->Unit(benchmark::kMillisecond);

void BM_ReplaceOne(benchmark::State& state) {
  Bm25Index& index = Index(kNumSkills);
  Words words;
  size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto document = words.Document();
    state.ResumeTiming();
    index.Add("skill-" + std::to_string(next++ % kNumSkills), document);
  }
}
BENCHMARK(BM_ReplaceOne)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace davinci::skill
