#include "davinci/llm/spread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <set>
#include <thread>

namespace davinci::llm {
namespace {

// Answers are held back until `open`; says which place it is.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  int waiting = 0;
};

class Place final : public Backbone {
 public:
  Place(std::string name, Gate* gate) : name_(std::move(name)), gate_(gate) {}
  Result<Reply> Generate(const Request& request, const CancelToken&) override {
    if (request.messages.back().content == "fail") return Internal("broken");
    std::unique_lock lock(gate_->mutex);
    ++gate_->waiting;
    gate_->changed.notify_all();
    gate_->changed.wait(lock, [&] { return gate_->open; });
    --gate_->waiting;
    Reply reply;
    reply.text = name_;
    return reply;
  }
  int64_t ContextTokens() const override { return name_ == "0" ? 100 : 50; }
  std::string Name() const override { return name_; }

 private:
  const std::string name_;
  Gate* const gate_;
};

Request About(const std::string& task) {
  Request request;
  request.messages = {{Role::kSystem, "Write.", {}, ""}, {Role::kUser, task, {}, ""}};
  return request;
}

struct SpreadTest : testing::Test {
  SpreadTest() {
    std::vector<std::unique_ptr<Backbone>> places;
    for (const char* name : {"0", "1"}) places.push_back(std::make_unique<Place>(name, &gate));
    spread = std::make_unique<SpreadBackbone>(std::move(places));
  }
  std::string PlaceOf(const Request& request) {
    return spread->Generate(request, CancelToken())->text;
  }
  Gate gate;
  std::unique_ptr<SpreadBackbone> spread;
};

TEST_F(SpreadTest, AConversationStaysWhereItBegan) {
  std::set<std::string> used;
  for (int task = 0; task < 32; ++task) {
    Request request = About(std::to_string(task));
    const std::string home = PlaceOf(request);
    used.insert(home);
    request.messages.push_back({Role::kAssistant, "a reply", {}, ""});
    request.messages.push_back({Role::kUser, "Faster.", {}, ""});
    EXPECT_EQ(PlaceOf(request), home);
  }
  EXPECT_EQ(used.size(), 2u);
}

TEST_F(SpreadTest, ManyRolloutsOfOnePromptUseAllPlaces) {
  gate.open = false;
  std::vector<std::thread> threads;
  std::vector<std::string> where(40);
  for (size_t i = 0; i < where.size(); ++i)
    threads.emplace_back([&, i] { where[i] = PlaceOf(About("one task")); });
  {
    std::unique_lock lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.waiting == static_cast<int>(where.size()); });
    gate.open = true;
  }
  gate.changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  const auto first = std::count(where.begin(), where.end(), "0");
  EXPECT_GE(std::min<int64_t>(first, 40 - first), 15) << "not more than the slack apart";
}

TEST_F(SpreadTest, FailuresAreTheCallersAndLeaveNoLoad) {
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(spread->Generate(About("fail"), CancelToken()).ok());
  EXPECT_EQ(PlaceOf(About("one task")), PlaceOf(About("one task")));
  EXPECT_FALSE(spread->GenerateMany(About("fail"), 2, CancelToken()).ok());
  EXPECT_EQ(spread->GenerateMany(About("one task"), 3, CancelToken())->size(), 3u);
}

TEST_F(SpreadTest, TheSmallestContextHolds) {
  EXPECT_EQ(spread->ContextTokens(), 50);
  EXPECT_EQ(spread->Name(), "0, 1");
}

}  // namespace
}  // namespace davinci::llm
