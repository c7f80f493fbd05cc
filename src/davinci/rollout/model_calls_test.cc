#include "davinci/rollout/model_calls.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::rollout {
namespace {

// A model of ten tokens of context that counts a token a character.
class Narrow final : public llm::Backbone {
 public:
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    ++calls;
    if (broken) return InvalidArgument("no such model");
    if (CountPromptTokens(request) >= ContextTokens()) return InvalidArgument("too long");
    llm::Reply reply;
    reply.text = "short";
    return reply;
  }
  Result<std::vector<llm::Reply>> GenerateMany(const llm::Request&, int,
                                               const CancelToken&) override {
    return Internal("not asked");
  }
  int64_t CountPromptTokens(const llm::Request& request) const override {
    return static_cast<int64_t>(request.messages.at(0).content.size());
  }
  int64_t ContextTokens() const override { return 10; }
  std::string Name() const override { return "narrow"; }

  int calls = 0;
  bool broken = false;
};

TEST(ModelCalls, SelectionsSummariesAndSamplesThatTheContextCannotHoldAreEmptyReplies) {
  auto folder = MakeTempDir("calls");
  ASSERT_TRUE(folder.ok());
  auto run = store::RunStore::Create(folder->path() / "run", {{"title", "test"}});
  ASSERT_TRUE(run.ok());
  UnitLog log(run->get(), UnitLog::Mode::kLive);
  Lane lane("model", 1);
  Narrow model;
  ModelCalls calls(&log, &model, &lane);
  const auto ask = [&](UnitKind kind, const std::string& task, const std::string& prompt) {
    return calls.Call(
        UnitOf(kind, 1, std::string_view(task)),
        [&]() -> Result<Prepared> {
          Prepared prepared;
          prepared.request.messages.emplace_back().content = prompt;
          return prepared;
        },
        Urgency::kNewWork, 0, CancelToken());
  };
  for (const UnitKind kind : {UnitKind::kSelection, UnitKind::kSummary, UnitKind::kSample}) {
    const auto fits = ask(kind, "fits", "ask");
    ASSERT_TRUE(fits.ok()) << fits.status().ToString();
    EXPECT_EQ(fits->reply.text, "short");
    const auto not_read = ask(kind, "long", "longer than ten");
    ASSERT_TRUE(not_read.ok()) << not_read.status().ToString();
    EXPECT_EQ(not_read->reply.text, "");
    EXPECT_EQ(not_read->reply.finish_reason, llm::FinishReason::kLength);
    const int before = model.calls;
    EXPECT_TRUE(ask(kind, "long", "longer than ten")->from_journal);
    EXPECT_EQ(model.calls, before);
  }
  // What decides about the whole run stays an error, and so does a generation.
  EXPECT_FALSE(ask(UnitKind::kGeneration, "long", "longer than ten").ok());
  model.broken = true;
  EXPECT_FALSE(ask(UnitKind::kSelection, "other", "ask").ok());
}

}  // namespace
}  // namespace davinci::rollout
