// The client against real servers on real sockets.
#include "davinci/llm/openai_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/llm/test_support.h"
#include "davinci/llm/tool_calls.h"

namespace davinci::llm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

OpenAiOptions Quick(std::vector<std::string> urls) {
  OpenAiOptions options;
  options.endpoints = std::move(urls);
  options.model = "test-model";
  options.retry.first_delay_s = 0.01;
  options.retry.max_delay_s = 0.05;
  options.breaker.cool_down_s = 0.1;
  options.connect_timeout_s = 2;
  options.idle_timeout_s = 5;
  options.jitter_seed = 1;
  return options;
}

std::unique_ptr<OpenAiClient> Client(OpenAiOptions options) {
  auto client = OpenAiClient::Create(std::move(options));
  EXPECT_TRUE(client.ok()) << client.status().message();
  return std::move(client).value();
}

Request Ask(std::string text = "hello") {
  Request request;
  request.messages = {{Role::kUser, std::move(text), {}, {}}};
  request.label = "t/0/0/0/policy";
  return request;
}

class OpenAiClientTest : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("OPENAI_API_KEY"); }
  void TearDown() override { ::unsetenv("OPENAI_API_KEY"); }
};

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
TEST_F(OpenAiClientTest, TriesAgainAfterEveryKindOfFailure) {
  const struct {
    const char* what;
    HttpServer::Handler fail;
  } cases[] = {
      {"429", [](const auto&, auto& r) { Fail(r, 429, "slow down", "rate_limit_exceeded"); }},
      {"500", [](const auto&, auto& r) { Fail(r, 500, "oops"); }},
      {"502 html",
       [](const auto&, auto& r) { r.status = 502, r.set_content("<html>", "text/html"); }},
      {"503", [](const auto&, auto& r) { Fail(r, 503, "loading"); }},
      {"408", [](const auto&, auto& r) { Fail(r, 408, "timeout"); }},
      {"529", [](const auto&, auto& r) { Fail(r, 529, "overloaded"); }},
      {"garbage",
       [](const auto&, auto& r) { r.set_content("{\"choices\": [", "application/json"); }},
      {"html 200",
       [](const auto&, auto& r) { r.set_content("<html>sign in</html>", "text/html"); }},
      {"no choices", [](const auto&, auto& r) { r.set_content("{}", "application/json"); }},
      {"garbage event",
       [](const auto&, auto& r) {
         Stream(r, {Event(Delta("x")), "data: {\"a\n\n"});
       }},
      {"empty stream", [](const auto&, auto& r) { Stream(r, {"data: [DONE]\n\n"}); }},
      {"cut stream", [](const auto&, auto& r) { Stream(r, {Event(Delta("half"))}); }},
      {"error event",
       [](const auto&, auto& r) {
         Stream(r, {Event(Delta("x")), Event({{"error", {{"message", "engine died"}}}})});
       }},
  };
  for (const auto& [what, fail] : cases) {
    std::atomic<int> calls = 0;
    HttpServer server([&, fail = fail](const auto& request, auto& response) {
      calls++ == 0 ? fail(request, response) : StreamText(response, "fine");
    });
    Ledger ledger;
    OpenAiOptions options = Quick({server.url()});
    options.ledger = &ledger;
    auto client = Client(std::move(options));
    const auto reply = client->Generate(Ask(), {});
    ASSERT_TRUE(reply.ok()) << what << ": " << reply.status().message();
    EXPECT_EQ(reply->text, "fine") << what;
    EXPECT_EQ(reply->num_attempts, 2) << what;
    // Streams that had begun may be charged for; the ledger knows.
    const bool began = std::string_view(what).find("stream") != std::string_view::npos ||
                       std::string_view(what).find("event") != std::string_view::npos;
    EXPECT_EQ(ledger.Total().num_lost, began && std::string_view(what) != "empty stream" ? 1 : 0)
        << what;
  }
}

TEST_F(OpenAiClientTest, HalfClosedConnectionsAreTriedAgain) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  const std::string event = Event(Delta("half"));
  const std::string good = Event(Delta("fine")) + Event(Finished()) + "data: [DONE]\n\n";
  const std::vector<std::string> broken = {
      "",                                                         // closed without a word
      "HTTP/1.1 200",                                             // inside the status line
      head,                                                       // inside the headers
      head + "Transfer-Encoding: chunked\r\n\r\n",                // before the first chunk
      head + "Transfer-Encoding: chunked\r\n\r\nff\r\n" + event,  // inside a chunk
      head + "\r\n" + event,                                      // read to the end, too early
      head + "\r\ndata: {\"choi",                                 // inside an event
      head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",          // no chunk size
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"cho",
      "complete nonsense\r\n\r\n"};
  for (const std::string& bytes : broken) {
    RawServer server([&](int fd, int connection) {
      RawServer::Send(fd, connection == 0 ? bytes : head + "Connection: close\r\n\r\n" + good);
      ::shutdown(fd, SHUT_WR);  // half-closed: we stop sending and still listen
      char rest;
      while (::recv(fd, &rest, 1, 0) > 0) {
      }
    });
    const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
    ASSERT_TRUE(reply.ok()) << bytes << ": " << reply.status().message();
    EXPECT_EQ(reply->text, "fine") << bytes;
    EXPECT_EQ(server.num_connections(), 2) << bytes;
  }
}

TEST_F(OpenAiClientTest, StreamThatSaidAllCountsHoweverItsConnectionEnds) {
  RawServer server([&](int fd, int) {
    RawServer::Send(fd,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    "Transfer-Encoding: chunked\r\n\r\nfff\r\n" +
                        Event(Delta("all")) + Event(Finished()));
  });
  const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "all");
  EXPECT_EQ(reply->num_attempts, 1);
}

TEST_F(OpenAiClientTest, ConnectionsAreKept) {
  std::mutex mutex;
  std::set<int> ports;  // guarded by mutex
  HttpServer server([&](const httplib::Request& request, auto& response) {
    {
      std::lock_guard lock(mutex);
      ports.insert(request.remote_port);
    }
    StreamText(response, "x");
  });
  auto client = Client(Quick({server.url()}));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  std::lock_guard lock(mutex);
  EXPECT_EQ(ports.size(), 1u);
}

TEST_F(OpenAiClientTest, KeptConnectionThatWasClosedMeanwhileIsNoFailure) {
  RawServer server([](int fd, int connection) {
    const std::string body =
        R"({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})";
    RawServer::Send(fd, fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                    "Content-Length: {}\r\n\r\n{}",
                                    body.size(), body));
    if (connection == 0) RawServer::ReadRequest(fd);  // and closes it unanswered
  });
  auto client = Client(Quick({server.url()}));
  for (int i = 0; i < 2; ++i) {
    const auto reply = client->Generate(Ask(), {});
    ASSERT_TRUE(reply.ok()) << reply.status().message();
    EXPECT_EQ(reply->num_attempts, 1);
  }
  EXPECT_EQ(server.num_connections(), 2);
  EXPECT_EQ(client->Health()[0].num_failures, 0);
}

TEST_F(OpenAiClientTest, StreamLeftOpenAfterItsEndIsNotWaitedFor) {
  std::atomic<bool> leave = false;
  RawServer server([&](int fd, int) {
    RawServer::Send(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" +
                            Event(Delta("all")) + Event(Finished()) + "data: [DONE]\n\n");
    while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  const Stopwatch watch;
  const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
  leave = true;
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "all");
  EXPECT_LT(watch.Seconds(), 2);
}

TEST_F(OpenAiClientTest, SilenceIsATimeout) {
  std::atomic<bool> leave = false;
  RawServer server([&](int fd, int) {
    RawServer::Send(
        fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + Event(Delta("x")));
    while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  OpenAiOptions options = Quick({server.url()});
  options.idle_timeout_s = 0.2;
  options.retry.max_attempts = 1;
  const auto idle = Client(options)->Generate(Ask(), {});
  leave = true;
  EXPECT_EQ(idle.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(idle.status().message(), HasSubstr("nothing arrived for 0.2 s"));
}

TEST_F(OpenAiClientTest, EndlessTrickleMeetsTheDeadline) {
  HttpServer server([](const auto&, auto& response) {
    response.set_chunked_content_provider("text/event-stream", [](size_t, httplib::DataSink& sink) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return sink.write(": ping\n\n", 8);
    });
  });
  OpenAiOptions options = Quick({server.url()});
  options.attempt_timeout_s = 0.3;
  options.retry.max_attempts = 1;
  const Stopwatch watch;
  const auto reply = Client(options)->Generate(Ask(), {});
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(reply.status().message(), HasSubstr("before the deadline"));
  EXPECT_LT(watch.Seconds(), 3);
}

TEST_F(OpenAiClientTest, CancellingEndsACallAtOnce) {
  std::atomic<bool> leave = false, arrived = false;
  HttpServer server([&](const auto&, auto& response) {
    arrived = true;
    while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    StreamText(response, "late");
  });
  auto client = Client(Quick({server.url()}));
  CancelSource source;
  Status status;
  std::thread caller([&] { status = client->Generate(Ask(), source.get_token()).status(); });
  while (!arrived) std::this_thread::yield();
  const Stopwatch watch;
  source.request_stop();
  caller.join();
  EXPECT_LT(watch.Seconds(), 2);
  leave = true;
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(client->Generate(Ask(), source.get_token()).status().code(), StatusCode::kCancelled);
}

TEST_F(OpenAiClientTest, RetryAfterIsHonoured) {
  std::atomic<int> calls = 0;
  HttpServer server([&](const auto&, auto& response) {
    if (calls++ > 0) return StreamText(response, "fine");
    response.set_header("Retry-After", "1");
    Fail(response, 429, "slow down");
  });
  const Stopwatch watch;
  auto client = Client(Quick({server.url()}));
  ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  EXPECT_GE(watch.Seconds(), 0.95);
  EXPECT_EQ(client->Health()[0].num_failures, 0);  // busy is not ill
}

TEST_F(OpenAiClientTest, WaitingAsAskedUsesUpNoAttempt) {
  std::atomic<int> calls = 0;
  HttpServer server([&](const auto&, auto& response) {
    if (calls++ >= 8) return StreamText(response, "fine");
    response.set_header("Retry-After", "0");
    Fail(response, 429, "slow down");
  });
  OpenAiOptions options = Quick({server.url()});
  options.retry.max_attempts = 2;
  options.retry.budget = 1;
  const auto reply = Client(std::move(options))->Generate(Ask(), {});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->num_attempts, 1);
}

TEST_F(OpenAiClientTest, AnEndpointThatOnlyEverPausesEndsTheCall) {
  HttpServer server([](const auto&, auto& response) {
    response.set_header("Retry-After", "0.05");
    Fail(response, 429, "slow down");
  });
  OpenAiOptions options = Quick({server.url()});
  options.retry.max_paused_s = 0.3;
  const auto reply = Client(std::move(options))->Generate(Ask(), {});
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(reply.status().message(), HasSubstr("asked to wait"));
}

TEST_F(OpenAiClientTest, RetryAfterBeyondReasonEndsTheCall) {
  HttpServer server([&](const auto&, auto& response) {
    response.set_header("Retry-After", "86400");
    Fail(response, 429, "tomorrow");
  });
  const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);  // no budget of ours is spent
  EXPECT_THAT(reply.status().message(), HasSubstr("come back in 86400 s"));
  EXPECT_EQ(server.num_requests(), 1u);
}

TEST_F(OpenAiClientTest, BusyEndpointIsLeftToAnother) {
  HttpServer busy([](const auto&, auto& response) {
    response.set_header("Retry-After", "100");
    Fail(response, 429, "busy");
  });
  HttpServer idle([](const auto&, auto& response) { StreamText(response, "fine"); });
  auto client = Client(Quick({busy.url(), idle.url()}));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  EXPECT_EQ(busy.num_requests(), 1u);
}

TEST_F(OpenAiClientTest, CallsGoWhereFewestAreInFlight) {
  const auto slow = [](const auto&, auto& response) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    StreamText(response, "x");
  };
  HttpServer first(slow), second(slow), third(slow);
  auto client = Client(Quick({first.url(), second.url(), third.url()}));
  std::vector<std::thread> callers;
  for (int i = 0; i < 9; ++i)
    callers.emplace_back([&] { EXPECT_TRUE(client->Generate(Ask(), {}).ok()); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(first.num_requests(), 3u);
  EXPECT_EQ(second.num_requests(), 3u);
  EXPECT_EQ(third.num_requests(), 3u);
}

TEST_F(OpenAiClientTest, NoMoreCallsInFlightThanAllowed) {
  std::atomic<int> now = 0, most = 0;
  HttpServer server([&](const auto&, auto& response) {
    const int in_flight = ++now;
    int seen = most;
    while (in_flight > seen && !most.compare_exchange_weak(seen, in_flight)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    --now;
    StreamText(response, "x");
  });
  OpenAiOptions options = Quick({server.url()});
  options.max_in_flight = 3;
  auto client = Client(std::move(options));
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&] { EXPECT_TRUE(client->Generate(Ask(), {}).ok()); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most, 3);
}

TEST_F(OpenAiClientTest, FailingEndpointIsLeftAloneAndComesBack) {
  std::atomic<bool> ill = true;
  HttpServer sick([&](const auto&, auto& response) {
    ill ? Fail(response, 500, "ill") : StreamText(response, "well");
  });
  HttpServer healthy([](const auto&, auto& response) { StreamText(response, "fine"); });
  OpenAiOptions options = Quick({sick.url(), healthy.url()});
  options.breaker = {.failures_to_open = 2, .cool_down_s = 0.3, .max_cool_down_s = 0.3};
  auto client = Client(std::move(options));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  EXPECT_FALSE(client->Health()[0].usable);
  EXPECT_THAT(client->Health()[0].last_error, HasSubstr("ill"));
  EXPECT_LE(sick.num_requests(), 3u);
  ill = false;
  const Stopwatch watch;
  while (!client->Health()[0].usable && watch.Seconds() < 20)
    ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  EXPECT_TRUE(client->Health()[0].usable);
}

TEST_F(OpenAiClientTest, DeadEndpointEndsAllCallersInTheEnd) {
  std::string url;
  {
    HttpServer gone([](const auto&, auto&) {});
    url = gone.url();
  }
  OpenAiOptions options = Quick({url});
  options.breaker = {.failures_to_open = 2, .cool_down_s = 0.02, .max_cool_down_s = 0.05};
  auto client = Client(std::move(options));
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      const auto reply = client->Generate(Ask(), {});
      EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
      EXPECT_THAT(
          reply.status().message(),
          AllOf(HasSubstr(url), HasSubstr("is the server running"), HasSubstr("6 attempts")));
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(OpenAiClientTest, RetryBudgetStopsAStorm) {
  HttpServer server([](const auto&, auto& response) { Fail(response, 500, "ill"); });
  OpenAiOptions options = Quick({server.url()});
  options.retry.budget = 3;
  options.breaker.failures_to_open = 1000;
  auto client = Client(std::move(options));
  EXPECT_THAT(client->Generate(Ask(), {}).status().message(), HasSubstr("retry budget"));
  EXPECT_EQ(server.num_requests(), 4u);
  EXPECT_FALSE(client->Generate(Ask(), {}).ok());
  EXPECT_EQ(server.num_requests(), 5u);
}

TEST_F(OpenAiClientTest, RefusalsAreErrorsAtOnceAndSayWhatToDo) {
  const struct {
    int status;
    const char* code;
    StatusCode expected;
    const char* message;
  } cases[] = {
      {400, "context_length_exceeded", StatusCode::kInvalidArgument, "what it said"},
      {401, "", StatusCode::kPermissionDenied, "set the environment variable OPENAI_API_KEY"},
      {403, "", StatusCode::kPermissionDenied, "No API key was sent"},
      {402, "", StatusCode::kFailedPrecondition, "no credit or quota left"},
      {404, "model_not_found", StatusCode::kNotFound, "Is \"test-model\" the model's name"},
      {413, "", StatusCode::kInvalidArgument, "HTTP 413"},
      {429, "insufficient_quota", StatusCode::kFailedPrecondition, "what it said"}};
  for (const auto& [status, code, expected, message] : cases) {
    HttpServer server([&, status = status, code = code](const auto&, auto& response) {
      Fail(response, status, "what it said", code);
    });
    const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
    EXPECT_EQ(StatusCodeName(reply.status().code()), StatusCodeName(expected)) << status;
    EXPECT_THAT(reply.status().message(), HasSubstr(message)) << status;
    EXPECT_EQ(server.num_requests(), 1u) << status;
  }
}

TEST_F(OpenAiClientTest, RedirectsAreNotFollowed) {
  HttpServer other([](const auto&, auto& response) { StreamText(response, "stolen"); });
  HttpServer server([&](const auto&, auto& response) {
    response.status = 307;
    response.set_header("Location", other.url() + "/v1/chat/completions");
  });
  const auto reply = Client(Quick({server.url()}))->Generate(Ask(), {});
  EXPECT_EQ(reply.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(reply.status().message(), HasSubstr("redirects to " + other.url()));
  EXPECT_EQ(other.num_requests(), 0u);
}

TEST_F(OpenAiClientTest, RefusedFieldsAreLeftOutFromThenOn) {
  HttpServer server([](const httplib::Request& request, auto& response) {
    const Json body = Json::parse(request.body);
    for (const char* field : {"stream_options", "seed", "logprobs"}) {
      if (body.contains(field))
        return Fail(response, 400, std::string("Unrecognized request argument: ") + field);
    }
    if (body.contains("tools")) return Fail(response, 500, "tools param requires --jinja flag");
    StreamText(response,
               "<tool_call>{\"name\": \"select_skills\", \"arguments\": "
               "{\"selected_skills\": [\"a\"]}}</tool_call>");
  });
  Request request = Ask();
  request.seed = 1;
  request.logprobs = true;
  request.tools = {SelectSkillsTool({"a"}, 1)};
  OpenAiOptions options = Quick({server.url()});
  std::vector<std::string> seen;
  options.on_notice = [&](const std::string& text) { seen.push_back(text); };
  auto client = Client(std::move(options));
  const auto reply = client->Generate(request, {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->num_attempts, 1);  // adapting is no failure
  EXPECT_TRUE(ParseSelectSkills(*reply, {"a"}, 1).ok());
  EXPECT_EQ(reply->token_logprobs, std::nullopt);
  EXPECT_EQ(client->Notices().size(), 4u);
  EXPECT_EQ(seen, client->Notices());
  EXPECT_THAT(seen, Contains(HasSubstr("do not share a seed")));
  ASSERT_TRUE(client->Generate(request, {}).ok());
  EXPECT_EQ(server.num_requests(), 6u);
}

TEST_F(OpenAiClientTest, KeyIsSentAndNeverShown) {
  const std::string secret = "abcDEF0123456789-secret";
  HttpServer server([](const httplib::Request& request, auto& response) {
    Fail(response, 401,
         "bad key: " + request.get_header_value("Authorization") + " and sk-proj-ABCDEFGHIJKL");
  });
  ::setenv("OPENAI_API_KEY", secret.c_str(), 1);
  auto client = Client(Quick({server.url()}));
  ::unsetenv("OPENAI_API_KEY");
  const auto reply = client->Generate(Ask(), {});
  EXPECT_THAT(server.authorizations(), ElementsAre("Bearer " + secret));
  const std::string message = reply.status().message();
  EXPECT_THAT(message, AllOf(HasSubstr("bad key: Bearer [key]"), Not(HasSubstr(secret)),
                             Not(HasSubstr("ABCDEFGHIJKL")),
                             HasSubstr("came from the environment variable OPENAI_API_KEY")));
  for (const EndpointHealth& health : client->Health())
    EXPECT_THAT(health.last_error, Not(HasSubstr(secret)));
  EXPECT_THAT(client->Name(), Not(HasSubstr(secret)));
}

TEST_F(OpenAiClientTest, KeyInGarbageIsScrubbedToo) {
  HttpServer server([](const httplib::Request& request, auto& response) {
    response.set_content("<p>" + request.get_header_value("Authorization") + "</p>", "text/html");
  });
  ::setenv("OPENAI_API_KEY", "abcDEF0123456789", 1);
  OpenAiOptions options = Quick({server.url()});
  options.retry.max_attempts = 1;
  auto client = Client(std::move(options));
  EXPECT_THAT(client->Generate(Ask(), {}).status().message(),
              AllOf(HasSubstr("<p>Bearer [key]"), Not(HasSubstr("abcDEF"))));
  EXPECT_THAT(client->Health()[0].last_error, Not(HasSubstr("abcDEF")));
}

TEST_F(OpenAiClientTest, KeyFromAFileOrANamedVariable) {
  HttpServer server([](const auto&, auto& response) { StreamText(response, "x"); });
  const TempDir dir = std::move(MakeTempDir("key")).value();
  ASSERT_TRUE(WriteFileAtomic(dir.path() / "key", "  from-file \nignored\n").ok());
  OpenAiOptions options = Quick({server.url()});
  options.api_key_file = dir.path() / "key";
  ASSERT_TRUE(Client(options)->Generate(Ask(), {}).ok());

  options.api_key_file.clear();
  options.api_key_env = "DAVINCI_TEST_KEY";
  const auto missing = OpenAiClient::Create(options);
  EXPECT_EQ(missing.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(missing.status().message(), HasSubstr("DAVINCI_TEST_KEY is not set"));
  ::setenv("DAVINCI_TEST_KEY", "two words", 1);
  const auto invalid = OpenAiClient::Create(options);
  EXPECT_THAT(invalid.status().message(), AllOf(HasSubstr("white space"), Not(HasSubstr("words"))));
  ::setenv("DAVINCI_TEST_KEY", "from-variable", 1);
  ASSERT_TRUE(Client(options)->Generate(Ask(), {}).ok());
  ::unsetenv("DAVINCI_TEST_KEY");
  EXPECT_THAT(server.authorizations(), ElementsAre("Bearer from-file", "Bearer from-variable"));
}

TEST_F(OpenAiClientTest, DefaultKeyStaysOffPlainConnectionsToOtherMachines) {
  ::setenv("OPENAI_API_KEY", "abcDEF0123456789", 1);
  auto client = Client(Quick({"http://192.0.2.1:8000", "https://192.0.2.1", "http://localhost:1"}));
  EXPECT_THAT(client->Notices(), ElementsAre(AllOf(HasSubstr("http://192.0.2.1:8000/v1"),
                                                   HasSubstr("without encryption"))));
}

TEST_F(OpenAiClientTest, ProbeNamesTheModelsThereAre) {
  HttpServer server([](const auto&, auto& response) { StreamText(response, "x"); },
                    {"qwen3-32b", "qwen3-8b"});
  OpenAiOptions options = Quick({server.url()});
  options.model = "qwen3-32";
  const Status wrong = Client(options)->Probe({});
  EXPECT_EQ(wrong.code(), StatusCode::kNotFound);
  EXPECT_THAT(wrong.message(),
              AllOf(HasSubstr("no model \"qwen3-32\""), HasSubstr("did you mean \"qwen3-32b\""),
                    HasSubstr("qwen3-8b")));
  options.model = "qwen3-8b";
  EXPECT_TRUE(Client(options)->Probe({}).ok());
  options.model = "";
  EXPECT_THAT(Client(options)->Probe({}).message(), HasSubstr("there are 2 models"));
}

TEST_F(OpenAiClientTest, OnlyModelNeedsNoName) {
  HttpServer server([](const auto&, auto& response) { StreamText(response, "x"); }, {"the-one"});
  OpenAiOptions options = Quick({server.url()});
  options.model = "";
  ASSERT_TRUE(Client(options)->Generate(Ask(), {}).ok());
  EXPECT_EQ(server.requests()[0]["model"], "the-one");
}

TEST_F(OpenAiClientTest, ProbeSaysThatNobodyIsThere) {
  std::string gone_url;
  {
    HttpServer gone([](const auto&, auto&) {});
    gone_url = gone.url();
  }
  const Status status = Client(Quick({gone_url}))->Probe({});
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(gone_url), HasSubstr("refused"), HasSubstr("is the server running")));

  HttpServer alive([](const auto&, auto& response) { StreamText(response, "x"); });
  HttpServer other([](const auto&, auto& response) { StreamText(response, "x"); }, {"else"});
  auto client = Client(Quick({gone_url, alive.url(), other.url()}));
  ASSERT_TRUE(client->Probe({}).ok());
  EXPECT_THAT(client->Notices(), ElementsAre(HasSubstr("refused"), HasSubstr("it has \"else\"")));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  EXPECT_EQ(other.num_requests(), 0u);
}

TEST_F(OpenAiClientTest, BudgetIsCheckedBeforeAnythingIsSent) {
  HttpServer server([](const auto&, auto& response) { StreamText(response, "x"); });
  Ledger ledger({.max_usd = 0.000001, .max_calls = {}});
  OpenAiOptions options = Quick({server.url()});
  options.ledger = &ledger;
  EXPECT_EQ(Client(options)->Generate(Ask(), {}).status().code(), StatusCode::kFailedPrecondition);
  options.prices = *PriceTable::Parse(
      "[models.\"*\"]\ninput_usd_per_million = 1\noutput_usd_per_million = 1\n", "p");
  EXPECT_EQ(Client(options)->Generate(Ask(), {}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(server.num_requests(), 0u);
}

TEST_F(OpenAiClientTest, BadUrlsAreNamed) {
  for (const char* url : {"", "localhost:8000", "ftp://x", "http://", "http://x:0", "http://x:abc",
                          "http://x/v1?key=1", "http://me:pass@x"}) {
    const auto client = OpenAiClient::Create(Quick({url}));
    EXPECT_EQ(client.status().code(), StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(client.status().message(), Not(HasSubstr("pass@"))) << url;
  }
  EXPECT_FALSE(OpenAiClient::Create(Quick({})).ok());
}

}  // namespace
}  // namespace davinci::llm
