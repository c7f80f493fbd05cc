// What the client does when endpoints fail, pause or are busy, against real servers on real
// sockets.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

#include "davinci/base/clock.h"
#include "davinci/llm/openai_client_fixture.h"
#include "davinci/llm/test_support.h"

namespace davinci::llm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Half of the fixture's time limits: what ends sooner, busy machine or not, did not wait for them.
constexpr double kAtOnceSeconds = 30;

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
  EXPECT_LT(watch.Seconds(), kAtOnceSeconds);
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
  EXPECT_LT(watch.Seconds(), kAtOnceSeconds);
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
  EXPECT_LT(watch.Seconds(), kAtOnceSeconds);
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
  // No call ends before all have come, or one of nine finds its place free again.
  std::atomic<int> come = 0;
  const auto slow = [&come](const auto&, auto& response) {
    ++come;
    for (const Stopwatch watch; come < 9 && watch.Seconds() < kAtOnceSeconds;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
  constexpr double kCoolDownSeconds = 1;
  options.breaker = {
      .failures_to_open = 2, .cool_down_s = kCoolDownSeconds, .max_cool_down_s = kCoolDownSeconds};
  auto client = Client(std::move(options));
  const Stopwatch begun;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client->Generate(Ask(), {}).ok());
  const bool usable = client->Health()[0].usable;
  const double passed = begun.Seconds();
  if (passed < kCoolDownSeconds) {
    EXPECT_FALSE(usable);
  }
  EXPECT_THAT(client->Health()[0].last_error, HasSubstr("ill"));
  EXPECT_LE(sick.num_requests(), 3 + passed / kCoolDownSeconds);
  ill = false;
  const Stopwatch watch;
  while (!client->Health()[0].usable && watch.Seconds() < 60) {
    ASSERT_TRUE(client->Generate(Ask(), {}).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
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

}  // namespace
}  // namespace davinci::llm
