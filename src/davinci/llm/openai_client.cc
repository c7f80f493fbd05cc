#include "davinci/llm/openai_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/base/rng.h"
#include "davinci/base/suggest.h"
#include "davinci/base/table.h"
#include "davinci/llm/api_key.h"
#include "davinci/llm/attempt.h"
#include "davinci/llm/endpoint_pool.h"
#include "davinci/llm/http_exchange.h"
#include "davinci/llm/socket_watch.h"
#include "davinci/llm/token_count.h"

namespace davinci::llm {
namespace {

const char kDefaultKeyVariable[] = "OPENAI_API_KEY";
constexpr size_t kNoEndpoint = std::numeric_limits<size_t>::max();
constexpr double kForever_s = 1e12;

// The length where no limit was asked for; models of today end there.
constexpr int kWorstCompletionTokens = 32768;

std::string ListOf(const std::vector<std::string>& names) {
  constexpr size_t kMaxShown = 8;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMaxShown); ++i)
    list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", Ellipsize(Printable(names[i]), 80));
  if (names.size() > kMaxShown) list += fmt::format(" and {} more", names.size() - kMaxShown);
  return list;
}

}  // namespace

struct OpenAiClient::Impl {
  struct Endpoint {
    std::unique_ptr<HttpEndpoint> http;
    bool send_key = false;
    Dialect dialect;  // guarded by Impl::mutex
  };

  OpenAiOptions options;
  ApiKey key;
  ApiKey no_key;  // hides the secrets of `extras` all the same
  RequestExtras extras;
  std::string key_origin;
  SocketWatch watch;                // outlives the endpoints
  std::vector<Endpoint> endpoints;  // fixed after Create, but for the dialects
  std::unique_ptr<EndpointPool> pool;

  Mutex mutex;  // guards everything below, and the dialects
  std::string model DAVINCI_GUARDED_BY(mutex);
  double retry_stock DAVINCI_GUARDED_BY(mutex) = 0;
  SplitMix64 jitter DAVINCI_GUARDED_BY(mutex){0};
  std::vector<std::string> notices DAVINCI_GUARDED_BY(mutex);
  double wait_said_s DAVINCI_GUARDED_BY(mutex) = 0;

  const ApiKey& KeyFor(const Endpoint& endpoint) const { return endpoint.send_key ? key : no_key; }

  void Notice(const std::string& text) {
    {
      const MutexLock lock(mutex);
      if (std::find(notices.begin(), notices.end(), text) != notices.end()) return;
      notices.push_back(text);
    }
    if (options.on_notice) options.on_notice(text);
  }

  void SayWait(const Endpoint& endpoint, const Status& why, double seconds) {
    constexpr double kShortest = 2;
    constexpr double kBetween = 10;
    if (!options.on_wait || seconds < kShortest) return;
    {
      const MutexLock lock(mutex);
      const double now = MonotonicSeconds();
      if (wait_said_s > 0 && now - wait_said_s < kBetween) return;
      wait_said_s = now;
    }
    options.on_wait(fmt::format("{}: {}; the call waits {:.0f} s and is made again",
                                endpoint.http->url().ToString(), why.message(), seconds));
  }

  HttpRequest Http(const CancelToken& cancel) const {
    HttpRequest http;
    http.connect_timeout_s = options.connect_timeout_s;
    http.idle_timeout_s = options.idle_timeout_s;
    http.deadline_s = MonotonicSeconds() + options.attempt_timeout_s;
    http.cancel = cancel;
    http.headers = extras.headers;
    return http;
  }

  bool TakeRetry() {
    const MutexLock lock(mutex);
    if (retry_stock < 1) return false;
    retry_stock -= 1;
    return true;
  }

  void RefillRetries() {
    const MutexLock lock(mutex);
    retry_stock = std::min(retry_stock + options.retry.budget_per_success, options.retry.budget);
  }

  // Before attempt `failures` + 1: doubles each time, drawn from the upper half.
  double Delay(int failures) {
    const double full =
        std::min(options.retry.first_delay_s * std::exp2(failures - 1), options.retry.max_delay_s);
    const MutexLock lock(mutex);
    return full * (0.5 + 0.5 * jitter.Uniform());
  }

  Result<std::string> Model(OpenAiClient* client, const CancelToken& cancel) {
    {
      const MutexLock lock(mutex);
      if (!model.empty()) return model;
    }
    DAVINCI_RETURN_IF_ERROR(client->Probe(cancel));
    const MutexLock lock(mutex);
    return model;
  }

  std::optional<double> WorstCost(const Request& request, const std::string& name, int n) const {
    Usage worst;
    // Twice the estimate: text that is not English or code has more tokens per byte.
    worst.prompt_tokens = 2 * EstimatePromptTokens(request);
    worst.completion_tokens = int64_t{n} * request.max_tokens.value_or(kWorstCompletionTokens);
    return options.prices.Cost(name, worst);
  }

  // The price of what was asked for also holds when the endpoint calls it by another name
  // ("model-2026-01-01").
  std::optional<double> Cost(const std::string& reported, const std::string& asked,
                             const Usage& usage) const {
    const auto cost = options.prices.Cost(reported, usage);
    return cost ? cost : options.prices.Cost(asked, usage);
  }

  Result<std::vector<Reply>> Call(const Request& request, const std::string& name, int n,
                                  Ledger::Entry* entry, const CancelToken& cancel);
};

// One call with all its attempts.
Result<std::vector<Reply>> OpenAiClient::Impl::Call(const Request& request, const std::string& name,
                                                    int n, Ledger::Entry* entry,
                                                    const CancelToken& cancel) {
  size_t avoid = kNoEndpoint;
  int num_adapted = 0;
  int pauses = 0;
  double paused_s = 0;
  constexpr int kMaxAdapted = 16;  // more than there are fields to leave out
  Status last;
  for (int failures = 0; failures < options.retry.max_attempts;) {
    auto lease = pool->Acquire(avoid, kForever_s, cancel);
    if (!lease.ok()) {
      if (lease.status().code() != StatusCode::kUnavailable) return lease.status();
      last = lease.status();
      ++failures;
      continue;
    }
    Endpoint& endpoint = endpoints[lease->index()];
    AttemptInput input;
    input.request = &request;
    input.model = name;
    input.n = n;
    input.stream = options.stream;
    input.extra_body = &extras.body;
    input.key = &KeyFor(endpoint);
    input.key_origin = key_origin;
    input.http = Http(cancel);
    Dialect dialect;
    {
      const MutexLock lock(mutex);
      dialect = endpoint.dialect;
    }
    Attempt attempt = TryEndpoint(*endpoint.http, input, &dialect);
    if (attempt.lost && entry != nullptr)
      entry->ChargeLost(name, *attempt.lost, options.prices.Cost(name, *attempt.lost));

    switch (attempt.verdict) {
      case Verdict::kReplied:
        lease->ReportSuccess();
        RefillRetries();
        for (Reply& reply : attempt.replies) {
          reply.num_attempts = failures + 1;
          reply.cost_usd = Cost(reply.model, name, reply.usage);
          if (entry != nullptr) entry->Charge(name, reply.usage, reply.cost_usd);
        }
        return std::move(attempt.replies);
      case Verdict::kAdapt: {
        {
          const MutexLock lock(mutex);
          endpoint.dialect = dialect;
        }
        lease->ReportSuccess();
        Notice(fmt::format("{} {}", endpoint.http->url().ToString(), attempt.adapted.value()));
        if (++num_adapted > kMaxAdapted) return attempt.status;
        continue;
      }
      case Verdict::kFatal:
        return attempt.status;
      case Verdict::kRetry:
        lease->ReportFailure(attempt.status.message());
        break;
      case Verdict::kPause:
        if (!attempt.retry_after_s) break;
        if (*attempt.retry_after_s > options.retry.max_retry_after_s) {
          return Unavailable(fmt::format(
              "{}; it asks to come back in {:.0f} s, longer than the {:.0f} s allowed",
              attempt.status.message(), *attempt.retry_after_s, options.retry.max_retry_after_s));
        }
        // Waiting as asked is no failed attempt. The pool waits, and may know another endpoint. An
        // endpoint that keeps asking for less than it needs is asked ever less often.
        const double pause_s = std::max(*attempt.retry_after_s, Delay(std::min(++pauses, 30)));
        paused_s += pause_s;
        if (paused_s > options.retry.max_paused_s) {
          return Unavailable(fmt::format("{} (asked to wait {} times, {:.0f} s in all)",
                                         attempt.status.message(), pauses, paused_s - pause_s));
        }
        SayWait(endpoint, attempt.status, pause_s);
        lease->ReportPause(pause_s, attempt.status.message());
        avoid = lease->index();
        continue;
    }
    last = attempt.status;
    avoid = lease->index();
    ++failures;
    { const EndpointPool::Lease released = std::move(lease).value(); }
    if (failures >= options.retry.max_attempts) break;
    if (!TakeRetry()) {
      return Status(last.code(), fmt::format("{} (not tried again: the retry budget of this run is "
                                             "used up)",
                                             last.message()));
    }
    const double delay_s = Delay(failures);
    SayWait(endpoints[avoid], last, delay_s);
    if (!SleepUnlessCancelled(delay_s, cancel))
      return Cancelled("waiting to try again after: " + last.message());
  }
  return Status(last.code(),
                fmt::format("{} (after {} attempts)", last.message(), options.retry.max_attempts));
}

OpenAiClient::OpenAiClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OpenAiClient::~OpenAiClient() = default;

Result<std::unique_ptr<OpenAiClient>> OpenAiClient::Create(OpenAiOptions options) {
  if (options.endpoints.empty())
    return InvalidArgument("no endpoint was given; name at least one URL");
  if (options.max_in_flight < 1 || options.retry.max_attempts < 1)
    return InvalidArgument("max_in_flight and retry.max_attempts must be at least 1");
  auto impl = std::make_unique<Impl>();
  const bool explicit_key =
      !options.api_key_file.empty() || options.api_key_env != kDefaultKeyVariable;
  if (!options.api_key_file.empty()) {
    impl->key_origin = "the file " + options.api_key_file.string();
    DAVINCI_ASSIGN_OR_RETURN(impl->key, ApiKey::FromFile(options.api_key_file));
  } else {
    impl->key_origin = "the environment variable " + options.api_key_env;
    auto key = ApiKey::FromEnvironment(options.api_key_env);
    if (key.ok()) {
      impl->key = std::move(key).value();
    } else if (explicit_key || key.status().code() != StatusCode::kFailedPrecondition) {
      return key.status();
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(impl->extras,
                           ResolveExtras(options.extra_body, options.headers, options.proxy));
  for (const ApiKey& secret : impl->extras.secrets) {
    impl->key.AlsoHide(secret);
    impl->no_key.AlsoHide(secret);
  }
  if (!options.ca_file.empty()) DAVINCI_RETURN_IF_ERROR(CheckCaFile(options.ca_file));
  const HttpRoute route{options.ca_file, impl->extras.proxy};
  std::vector<std::string> urls;
  for (const std::string& text : options.endpoints) {
    DAVINCI_ASSIGN_OR_RETURN(BaseUrl url, BaseUrl::Parse(text));
    Impl::Endpoint& endpoint = impl->endpoints.emplace_back();
    endpoint.send_key = !impl->key.empty() && (explicit_key || url.https || url.loopback());
    if (!impl->key.empty() && !endpoint.send_key) {
      impl->Notice(fmt::format(
          "{} gets no API key: the one in {} is not sent without encryption unless it is asked for "
          "by name",
          url.ToString(), kDefaultKeyVariable));
    }
    urls.push_back(url.ToString());
    endpoint.http = std::make_unique<HttpEndpoint>(std::move(url), route, &impl->watch);
  }
  impl->pool = std::make_unique<EndpointPool>(urls, options.max_in_flight, options.breaker);
  {
    const MutexLock lock(impl->mutex);
    impl->model = options.model;
    impl->retry_stock = options.retry.budget;
    impl->jitter = SplitMix64(options.jitter_seed != 0 ? options.jitter_seed : SecretSeed());
  }
  impl->options = std::move(options);
  return std::unique_ptr<OpenAiClient>(new OpenAiClient(std::move(impl)));
}

Status OpenAiClient::Probe(const CancelToken& cancel) {
  const std::string wanted = impl_->options.model;
  std::vector<std::string> served;  // by those without a wanted model
  std::vector<Status> problems;
  size_t num_good = 0;
  for (size_t i = 0; i < impl_->endpoints.size(); ++i) {
    Impl::Endpoint& endpoint = impl_->endpoints[i];
    const std::string url = endpoint.http->url().ToString();
    HttpRequest http = impl_->Http(cancel);
    constexpr double kProbe_s = 30;
    http.deadline_s = std::min(http.deadline_s, MonotonicSeconds() + kProbe_s);
    auto models =
        ListModels(*endpoint.http, impl_->KeyFor(endpoint), impl_->key_origin, std::move(http));
    if (!models.ok()) {
      if (models.status().code() == StatusCode::kCancelled) return models.status();
      problems.push_back(models.status());
      continue;
    }
    const bool lists = !models->empty();
    if (!wanted.empty() && lists &&
        std::find(models->begin(), models->end(), wanted) == models->end()) {
      problems.push_back(
          NotFound(fmt::format("{} has no model \"{}\"{}; it has {}", url, Printable(wanted),
                               DidYouMean(wanted, *models), ListOf(*models))));
      impl_->pool->SetExcluded(i, true, problems.back().message());
      continue;
    }
    if (wanted.empty() && !lists) {
      problems.push_back(FailedPrecondition(
          fmt::format("{} does not list its models; say which one to use", url)));
      continue;
    }
    for (std::string& model : *models) {
      if (std::find(served.begin(), served.end(), model) == served.end())
        served.push_back(std::move(model));
    }
    impl_->pool->SetExcluded(i, false, "");
    ++num_good;
  }
  if (num_good == 0) {
    std::string message;
    for (const Status& problem : problems)
      message += fmt::format("{}{}", message.empty() ? "" : "; ", problem.message());
    return Status(problems.front().code(), std::move(message));
  }
  if (wanted.empty() && served.size() != 1) {
    return InvalidArgument(fmt::format("there are {} models, say which one to use: {}",
                                       served.size(), ListOf(served)));
  }
  for (const Status& problem : problems) impl_->Notice("left out: " + problem.message());
  if (wanted.empty()) {
    const MutexLock lock(impl_->mutex);
    impl_->model = served.front();
  }
  return Status::Ok();
}

Result<Reply> OpenAiClient::Generate(const Request& request, const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string model, impl_->Model(this, cancel));
  std::optional<Ledger::Entry> entry;
  if (Ledger* ledger = impl_->options.ledger) {
    auto opened = ledger->Open(model, 1, impl_->WorstCost(request, model, 1), cancel);
    if (!opened.ok()) return opened.status();
    entry.emplace(std::move(opened).value());
  }
  DAVINCI_ASSIGN_OR_RETURN(std::vector<Reply> replies,
                           impl_->Call(request, model, 1, entry ? &*entry : nullptr, cancel));
  return std::move(replies.front());
}

Result<std::vector<Reply>> OpenAiClient::GenerateMany(const Request& request, int n,
                                                      const CancelToken& cancel) {
  std::vector<Reply> replies;
  if (n < 1) return replies;
  DAVINCI_ASSIGN_OR_RETURN(const std::string model, impl_->Model(this, cancel));
  std::optional<Ledger::Entry> entry;
  if (Ledger* ledger = impl_->options.ledger) {
    auto opened = ledger->Open(model, n, impl_->WorstCost(request, model, n), cancel);
    if (!opened.ok()) return opened.status();
    entry.emplace(std::move(opened).value());
  }
  while (static_cast<int>(replies.size()) < n) {
    // Asking for the rest: with a seed, another one, or the same replies would come again.
    const auto have = static_cast<int>(replies.size());
    Request rest = request;
    if (rest.seed) rest.seed = *rest.seed + have;
    DAVINCI_ASSIGN_OR_RETURN(std::vector<Reply> more,
                             impl_->Call(rest, model, n - have, entry ? &*entry : nullptr, cancel));
    for (Reply& reply : more) replies.push_back(std::move(reply));
  }
  return replies;
}

std::string OpenAiClient::Name() const {
  std::string urls;
  for (const Impl::Endpoint& endpoint : impl_->endpoints)
    urls += (urls.empty() ? "" : ", ") + endpoint.http->url().ToString();
  const MutexLock lock(impl_->mutex);
  return fmt::format("{} at {}", impl_->model.empty() ? "the only model" : impl_->model, urls);
}

std::string OpenAiClient::model() const {
  const MutexLock lock(impl_->mutex);
  return impl_->model;
}

std::vector<EndpointHealth> OpenAiClient::Health() const { return impl_->pool->Health(); }

std::vector<std::string> OpenAiClient::Notices() const {
  const MutexLock lock(impl_->mutex);
  return impl_->notices;
}

}  // namespace davinci::llm
