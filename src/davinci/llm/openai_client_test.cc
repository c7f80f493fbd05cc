// Replies of the client, against real servers on real sockets.
#include "davinci/llm/openai_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "davinci/llm/openai_client_fixture.h"
#include "davinci/llm/test_support.h"
#include "davinci/llm/tool_calls.h"

namespace davinci::llm {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

TEST_F(OpenAiClientTest, StreamsAReply) {
  HttpServer server([](const auto&, auto& response) {
    Stream(response, {Event(Delta("Hel")), ": ping\n\n", Event(Delta("lo")), Event(Finished()),
                      Event(UsageChunk(1000, 20)), "data: [DONE]\n\n"});
  });
  OpenAiOptions options = Quick({server.url()});
  options.prices = *PriceTable::Parse(
      "[models.test-model]\ninput_usd_per_million = 1\noutput_usd_per_million = 2\n", "p");
  Ledger ledger;
  options.ledger = &ledger;
  auto client = Client(std::move(options));
  const auto reply = client->Generate(Ask(), {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->finish_reason, FinishReason::kStop);
  EXPECT_EQ(reply->usage, (Usage{1000, 0, 20, false}));
  EXPECT_NEAR(*reply->cost_usd, 0.00104, 1e-12);
  EXPECT_EQ(reply->model, "test-model");
  EXPECT_EQ(reply->endpoint, server.url() + "/v1");
  EXPECT_EQ(reply->num_attempts, 1);
  EXPECT_GT(reply->latency_s, 0);
  EXPECT_EQ(ledger.Total().num_calls, 1);
  EXPECT_NEAR(ledger.Total().usd, 0.00104, 1e-12);
  EXPECT_EQ(client->Name(), "test-model at " + server.url() + "/v1");
}

TEST_F(OpenAiClientTest, PiecesArriveWhileTheReplyIsWrittenAndAreTakenBackWhenItBreaks) {
  std::atomic<int> calls = 0;
  HttpServer server([&](const auto&, auto& response) {
    if (++calls == 1)
      Stream(response, {Event(Delta("Hal"))});  // and the connection ends
    else
      Stream(response,
             {Event(Delta("Hel")), Event(Delta("lo")), Event(Finished()), "data: [DONE]\n\n"});
  });
  std::string heard;
  Request request = Ask();
  request.on_token = [&](const TokenEvent& event) {
    EXPECT_EQ(event.id, -1);
    heard += event.restart ? "|" : std::string(event.text) + ".";
  };
  const auto reply = Client(Quick({server.url()}))->Generate(request, {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "Hello");
  EXPECT_EQ(reply->num_attempts, 2);
  EXPECT_EQ(heard, "Hal.|Hel.lo.");
}

TEST_F(OpenAiClientTest, WholeAnswersWorkAskedForOrNot) {
  HttpServer server([](const auto&, auto& response) {
    response.set_content(
        R"({"model": "test-model", "choices": [{"index": 0, "message": {"role": "assistant",
            "content": "whole"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1}})",
        "application/json");
  });
  for (const bool stream : {true, false}) {
    OpenAiOptions options = Quick({server.url() + "/v1/"});
    options.stream = stream;
    const auto reply = Client(options)->Generate(Ask(), {});
    ASSERT_TRUE(reply.ok()) << reply.status().message();
    EXPECT_EQ(reply->text, "whole");
    EXPECT_EQ(reply->cost_usd, std::nullopt);  // the price is unknown, not zero
  }
  EXPECT_FALSE(server.requests()[1].contains("stream"));
}

TEST_F(OpenAiClientTest, StreamedToolCallsComeOutWhole) {
  HttpServer server([](const auto&, auto& response) {
    const auto fragment = [](const Json& call) {
      return Event({{"choices", {{{"index", 0}, {"delta", {{"tool_calls", {call}}}}}}}});
    };
    Stream(response,
           {fragment({{"index", 0},
                      {"id", "c1"},
                      {"function", {{"name", "select_skills"}, {"arguments", ""}}}}),
            fragment({{"index", 0}, {"function", {{"arguments", "{\"selected_skills\": [{\"na"}}}}),
            fragment({{"index", 0}, {"function", {{"arguments", "me\": \"a\"}]}"}}}}),
            Event(Finished("tool_calls")), "data: [DONE]\n\n"});
  });
  Request request = Ask();
  request.tools = {SelectSkillsTool({"a", "b"}, 3)};
  const auto reply = Client(Quick({server.url()}))->Generate(request, {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  const auto selection = ParseSelectSkills(*reply, {"a", "b"}, 3);
  ASSERT_TRUE(selection.ok()) << selection.message;
  EXPECT_EQ(selection.value->choices[0].name, "a");
  EXPECT_EQ(selection.form, ToolCallForm::kNative);
}

TEST_F(OpenAiClientTest, SeveralSamplesInOneRequest) {
  HttpServer server([](const httplib::Request& request, auto& response) {
    const Json body = Json::parse(request.body);
    Json choices = Json::array();
    for (int i = 0; i < body.value("n", 1); ++i) {
      choices.push_back({{"index", i},
                         {"message", {{"content", "r" + std::to_string(i)}}},
                         {"finish_reason", "stop"}});
    }
    response.set_content(Json{{"choices", choices}}.dump(), "application/json");
  });
  const auto replies = Client(Quick({server.url()}))->GenerateMany(Ask(), 3, {});
  ASSERT_TRUE(replies.ok()) << replies.status().message();
  EXPECT_EQ((*replies)[2].text, "r2");
  EXPECT_EQ(server.num_requests(), 1u);
}

TEST_F(OpenAiClientTest, MissingSamplesAreAskedForWithOtherSeeds) {
  HttpServer server([](const auto&, auto& response) { StreamText(response, "one"); });
  Ledger ledger({.max_usd = {}, .max_calls = 3});
  OpenAiOptions options = Quick({server.url()});
  options.ledger = &ledger;
  auto client = Client(std::move(options));
  Request request = Ask();
  request.seed = 5;
  const auto replies = client->GenerateMany(request, 3, {});
  ASSERT_TRUE(replies.ok()) << replies.status().message();
  EXPECT_EQ(replies->size(), 3u);
  EXPECT_EQ(ledger.Total().num_calls, 3);
  std::vector<int> seeds;
  for (const Json& body : server.requests()) seeds.push_back(body["seed"]);
  EXPECT_THAT(seeds, ElementsAre(5, 6, 7));
  EXPECT_EQ(client->Generate(request, {}).status().code(), StatusCode::kResourceExhausted);
}

// Whatever goes wrong once, the second attempt succeeds and says so.

}  // namespace
}  // namespace davinci::llm
