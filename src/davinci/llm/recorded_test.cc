#include "davinci/llm/recorded.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "davinci/base/files.h"

namespace davinci::llm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Answers with the label and a counter, so that a second call is seen.
class Counting : public Backbone {
 public:
  Result<Reply> Generate(const Request& request, const CancelToken&) override {
    Reply reply;
    reply.text = fmt::format("{} call {}", request.label, ++num_calls);
    reply.reasoning = "because";
    reply.tool_calls = {{"1", "f", "{\"x\": 1}"}};
    reply.finish_reason = FinishReason::kToolCalls;
    reply.usage = {10, 4, 3, false};
    reply.cost_usd = 0.25;
    reply.token_logprobs = {{"a", -0.1234567890123456}, {"b", -2}};
    reply.model = "m";
    reply.endpoint = "e";
    reply.latency_s = 0.1;
    reply.num_attempts = 2;
    return reply;
  }
  std::string Name() const override { return "counting"; }
  std::atomic<int> num_calls = 0;
};

Request Ask(std::string label, std::string text = "hello") {
  Request request;
  request.label = std::move(label);
  request.messages = {{Role::kSystem, "be brief", {}, {}}, {Role::kUser, std::move(text), {}, {}}};
  request.temperature = 1.0;
  request.seed = 7;
  return request;
}

class RecordedTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::move(MakeTempDir("recorded")).value();
    file_ = dir_.path() / "replies.jsonl";
  }
  std::unique_ptr<RecordingBackbone> Recorder(RecordingMatch match = RecordingMatch::kContent) {
    auto recorder = RecordingBackbone::Open(file_, &model_, match);
    EXPECT_TRUE(recorder.ok()) << recorder.status().message();
    return std::move(recorder).value();
  }
  std::unique_ptr<RecordedBackbone> Replay(Ledger* ledger = nullptr) {
    auto replay = RecordedBackbone::Open(file_, ledger);
    EXPECT_TRUE(replay.ok()) << replay.status().message();
    return std::move(replay).value();
  }

  TempDir dir_;
  std::filesystem::path file_;
  Counting model_;
};

TEST_F(RecordedTest, ReplaysExactly) {
  const Reply said = *Recorder()->Generate(Ask("t/0"), {});
  EXPECT_EQ(*Replay()->Generate(Ask("t/0"), {}), said);
}

TEST_F(RecordedTest, ReplayDoesNotDependOnOrderOrThreads) {
  constexpr int kUnits = 64;
  {
    auto recorder = Recorder();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t; i < kUnits; i += 4)
          ASSERT_TRUE(recorder->Generate(Ask(fmt::format("unit/{}", i)), {}).ok());
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  auto first = Replay(), second = Replay();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = kUnits - 1 - t; i >= 0; i -= 4) {
        const auto reply = first->Generate(Ask(fmt::format("unit/{}", i)), {});
        ASSERT_TRUE(reply.ok());
        EXPECT_THAT(reply->text, testing::StartsWith(fmt::format("unit/{} call", i)));
        EXPECT_EQ(*reply, *second->Generate(Ask(fmt::format("unit/{}", i)), {}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RecordedTest, MissingRecordingNamesTheLabel) {
  ASSERT_TRUE(Recorder()->Generate(Ask("t/0"), {}).ok());
  const auto reply = Replay()->Generate(Ask("t/1"), {});
  EXPECT_EQ(reply.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("\"t/1\""), HasSubstr("recorded:replies.jsonl")));
}

TEST_F(RecordedTest, OtherContentNamesTheLabelAndWhatDiffers) {
  ASSERT_TRUE(Recorder()->Generate(Ask("t/0"), {}).ok());
  Request other = Ask("t/0", "good bye");
  other.temperature = 0.5;
  const auto reply = Replay()->Generate(other, {});
  EXPECT_EQ(reply.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("\"t/0\""), HasSubstr("messages[1], sampling.")));
}

TEST_F(RecordedTest, LabelAloneSufficesWhereRecordedSo) {
  ASSERT_TRUE(Recorder(RecordingMatch::kLabel)->Generate(Ask("t/0"), {}).ok());
  EXPECT_TRUE(Replay()->Generate(Ask("t/0", "timing: 3.7 ms"), {}).ok());
}

TEST_F(RecordedTest, RequestsWithoutLabelAreFoundByContent) {
  ASSERT_TRUE(Recorder()->Generate(Ask("", "a"), {}).ok());
  EXPECT_TRUE(Replay()->Generate(Ask("", "a"), {}).ok());
  EXPECT_EQ(Replay()->Generate(Ask("", "b"), {}).status().code(), StatusCode::kNotFound);
}

TEST_F(RecordedTest, ContinuedRecordingPaysNothingTwice) {
  const Reply first = *Recorder()->Generate(Ask("t/0"), {});
  auto again = Recorder();
  EXPECT_EQ(*again->Generate(Ask("t/0"), {}), first);
  EXPECT_EQ(model_.num_calls, 1);
  ASSERT_TRUE(again->Generate(Ask("t/0", "changed"), {}).ok());
  EXPECT_EQ(model_.num_calls, 2);
}

TEST_F(RecordedTest, SeveralSamplesAreSeveralUnits) {
  const auto said = *Recorder()->GenerateMany(Ask("t/0"), 3, {});
  EXPECT_EQ(*Replay()->GenerateMany(Ask("t/0"), 3, {}), said);
  EXPECT_EQ(*Replay()->Generate(SampleOf(Ask("t/0"), 1), {}), said[1]);
  EXPECT_EQ(*Recorder()->GenerateMany(Ask("t/0"), 3, {}), said);
  EXPECT_EQ(model_.num_calls, 3);
}

TEST_F(RecordedTest, TornLastLineIsLeftOut) {
  ASSERT_TRUE(Recorder()->Generate(Ask("t/0"), {}).ok());
  const std::string whole = *ReadFile(file_);
  ASSERT_TRUE(WriteFileAtomic(file_, whole + whole.substr(0, whole.size() / 2)).ok());
  EXPECT_TRUE(Replay()->Generate(Ask("t/0"), {}).ok());
}

TEST_F(RecordedTest, RecordsThatAreNoneAreNamed) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {{"{\"label\": \"x\"}\n", "record 1"},
               {"nonsense\n", "replies.jsonl:1"},
               {"{\"davinci_recording\": 9}\n", "format 9"},
               {"{\"davinci_recording\": 1, \"label\": \"x\"}\n", "no \"reply\""},
               {"{\"davinci_recording\": 1, \"reply\": {}}\n", "nothing could match"},
               {"{\"davinci_recording\": 1, \"label\": \"x\", \"reply\": {\"text\": 3}}\n",
                "reply.text is not text"}};
  for (const auto& [text, message] : cases) {
    ASSERT_TRUE(WriteFileAtomic(file_, text).ok());
    const auto replay = RecordedBackbone::Open(file_);
    ASSERT_FALSE(replay.ok()) << text;
    EXPECT_THAT(replay.status().message(), HasSubstr(message)) << text;
  }
  EXPECT_EQ(RecordedBackbone::Open(dir_.path() / "none").status().code(), StatusCode::kNotFound);
}

TEST_F(RecordedTest, BudgetsActAsTheyDidWhenRecording) {
  {
    auto recorder = Recorder();
    for (const char* label : {"a", "b", "c"}) ASSERT_TRUE(recorder->Generate(Ask(label), {}).ok());
  }
  Ledger ledger({.max_usd = 0.6, .max_calls = {}});
  auto replay = Replay(&ledger);
  EXPECT_TRUE(replay->Generate(Ask("a"), {}).ok());
  EXPECT_TRUE(replay->Generate(Ask("b"), {}).ok());
  EXPECT_EQ(replay->Generate(Ask("c"), {}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_DOUBLE_EQ(ledger.Total().usd, 0.5);
}

TEST_F(RecordedTest, TwoRecordersOfOneFileAreRefused) {
  auto first = Recorder();
  EXPECT_EQ(RecordingBackbone::Open(file_, &model_).status().code(), StatusCode::kUnavailable);
}

TEST(RequestHash, LabelDoesNotCountEverythingElseDoes) {
  const Request base = Ask("a");
  EXPECT_EQ(ContentHash(base), ContentHash(Ask("b")));
  std::vector<Request> others(8, base);
  others[0].messages[0].content = "x";
  others[1].temperature = 0.9;
  others[2].seed.reset();
  others[3].stop = {"x"};
  others[4].tools.push_back({"t", "d", {}});
  others[5].max_tokens = 5;
  others[6].logprobs = true;
  others[7].required_tool = "t";
  for (size_t i = 0; i < others.size(); ++i)
    EXPECT_NE(ContentHash(base), ContentHash(others[i])) << i;
}

TEST(ReplyJson, InfiniteLogprobSurvives) {
  Reply reply;
  reply.token_logprobs = {{"x", -std::numeric_limits<double>::infinity()}};
  const auto text = ToJson(reply).dump();
  EXPECT_EQ(*ReplyFromJson(nlohmann::json::parse(text)), reply);
}

}  // namespace
}  // namespace davinci::llm
