// What the client sends and refuses: fields, keys, models, budgets.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/llm/openai_client_fixture.h"
#include "davinci/llm/test_support.h"
#include "davinci/llm/tool_calls.h"

namespace davinci::llm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

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
  environment_.Set("OPENAI_API_KEY", secret);
  auto client = Client(Quick({server.url()}));
  environment_.Unset("OPENAI_API_KEY");
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
  environment_.Set("OPENAI_API_KEY", "abcDEF0123456789");
  OpenAiOptions options = Quick({server.url()});
  options.retry.max_attempts = 1;
  auto client = Client(std::move(options));
  EXPECT_THAT(client->Generate(Ask(), {}).status().message(),
              AllOf(HasSubstr("<p>Bearer [key]"), Not(HasSubstr("abcDEF"))));
  EXPECT_THAT(client->Health()[0].last_error, Not(HasSubstr("abcDEF")));
}

TEST_F(OpenAiClientTest, HeadersAndMembersOfTheUserAreSent) {
  HttpServer server([](const httplib::Request& request, auto& response) {
    if (request.get_header_value("X-Team") == "refused")
      return Fail(response, 400, "no entry for " + request.get_header_value("api-key"));
    StreamText(response, "ok");
  });
  OpenAiOptions options = Quick({server.url()});
  environment_.Set("DAVINCI_TEST_GATEWAY_KEY", "gateway-secret-1");
  options.headers = {{"X-Team", "kernels"}, {"api-key", "$DAVINCI_TEST_GATEWAY_KEY"}};
  options.extra_body = {{"reasoning_effort", "low"}, {"max_tokens", 5}};
  Request request = Ask();
  request.max_tokens = 100;
  ASSERT_TRUE(Client(options)->Generate(request, {}).ok());
  EXPECT_THAT(server.HeaderValues("X-Team"), ElementsAre("kernels"));
  EXPECT_THAT(server.HeaderValues("api-key"), ElementsAre("gateway-secret-1"));
  EXPECT_EQ(server.requests()[0]["reasoning_effort"], "low");
  EXPECT_EQ(server.requests()[0]["max_tokens"], 5);

  options.headers[0].second = "refused";
  const auto refused = Client(options)->Generate(request, {});
  EXPECT_THAT(refused.status().message(), HasSubstr("no entry for [key]"));
  environment_.Unset("DAVINCI_TEST_GATEWAY_KEY");
  EXPECT_THAT(OpenAiClient::Create(options).status().message(),
              HasSubstr("DAVINCI_TEST_GATEWAY_KEY is not set"));
}

TEST_F(OpenAiClientTest, WhatDavinciSetsItselfIsNotTheUsers) {
  OpenAiOptions options = Quick({"http://127.0.0.1:1"});
  options.extra_body = {{"messages", Json::array()}};
  EXPECT_THAT(OpenAiClient::Create(options).status().message(), HasSubstr("extra_body: messages"));
  options.extra_body = Json::object();
  options.headers = {{"Host", "x"}};
  EXPECT_THAT(OpenAiClient::Create(options).status().message(), HasSubstr("headers: Host"));
  options.headers = {{"X-A", "b\r\nX-B: c"}};
  EXPECT_THAT(OpenAiClient::Create(options).status().message(), HasSubstr("control characters"));
  options.headers.clear();
  options.proxy = "https://proxy";
  EXPECT_THAT(OpenAiClient::Create(options).status().message(), HasSubstr("llm.proxy"));
}

TEST_F(OpenAiClientTest, AProxyIsAskedInTheEndpointsPlace) {
  std::string path, login;
  httplib::Server proxy;
  const auto answer = [&](const httplib::Request& request, httplib::Response& response) {
    path = request.path;
    login = request.get_header_value("Proxy-Authorization");
    StreamText(response, "through the proxy");
  };
  proxy.Post(".*", answer);
  const int port = proxy.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { proxy.listen_after_bind(); });
  environment_.Set("DAVINCI_TEST_PROXY", fmt::format("http://me:word@127.0.0.1:{}", port));
  OpenAiOptions options = Quick({"http://endpoint.invalid/v1"});
  options.proxy = "$DAVINCI_TEST_PROXY";
  const auto reply = Client(std::move(options))->Generate(Ask(), {});
  proxy.stop();
  thread.join();
  environment_.Unset("DAVINCI_TEST_PROXY");
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "through the proxy");
  EXPECT_THAT(path, HasSubstr("endpoint.invalid"));
  EXPECT_THAT(login, testing::StartsWith("Basic "));
}

TEST_F(OpenAiClientTest, AFileWithoutCertificatesIsNamedAtOnce) {
  const TempDir dir = std::move(MakeTempDir("ca")).value();
  OpenAiOptions options = Quick({"https://127.0.0.1:1"});
  options.ca_file = dir.path() / "none.pem";
  EXPECT_THAT(OpenAiClient::Create(options).status().message(),
              testing::AllOf(HasSubstr("none.pem"), HasSubstr("llm.ca_file names a PEM file")));
  options.ca_file = dir.path() / "text.pem";
  ASSERT_TRUE(WriteFileAtomic(options.ca_file, "not a certificate").ok());
  EXPECT_THAT(
      OpenAiClient::Create(options).status().message(),
      testing::AllOf(HasSubstr("text.pem: no certificate"), HasSubstr("BEGIN CERTIFICATE")));
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
  environment_.Set("DAVINCI_TEST_KEY", "two words");
  const auto invalid = OpenAiClient::Create(options);
  EXPECT_THAT(invalid.status().message(), AllOf(HasSubstr("white space"), Not(HasSubstr("words"))));
  environment_.Set("DAVINCI_TEST_KEY", "from-variable");
  ASSERT_TRUE(Client(options)->Generate(Ask(), {}).ok());
  environment_.Unset("DAVINCI_TEST_KEY");
  EXPECT_THAT(server.authorizations(), ElementsAre("Bearer from-file", "Bearer from-variable"));
}

TEST_F(OpenAiClientTest, DefaultKeyStaysOffPlainConnectionsToOtherMachines) {
  environment_.Set("OPENAI_API_KEY", "abcDEF0123456789");
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

TEST_F(OpenAiClientTest, ModelsAreReadFromEveryShapeOfTheList) {
  for (const char* list : {R"([{"id": "only", "object": "model"}])", R"(["only"])",
                           R"({"models": [{"name": "only", "size": 3}]})"}) {
    auto http = std::make_unique<httplib::Server>();
    http->Get("/v1/models", [list](const httplib::Request&, httplib::Response& response) {
      response.set_content(list, "application/json");
    });
    HttpServer server([](const auto&, auto& response) { StreamText(response, "ok"); }, {},
                      std::move(http));
    OpenAiOptions options = Quick({server.url()});
    options.model.clear();
    auto client = Client(std::move(options));
    const Status probed = client->Probe({});
    ASSERT_TRUE(probed.ok()) << list << probed.message();
    EXPECT_THAT(client->Name(), testing::StartsWith("only at "));
  }
}

TEST_F(OpenAiClientTest, AnErrorInsideTheAnswerIsAdaptedToAsWell) {
  HttpServer server([](const httplib::Request& request, auto& response) {
    if (Json::parse(request.body)["messages"][0]["role"] != "system")
      return StreamText(response, "ok");
    Stream(response, {Event({{"error", {{"message", "System role not supported"}, {"code", 400}}}}),
                      "data: [DONE]\n\n"});
  });
  auto client = Client(Quick({server.url()}));
  Request request = Ask();
  request.messages.insert(request.messages.begin(), {Role::kSystem, "be brief", {}, {}});
  ASSERT_TRUE(client->Generate(request, {}).ok());
  ASSERT_TRUE(client->Generate(request, {}).ok());
  EXPECT_EQ(server.num_requests(), 3u);
  EXPECT_EQ(server.requests()[2]["messages"][0]["content"], "be brief\n\nhello");
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
