// What the tests of OpenAiClient share: a client without long waits, a question, a clean
// environment.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "davinci/base/test_environment.h"
#include "davinci/llm/openai_client.h"

namespace davinci::llm {

inline OpenAiOptions Quick(std::vector<std::string> urls) {
  OpenAiOptions options;
  options.endpoints = std::move(urls);
  options.model = "test-model";
  options.retry.first_delay_s = 0.01;
  options.retry.max_delay_s = 0.05;
  options.breaker.cool_down_s = 0.1;
  options.connect_timeout_s = 2;
  options.idle_timeout_s = 60;
  options.jitter_seed = 1;
  return options;
}

inline std::unique_ptr<OpenAiClient> Client(OpenAiOptions options) {
  auto client = OpenAiClient::Create(std::move(options));
  EXPECT_TRUE(client.ok()) << client.status().message();
  return std::move(client).value();
}

inline Request Ask(std::string text = "hello") {
  Request request;
  request.messages = {{Role::kUser, std::move(text), {}, {}}};
  request.label = "t/0/0/0/policy";
  return request;
}

class OpenAiClientTest : public testing::Test {
 protected:
  void SetUp() override { environment_.Unset("OPENAI_API_KEY"); }
  TestEnvironment environment_;
};

}  // namespace davinci::llm
