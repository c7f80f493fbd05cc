// What users add to every request: members of its body, headers, a proxy.
//
// A header's value or a proxy that is "$NAME" is taken from that environment variable: secrets
// stand in no recipe. They are scrubbed from messages as keys are.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/api_key.h"

namespace davinci::llm {

struct HttpProxy {
  std::string host;
  int port = 0;
  std::string user;  // with a password: basic authentication
  std::string password;
  std::string ToString() const;  // without user and password
};

struct RequestExtras {
  nlohmann::json body = nlohmann::json::object();
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<HttpProxy> proxy;
  std::vector<ApiKey> secrets;  // of the environment
};

// InvalidArgument names the member, header or URL that is wrong; FailedPrecondition an environment
// variable that is not set.
Result<RequestExtras> ResolveExtras(const nlohmann::json& body,
                                    const std::vector<std::pair<std::string, std::string>>& headers,
                                    const std::string& proxy);

}  // namespace davinci::llm
