// The engine over an executor that overlaps steps: the next one is launched before the tokens of
// the last are known, as on CUDA. Here a token is a function of the one before and its position.
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

#include "davinci/model/draw.h"
#include "davinci/model/library_abi.h"
#include "davinci/model/torch/executor.h"

namespace davinci::model {
namespace {

constexpr int kVocab = 97;

TokenId Next(TokenId token, int64_t position) {
  return static_cast<TokenId>((int64_t{token} * 7 + position * 13 + 5) % kVocab);
}

// The token that a filter asks for, else the function's.
TokenId Drawn(const DrawRow& draw, TokenId token) {
  for (TokenId id = 0; id < kVocab; ++id)
    if (IsAllowed(draw.allowed, static_cast<size_t>(id))) return id;
  return Next(token, draw.position);
}

// What the executors of a test have done.
std::atomic<int64_t> num_rows = 0;

class OverlappingExecutor final : public Executor {
 public:
  at::Tensor Prefill(std::span<const Chunk> chunks) override {
    last_of_prompts_.clear();
    for (const Chunk& chunk : chunks)
      if (chunk.last) last_of_prompts_.push_back(chunk.tokens.back());
    return at::zeros({static_cast<int64_t>(last_of_prompts_.size()), 1});
  }
  void Draw(const at::Tensor&, std::span<const DrawRow> rows, std::vector<Step>* steps) override {
    EXPECT_TRUE(under_way_.empty()) << "drawing overwrites what steps under way feed on";
    ASSERT_EQ(rows.size(), last_of_prompts_.size());
    steps->assign(rows.size(), Step());
    for (size_t i = 0; i < rows.size(); ++i)
      (*steps)[i].token = Drawn(rows[i], last_of_prompts_[i]);
    drawn_.clear();
  }
  void Launch(std::span<const StepRow> rows) override {
    EXPECT_LT(under_way_.size(), 2U);
    std::vector<Step> steps(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const StepRow& row = rows[i];
      EXPECT_EQ(row.position + 1, row.draw.position);
      TokenId token = row.token;
      if (row.source >= 0) {
        ASSERT_LT(static_cast<size_t>(row.source), drawn_.size());
        token = drawn_[static_cast<size_t>(row.source)].token;
      }
      if (!row.draw.allowed.empty()) {
        EXPECT_LT(row.source, 0) << "a filter knows its last token";
      }
      steps[i].token = Drawn(row.draw, token);
      steps[i].logprob = static_cast<float>(-steps[i].token);
    }
    num_rows += static_cast<int64_t>(rows.size());
    drawn_ = steps;
    under_way_.push_back(std::move(steps));
  }
  void Collect(std::vector<Step>* steps) override {
    ASSERT_FALSE(under_way_.empty());
    *steps = std::move(under_way_.front());
    under_way_.pop_front();
  }
  bool overlaps() const override { return true; }
  bool rows_are_independent() const override { return true; }
  void CopyCache(int64_t, int64_t, int64_t) override {}
  void Synchronize() override {}
  void WarmUp(const std::function<void()>&) override {}
  int64_t cache_bytes() const override { return 0; }

 private:
  std::vector<TokenId> last_of_prompts_;
  std::vector<Step> drawn_;
  std::deque<std::vector<Step>> under_way_;
};

class EngineOverlap : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("engine_overlap_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "config.json")
        << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": )"
        << kVocab << R"(, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
             "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8,
             "tie_word_embeddings": true, "hidden_act": "silu", "max_position_embeddings": 4096,
             "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "attention_bias": false,
             "mlp_bias": false, "torch_dtype": "float32"})";
    EngineOptions options;
    options.model_dir = folder_.string();
    options.device = "cpu";
    options.random_weights = true;
    options.max_batch = 8;
    options.cache_tokens = 8 * 256;
    auto engine = davinci_model_library()->make_engine(options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    engine_ = std::move(engine).value();
    num_rows = 0;
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }

  static Generation Of(int number, int max_tokens) {
    Generation generation;
    for (int i = 0; i < 3 + number % 5; ++i)
      generation.prompt.push_back((number * 31 + i * 17) % kVocab);
    generation.max_tokens = max_tokens;
    return generation;
  }
  // The first `count` tokens of an answer that nothing ends.
  static std::vector<TokenId> Wanted(const Generation& generation, int count) {
    std::vector<TokenId> text = generation.prompt;
    for (int i = 0; i < count; ++i)
      text.push_back(Next(text.back(), static_cast<int64_t>(text.size())));
    return {text.begin() + static_cast<int64_t>(generation.prompt.size()), text.end()};
  }

  std::filesystem::path folder_;
  std::unique_ptr<Engine> engine_;
};

// More requests than the batch has rows, so that rows change their requests between steps.
TEST_F(EngineOverlap, AnEndInAStepUnderWayDropsTheRowOfTheNext) {
  constexpr int kRequests = 60;
  std::atomic<int64_t> num_tokens = 0;
  std::atomic<int> num_cut = 0;
  std::vector<std::jthread> clients;
  for (int number = 0; number < kRequests; ++number)
    clients.emplace_back([&, number] {
      const int length = 1 + number * 7 % 40;
      Generation generation = Of(number, length);
      std::vector<TokenId> wanted = Wanted(generation, length);
      EndOfAnswer end = EndOfAnswer::kLength;
      int seen = 0;
      if (number % 3 == 1) {
        const TokenId stop = wanted[wanted.size() / 2];
        generation.stop_tokens = {stop};
        wanted.resize(static_cast<size_t>(std::find(wanted.begin(), wanted.end(), stop) -
                                          wanted.begin() + 1));
        end = EndOfAnswer::kStopToken;
      } else if (number % 3 == 2) {
        wanted.resize(wanted.size() / 2 + 1);
        generation.on_step = [&](const Step&) { return ++seen < static_cast<int>(wanted.size()); };
        end = EndOfAnswer::kCaller;
      }
      const auto answer = engine_->Generate(std::move(generation));
      ASSERT_TRUE(answer.ok()) << answer.status().ToString();
      EXPECT_EQ(answer->tokens, wanted) << number;
      EXPECT_EQ(answer->end, end) << number;
      EXPECT_EQ(answer->logprobs.size(), wanted.size());
      for (size_t i = 1; i < wanted.size(); ++i)
        EXPECT_EQ(answer->logprobs[i], static_cast<float>(-wanted[i]));
      num_tokens += static_cast<int64_t>(wanted.size());
      if (end != EndOfAnswer::kLength) ++num_cut;
    });
  clients.clear();
  // The first token of an answer takes no row; an answer that is cut takes one too many at most.
  EXPECT_GE(num_rows, num_tokens - kRequests);
  EXPECT_LE(num_rows, num_tokens - kRequests + num_cut);
  EXPECT_EQ(engine_->Counters().generated_tokens, num_tokens);
}

// Allows one token: the one behind the last.
class Counting final : public TokenFilter {
 public:
  explicit Counting(int64_t length) : left_(length) {}
  std::span<const uint64_t> Allowed(int64_t remaining) override {
    EXPECT_EQ(remaining, left_);
    bits_ = {0, 0};
    bits_[static_cast<size_t>(next_) / 64] |= uint64_t{1} << (next_ % 64);
    return bits_;
  }
  void Accept(TokenId token) override {
    EXPECT_EQ(token, next_);
    next_ = (next_ + 1) % kVocab;
    --left_;
  }

 private:
  TokenId next_ = 0;
  int64_t left_;
  std::vector<uint64_t> bits_;
};

TEST_F(EngineOverlap, AFilterIsAskedWhenTheLastTokenIsKnown) {
  std::vector<std::jthread> clients;
  for (int number = 0; number < 24; ++number)
    clients.emplace_back([&, number] {
      Generation generation = Of(number, 120);
      std::vector<TokenId> wanted = Wanted(generation, 120);
      if (number % 2 == 0) {
        generation.filter = std::make_shared<Counting>(120);
        for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<TokenId>(i) % kVocab;
      }
      const auto answer = engine_->Generate(std::move(generation));
      ASSERT_TRUE(answer.ok()) << answer.status().ToString();
      EXPECT_EQ(answer->tokens, wanted) << number;
    });
}

TEST_F(EngineOverlap, ACancelledRequestLeavesTheOthersAsTheyAre) {
  std::vector<std::jthread> clients;
  for (int number = 0; number < 24; ++number)
    clients.emplace_back([&, number] {
      Generation generation = Of(number, 50);
      const std::vector<TokenId> wanted = Wanted(generation, 50);
      CancelSource source;
      int seen = 0;
      if (number % 2 == 1) {
        generation.cancel = source.get_token();
        generation.on_step = [&](const Step& step) {
          EXPECT_EQ(step.token, wanted[static_cast<size_t>(seen)]);
          if (++seen == 1 + number) source.request_stop();
          return true;
        };
      }
      const auto answer = engine_->Generate(std::move(generation));
      if (number % 2 == 1) {
        EXPECT_EQ(answer.status().code(), StatusCode::kCancelled);
        EXPECT_LE(seen, 2 + number);  // the step that was under way
      } else {
        ASSERT_TRUE(answer.ok()) << answer.status().ToString();
        EXPECT_EQ(answer->tokens, wanted);
      }
    });
  clients.clear();
  EXPECT_EQ(engine_->Counters().cancelled, 12);
  EXPECT_EQ(engine_->Counters().running, 0);
}

}  // namespace

// In place of cpu_executor.cc.
std::unique_ptr<Executor> MakeCpuExecutor(Weights*, Executor::Options) {
  return std::make_unique<OverlappingExecutor>();
}

}  // namespace davinci::model
