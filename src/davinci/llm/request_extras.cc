#include "davinci/llm/request_extras.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace davinci::llm {
namespace {

// Members that carry the question itself.
constexpr std::array<std::string_view, 7> kOwnMembers = {"messages", "model",       "n",   "stream",
                                                         "tools",    "tool_choice", "stop"};
// Headers that belong to the connection or to the body.
constexpr std::array<std::string_view, 6> kOwnHeaders = {
    "connection", "content-length",      "content-type",
    "host",       "proxy-authorization", "transfer-encoding"};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7f &&
           std::string_view("()<>@,;:\\\"/[]?={}").find(static_cast<char>(c)) ==
               std::string_view::npos;
  });
}

bool IsHeaderValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

// `text`, or what the variable holds that it names.
Result<std::string> FromVariable(std::string_view what, const std::string& text,
                                 std::vector<ApiKey>* secrets) {
  if (!text.starts_with('$')) return text;
  auto secret = ApiKey::FromEnvironment(text.substr(1));
  if (!secret.ok()) return secret.status().Annotate(what);
  secrets->push_back(*secret);
  return secret->ForHeader();
}

Result<HttpProxy> ParseProxy(std::string_view url) {
  const auto wrong = [](std::string_view what) {
    // The URL may hold a password, and is not repeated.
    return InvalidArgument(
        fmt::format("llm.proxy: {}; write it like http://proxy.example.com:3128", what));
  };
  HttpProxy proxy;
  if (!url.starts_with("http://")) return wrong("it must begin with http://");
  url.remove_prefix(7);
  while (url.ends_with('/')) url.remove_suffix(1);
  if (const size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = url.substr(0, at);
    const size_t colon = std::min(login.find(':'), login.size());
    proxy.user = login.substr(0, colon);
    if (colon < login.size()) proxy.password = login.substr(colon + 1);
    url.remove_prefix(at + 1);
  }
  const size_t colon = url.rfind(':');
  if (colon == std::string_view::npos) return wrong("there is no port");
  const std::string_view port = url.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), proxy.port);
  if (read.ec != std::errc{} || read.ptr != port.data() + port.size() || proxy.port < 1 ||
      proxy.port > 65535)
    return wrong("the port must be a number from 1 to 65535");
  proxy.host = url.substr(0, colon);
  if (proxy.host.empty() || proxy.host.find_first_of("/?# ") != std::string::npos)
    return wrong("there is no host");
  return proxy;
}

}  // namespace

std::string HttpProxy::ToString() const { return fmt::format("http://{}:{}", host, port); }

Result<RequestExtras> ResolveExtras(const nlohmann::json& body,
                                    const std::vector<std::pair<std::string, std::string>>& headers,
                                    const std::string& proxy) {
  RequestExtras extras;
  extras.body = body;
  for (const auto& [member, value] : body.items())
    if (std::find(kOwnMembers.begin(), kOwnMembers.end(), member) != kOwnMembers.end())
      return InvalidArgument(
          fmt::format("llm.extra_body: {} is set by davinci itself; leave it out", member));
  for (const auto& [name, text] : headers) {
    const std::string where = fmt::format("llm.headers: {}", name);
    if (!IsHeaderName(name)) return InvalidArgument(where + " is not the name of a header");
    if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), LowerCase(name)) != kOwnHeaders.end())
      return InvalidArgument(where + " is set by davinci itself; leave it out");
    DAVINCI_ASSIGN_OR_RETURN(std::string value, FromVariable(where, text, &extras.secrets));
    if (!IsHeaderValue(value))
      return InvalidArgument(where + ": the value holds control characters");
    extras.headers.emplace_back(name, std::move(value));
  }
  if (!proxy.empty()) {
    if (!proxy.starts_with('$') && proxy.find('@') != std::string::npos)
      return InvalidArgument(
          "llm.proxy must not hold a user name or password; write \"$NAME\" for an environment "
          "variable that holds the URL");
    DAVINCI_ASSIGN_OR_RETURN(const std::string url,
                             FromVariable("llm.proxy", proxy, &extras.secrets));
    DAVINCI_ASSIGN_OR_RETURN(extras.proxy, ParseProxy(url));
  }
  return extras;
}

}  // namespace davinci::llm
