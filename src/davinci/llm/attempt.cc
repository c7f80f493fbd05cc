#include "davinci/llm/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/llm/sse.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

// What an endpoint says, safe to show: without keys, without control characters, not endless.
std::string Shown(const std::string& text, const ApiKey& key) {
  constexpr size_t kMaxColumns = 400;
  return Ellipsize(Printable(key.Scrub(text)), kMaxColumns);
}

bool SaysAny(const EndpointError& error, std::initializer_list<std::string_view> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) {
    return error.code == code || error.type == code;
  });
}

// The connection itself failed.
Attempt FromBrokenExchange(const HttpAnswer& answer, const std::string& where) {
  Attempt attempt;
  const std::string message = fmt::format("{}: {}", where, answer.error);
  attempt.verdict = Verdict::kRetry;
  switch (answer.end) {
    case HttpEnd::kCancelled:
      attempt.verdict = Verdict::kFatal;
      attempt.status = Cancelled(message);
      break;
    case HttpEnd::kTimeout:
      attempt.status = DeadlineExceeded(message);
      break;
    case HttpEnd::kNoConnect:
      attempt.status = Unavailable(message + "; is the server running and the URL right?");
      break;
    default:
      attempt.status = Unavailable(message);
      break;
  }
  return attempt;
}

// An answer that is an error document, by status or by content.
Attempt FromErrorDocument(int status, const EndpointError& error, const HttpAnswer& answer,
                          const std::string& where, const AttemptInput& input) {
  Attempt attempt;
  const std::string said = Shown(error.message, *input.key);
  const std::string message =
      status == 200 ? fmt::format("{}: the endpoint reports: {}", where, said)
                    : fmt::format("{}: HTTP {}{}{}", where, status, said.empty() ? "" : ": ", said);
  attempt.retry_after_s = ParseRetryAfter(answer.retry_after);
  if (status == 401 || status == 403) {
    attempt.status = PermissionDenied(
        input.key->empty()
            ? fmt::format("{}. No API key was sent; set {}", message, input.key_origin)
            : fmt::format("{}. The API key came from {}", message, input.key_origin));
  } else if (status == 402 ||
             SaysAny(error, {"insufficient_quota", "billing_hard_limit_reached"})) {
    attempt.status = FailedPrecondition(message + "; the account has no credit or quota left");
  } else if (status == 404 || SaysAny(error, {"model_not_found"})) {
    attempt.status =
        NotFound(fmt::format("{}. Is \"{}\" the model's name, and the URL the base of the API?",
                             message, Printable(input.model)));
  } else if (status == 429 || (status == 503 && attempt.retry_after_s) ||
             SaysAny(error, {"rate_limit_exceeded"})) {
    attempt.verdict = Verdict::kPause;
    attempt.status = Unavailable(message);
  } else if (status == 200 || status == 408 || status == 409 || status == 425 || status >= 500) {
    attempt.verdict = Verdict::kRetry;
    attempt.status = Unavailable(message);
  } else if (status >= 300 && status < 400) {
    attempt.status = InvalidArgument(fmt::format("{}: the endpoint redirects to {}; give that URL",
                                                 where, Shown(answer.location, *input.key)));
  } else {
    attempt.status = InvalidArgument(message);
  }
  return attempt;
}

HttpRequest Filled(HttpRequest http, const ApiKey& key) {
  if (!key.empty()) http.authorization = key.AuthorizationHeader();
  return http;
}

}  // namespace

std::optional<double> ParseRetryAfter(const std::string& value) {
  double seconds = 0;
  const char* const end = value.data() + value.size();
  if (const auto read = std::from_chars(value.data(), end, seconds);
      read.ec == std::errc{} && read.ptr == end && seconds >= 0 && seconds < 1e9) {
    return seconds;
  }
  std::tm when{};
  // RFC 9110: the preferred form; no server writes the two obsolete ones.
  if (strptime(value.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &when) == nullptr) return std::nullopt;
  return std::max(0.0, std::difftime(timegm(&when), std::time(nullptr)));
}

Attempt TryEndpoint(HttpEndpoint& endpoint, const AttemptInput& input, Dialect* dialect) {
  const std::string where = endpoint.url().ToString();
  const Request& request = *input.request;
  const Json body = RequestBody(request, input.model, input.n, input.stream, *dialect);
  HttpRequest http = Filled(input.http, *input.key);
  http.path = "/chat/completions";
  Json whole = body;
  if (input.extra_body != nullptr) whole.update(*input.extra_body, /*merge_objects=*/true);
  http.body = JsonText(whole);

  std::function<void(std::string_view)> on_text;
  bool delivered = false;
  if (request.on_token && input.n == 1) {
    on_text = [&](std::string_view text) {
      delivered = true;
      request.on_token({.text = text});
    };
  }
  ReplyAssembler assembler(input.n, on_text);
  SseParser events;
  Status garbage;
  bool done = false;
  const auto on_event = [&](const std::string& data) {
    if (done || !garbage.ok() || data.empty()) return;
    if (data == "[DONE]") {
      done = true;
      assembler.End();
    } else {
      garbage = assembler.AddChunk(data);
    }
  };
  const Stopwatch watch;
  const HttpAnswer answer = endpoint.Send(http, [&](std::string_view bytes) {
    for (const std::string& data : events.Feed(bytes)) on_event(data);
    if (!garbage.ok()) return Flow::kStop;
    return done ? Flow::kLast : Flow::kMore;
  });
  for (const std::string& data : events.Finish()) on_event(data);

  Attempt attempt;
  const auto finish = [&](Attempt result) {
    result.latency_s = watch.Seconds();
    if (result.verdict != Verdict::kReplied && assembler.began())
      result.lost = assembler.PartialUsage(request);
    if (delivered) request.on_token({.restart = true});
    return result;
  };
  const auto fail = [&](Verdict verdict, Status status) {
    attempt.verdict = verdict;
    attempt.status = std::move(status);
    return finish(std::move(attempt));
  };
  // A stream that said all it had to say counts, however the connection ended.
  const bool said_all = garbage.ok() && (done || assembler.complete());
  if (answer.end == HttpEnd::kCancelled ||
      (answer.end != HttpEnd::kComplete && answer.end != HttpEnd::kStopped && !said_all)) {
    return finish(FromBrokenExchange(answer, where));
  }
  const auto refused = [&](const EndpointError& error) {
    attempt.adapted = AdaptTo(error, body, dialect);
    return attempt.adapted.has_value();
  };
  if (answer.status != 200) {
    const EndpointError error = ParseEndpointError(answer.body);
    // 404: routers that know no endpoint with the feature.
    const bool may_adapt = answer.status == 400 || answer.status == 404 || answer.status == 422 ||
                           answer.status == 500 || answer.status == 501;
    if (may_adapt && refused(error))
      return fail(Verdict::kAdapt, InvalidArgument(Shown(error.message, *input.key)));
    return finish(FromErrorDocument(answer.status, error, answer, where, input));
  }
  const bool streamed = answer.content_type.find("text/event-stream") != std::string::npos;
  if (!streamed) garbage = assembler.AddDocument(answer.body);
  if (assembler.error()) {
    if (!assembler.began() && refused(*assembler.error()))
      return fail(Verdict::kAdapt, InvalidArgument(Shown(assembler.error()->message, *input.key)));
    return finish(FromErrorDocument(200, *assembler.error(), answer, where, input));
  }
  if (!garbage.ok()) {
    return fail(Verdict::kRetry,
                Unavailable(fmt::format("{}: {}{}", where, garbage.message(),
                                        streamed ? "" : ": " + Shown(answer.body, *input.key))));
  }
  auto replies = assembler.Finish(request);
  if (!replies.ok()) return fail(Verdict::kRetry, replies.status().Annotate(where));
  attempt.verdict = Verdict::kReplied;
  attempt.replies = std::move(replies).value();
  attempt.latency_s = watch.Seconds();
  for (Reply& reply : attempt.replies) {
    reply.endpoint = where;
    reply.latency_s = attempt.latency_s;
    if (reply.model.empty()) reply.model = input.model;
  }
  return attempt;
}

Result<std::vector<std::string>> ListModels(HttpEndpoint& endpoint, const ApiKey& key,
                                            const std::string& key_origin, HttpRequest http) {
  const std::string where = endpoint.url().ToString();
  http = Filled(std::move(http), key);
  http.method = "GET";
  http.path = "/models";
  const HttpAnswer answer = endpoint.Send(http, nullptr);
  if (answer.end != HttpEnd::kComplete) return FromBrokenExchange(answer, where).status;
  std::vector<std::string> models;
  if (answer.status == 404 || answer.status == 405 || answer.status == 501) return models;
  AttemptInput input;
  input.key = &key;
  input.key_origin = key_origin;
  if (answer.status != 200) {
    return FromErrorDocument(answer.status, ParseEndpointError(answer.body), answer, where, input)
        .status;
  }
  const Json document = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  // {"data": […]}, {"models": […]}, or the list itself.
  const Json* list = document.is_array() ? &document : nullptr;
  for (const char* member : {"data", "models"})
    if (list == nullptr && document.is_object() && document.contains(member) &&
        document[member].is_array())
      list = &document[member];
  if (list == nullptr) {
    return Unavailable(
        fmt::format("{}/models does not answer like an OpenAI-compatible endpoint: {}", where,
                    Shown(answer.body, key)));
  }
  for (const Json& model : *list) {
    if (model.is_string()) models.push_back(model.get<std::string>());
    if (!model.is_object()) continue;
    for (const char* member : {"id", "name"}) {
      if (!model.contains(member) || !model[member].is_string()) continue;
      models.push_back(model[member].get<std::string>());
      break;
    }
  }
  return models;
}

}  // namespace davinci::llm
