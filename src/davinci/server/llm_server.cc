#include "davinci/server/llm_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/rng.h"
#include "davinci/server/openai_api.h"

namespace davinci::server {
namespace {

using embedded::EmbeddedBackbone;

// Connections that are open beyond those whose answers are in the making: idle ones kept alive, and
// those that are being refused.
constexpr int kSpareThreads = 32;

// Pieces of a stream on their way from the engine's thread to the HTTP thread.
class EventQueue {
 public:
  void Push(std::string event) {
    {
      const MutexLock lock(mutex_);
      events_.push_back(std::move(event));
    }
    wake_.notify_one();
  }
  void Close() {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    wake_.notify_one();
  }
  // Everything that has come; waits for something. False: closed, and nothing is left.
  bool Pop(std::string* events) {
    MutexLock lock(mutex_);
    wake_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return closed_ || !events_.empty(); });
    if (events_.empty()) return false;
    for (const std::string& event : events_) *events += event;
    events_.clear();
    return true;
  }

 private:
  Mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::string> events_ DAVINCI_GUARDED_BY(mutex_);
  bool closed_ DAVINCI_GUARDED_BY(mutex_) = false;
};

struct Work {
  CompletionCall call;
  ApiHeader header;
  std::vector<std::vector<llm::TokenId>> prompts;  // one for each choice
  size_t num_choices() const { return prompts.size(); }
};

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < b.size(); ++i)
    difference |=
        static_cast<unsigned char>(b[i]) ^ static_cast<unsigned char>(i < a.size() ? a[i] : '\0');
  return difference == 0;
}

}  // namespace

struct LlmServer::Impl {
  Impl(EmbeddedBackbone* model, LlmServerOptions given)
      : backbone(model),
        options(std::move(given)),
        most_open(model->Facts().max_batch + options.max_queue) {}

  void Refuse(httplib::Response& response, int status, const std::string& message,
              const std::string& type, const std::string& code) const {
    response.status = status;
    response.set_content(ErrorDocument(message, type, code), "application/json");
  }
  void Refuse(httplib::Response& response, const Status& status) const {
    switch (status.code()) {
      case StatusCode::kInvalidArgument:
        return Refuse(response, 400, status.message(), "invalid_request_error", "");
      case StatusCode::kCancelled:
        return Refuse(response, 503, status.message(), "server_error", "");
      case StatusCode::kResourceExhausted:
        return Refuse(response, 503, status.message(), "server_error", "out_of_memory");
      default:
        return Refuse(response, 500, status.message(), "server_error", "");
    }
  }

  bool Allowed(const httplib::Request& request) const {
    return options.api_key.empty() || EqualInConstantTime(request.get_header_value("Authorization"),
                                                          "Bearer " + options.api_key);
  }

  // Prompts as tokens, checked: after this an answer can be promised.
  Result<Work> Prepare(const httplib::Request& request, bool chat) {
    Work work;
    DAVINCI_ASSIGN_OR_RETURN(work.call,
                             chat ? ParseChat(request.body) : ParseCompletion(request.body));
    CompletionCall& call = work.call;
    std::vector<std::vector<llm::TokenId>> prompts;
    if (chat) {
      DAVINCI_ASSIGN_OR_RETURN(auto prompt, backbone->PromptTokens(call.request));
      prompts.push_back(std::move(prompt));
    }
    for (CompletionCall::Prompt& prompt : call.prompts) {
      if (!prompt.is_ids) {
        DAVINCI_ASSIGN_OR_RETURN(
            prompt.ids, backbone->tokenizer().Encode(prompt.text, {.add_special_tokens = true}));
      }
      prompts.push_back(std::move(prompt.ids));
    }
    for (const auto& prompt : prompts) {
      if (prompt.empty()) return InvalidArgument("the prompt has no tokens");
      for (const llm::TokenId id : prompt)
        if (id >= backbone->Facts().vocab)
          return InvalidArgument(fmt::format("token {} is outside the vocabulary", id));
      const auto size = static_cast<int64_t>(prompt.size());
      if (size >= backbone->ContextTokens())
        return InvalidArgument(fmt::format("the prompt has {} tokens, the context ends at {}", size,
                                           backbone->ContextTokens()));
      for (int i = 0; i < call.n; ++i) work.prompts.push_back(prompt);
    }
    work.header.id = fmt::format("{}-{:016x}", chat ? "chatcmpl" : "cmpl", SecretSeed());
    work.header.model = backbone->model_name();
    work.header.created = std::chrono::duration_cast<std::chrono::seconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
    return work;
  }

  ApiLogprob Logprob(llm::TokenId id, float logprob,
                     const std::vector<std::pair<llm::TokenId, float>>& top) const {
    ApiLogprob made{std::string(backbone->tokenizer().TokenBytes(id)), logprob, {}};
    for (const auto& [other, value] : top)
      made.top.emplace_back(std::string(backbone->tokenizer().TokenBytes(other)), value);
    return made;
  }

  using Top = std::vector<std::pair<llm::TokenId, float>>;

  // One choice, to its end. `on_piece` (may be empty) gets text as it comes, with the likeliest
  // tokens in the token's place, from the engine's thread.
  Result<ApiChoice> Choose(const Work& work, size_t index, llm::Usage* usage,
                           const std::function<void(const llm::TokenEvent&, const Top&)>& on_piece,
                           const CancelToken& cancel) {
    llm::Request request = llm::SampleOf(work.call.request, static_cast<int>(index));
    EmbeddedBackbone::Alternatives alternatives;
    if (on_piece)
      request.on_token = [&](const llm::TokenEvent& event) {
        on_piece(event, event.id >= 0 && !alternatives.empty() ? alternatives.back() : Top());
      };
    const int top = work.call.top_logprobs;
    DAVINCI_ASSIGN_OR_RETURN(const llm::Reply reply,
                             backbone->Answer(work.prompts[index], request, top,
                                              top > 0 ? &alternatives : nullptr, cancel));
    ApiChoice choice;
    choice.index = static_cast<int>(index);
    choice.text = reply.text;
    choice.finish_reason = llm::FinishReasonName(reply.finish_reason);
    choice.has_logprobs = request.logprobs;
    const llm::TokenTrace& trace = reply.trace.value();
    for (size_t i = 0; i < trace.logprobs.size(); ++i)
      choice.logprobs.push_back(Logprob(trace.output_tokens[i], trace.logprobs[i],
                                        i < alternatives.size()
                                            ? alternatives[i]
                                            : std::vector<std::pair<llm::TokenId, float>>()));
    if (!request.tools.empty()) TakeToolCalls(request.tools, &choice);
    if (index == 0 || !work.call.chat) usage->prompt_tokens += reply.usage.prompt_tokens;
    usage->cached_prompt_tokens += reply.usage.cached_prompt_tokens;
    usage->completion_tokens += reply.usage.completion_tokens;
    return choice;
  }

  // All choices at once, a thread each; `each` is called with every result, one at a time.
  llm::Usage ChooseAll(
      const Work& work,
      const std::function<void(size_t, const llm::TokenEvent&, const Top&)>& on_piece,
      const std::function<void(size_t, Result<ApiChoice>)>& each, const CancelToken& cancel) {
    Mutex mutex;
    llm::Usage total;
    const auto run = [&](size_t index) {
      llm::Usage usage;
      std::function<void(const llm::TokenEvent&, const Top&)> piece;
      if (on_piece)
        piece = [&, index](const llm::TokenEvent& event, const Top& top) {
          on_piece(index, event, top);
        };
      auto choice = Choose(work, index, &usage, piece, cancel);
      const MutexLock lock(mutex);
      total.prompt_tokens += usage.prompt_tokens;
      total.cached_prompt_tokens += usage.cached_prompt_tokens;
      total.completion_tokens += usage.completion_tokens;
      each(index, std::move(choice));
    };
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < work.num_choices(); ++i) threads.emplace_back(run, i);
    run(0);
    threads.clear();
    return total;
  }

  void Whole(const Work& work, httplib::Response& response) {
    std::vector<ApiChoice> choices(work.num_choices());
    Status failure;
    const llm::Usage usage = ChooseAll(
        work, nullptr,
        [&](size_t index, Result<ApiChoice> choice) {
          if (choice.ok())
            choices[index] = std::move(choice).value();
          else
            failure = choice.status();
        },
        stop.get_token());
    if (!failure.ok()) return Refuse(response, failure);
    response.set_content(Document(work.call, work.header, choices, usage), "application/json");
  }

  // The thread that computes, and the queue to the HTTP thread.
  struct Stream {
    explicit Stream(Work given) : work(std::move(given)) {}
    ~Stream() {
      cancel.request_stop();
      if (thread.joinable()) thread.join();
    }
    const Work work;
    EventQueue events;
    CancelSource cancel;
    std::thread thread;
  };

  void Streamed(Work given, httplib::Response& response, std::shared_ptr<void> place) {
    auto stream = std::make_shared<Stream>(std::move(given));
    Stream* raw = stream.get();
    stream->thread = std::thread([this, raw] {
      const CancelCallback on_stop(stop.get_token(), [raw] { raw->cancel.request_stop(); });
      const Work& work = raw->work;
      // Calls of tools are only known at the end, so their text must not have been given out.
      const bool hold = !work.call.request.tools.empty();
      const llm::Usage usage = ChooseAll(
          work,
          [&](size_t index, const llm::TokenEvent& event, const Top& top) {
            if (hold || (event.text.empty() && !work.call.request.logprobs)) return;
            ApiChoice piece;
            piece.index = static_cast<int>(index);
            piece.text = event.text;
            if (work.call.request.logprobs && event.id >= 0) {
              piece.has_logprobs = true;
              piece.logprobs.push_back(Logprob(event.id, event.logprob, top));
            }
            raw->events.Push(TextEvent(work.call, work.header, piece));
          },
          [&](size_t, Result<ApiChoice> choice) {
            if (!choice.ok()) {
              raw->events.Push(
                  "data: " + ErrorDocument(choice.status().message(), "server_error", "") + "\n\n");
              return;
            }
            if (hold && !choice->text.empty())
              raw->events.Push(TextEvent(work.call, work.header, *choice));
            raw->events.Push(EndEvent(work.call, work.header, *choice));
          },
          raw->cancel.get_token());
      if (work.call.stream_usage) raw->events.Push(UsageEvent(work.call, work.header, usage));
      raw->events.Push("data: [DONE]\n\n");
      raw->events.Close();
    });
    response.set_chunked_content_provider(
        "text/event-stream",
        [stream](size_t, httplib::DataSink& sink) {
          std::string events;
          if (!stream->events.Pop(&events)) {
            sink.done();
            return true;
          }
          return sink.write(events.data(), events.size());  // false: the client is gone
        },
        [stream, place](bool) mutable {
          stream.reset();
          place.reset();
        });
  }

  void Complete(const httplib::Request& request, httplib::Response& response, bool chat) {
    if (!Allowed(request))
      return Refuse(response, 401, "the API key is missing or wrong", "authentication_error",
                    "invalid_api_key");
    auto work = Prepare(request, chat);
    if (!work.ok()) return Refuse(response, work.status());
    if (!work->call.model.empty() && work->call.model != backbone->model_name())
      return Refuse(response, 404,
                    fmt::format("there is no model {}; this server has {}", work->call.model,
                                backbone->model_name()),
                    "invalid_request_error", "model_not_found");
    const auto wanted = static_cast<int>(work->num_choices());
    int before = open.load();
    do {
      if (before + wanted > most_open && before > 0) {
        response.set_header("Retry-After", "1");
        return Refuse(response, 429,
                      fmt::format("{} answers are in the making or wait; try again", before),
                      "rate_limit_error", "queue_full");
      }
    } while (!open.compare_exchange_weak(before, before + wanted));
    const std::shared_ptr<void> place(nullptr, [this, wanted](void*) { open -= wanted; });
    if (work->call.stream)
      Streamed(std::move(work).value(), response, place);
    else
      Whole(*work, response);
  }

  void Models(const httplib::Request& request, httplib::Response& response) const {
    if (!Allowed(request))
      return Refuse(response, 401, "the API key is missing or wrong", "authentication_error",
                    "invalid_api_key");
    nlohmann::json model = {{"id", backbone->model_name()}, {"object", "model"}, {"created", 0}};
    model["owned_by"] = "davinci";
    model["max_model_len"] = backbone->ContextTokens();
    nlohmann::json list = {{"object", "list"}};
    list["data"] = nlohmann::json::array({model});
    response.set_content(JsonText(list), "application/json");
  }

  void Health(httplib::Response& response) const {
    const model::EngineCounters c = backbone->Counters();
    const nlohmann::json json = {{"status", "ok"},
                                 {"running", c.running},
                                 {"waiting", c.waiting},
                                 {"open", open.load()},
                                 {"requests", c.requests},
                                 {"cancelled", c.cancelled},
                                 {"generated_tokens", c.generated_tokens},
                                 {"longest_hold_ms", c.longest_hold_ms}};
    response.set_content(JsonText(json), "application/json");
  }

  EmbeddedBackbone* const backbone;
  const LlmServerOptions options;
  const int most_open;
  std::atomic<int> open = 0;  // answers in the making or waiting
  CancelSource stop;
  httplib::Server http;
  std::thread thread;
  int port = 0;
};

LlmServer::LlmServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<LlmServer>> LlmServer::Start(EmbeddedBackbone* backbone,
                                                    LlmServerOptions options) {
  auto impl = std::make_unique<Impl>(backbone, std::move(options));
  Impl* raw = impl.get();
  httplib::Server& http = impl->http;
  const auto threads = static_cast<size_t>(impl->most_open) + kSpareThreads;
  http.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  http.set_payload_max_length(impl->options.max_body_bytes);
  http.set_keep_alive_timeout(5);
  http.set_tcp_nodelay(true);
  http.Post("/v1/chat/completions",
            [raw](const httplib::Request& q, httplib::Response& a) { raw->Complete(q, a, true); });
  http.Post("/v1/completions",
            [raw](const httplib::Request& q, httplib::Response& a) { raw->Complete(q, a, false); });
  http.Get("/v1/models",
           [raw](const httplib::Request& q, httplib::Response& a) { raw->Models(q, a); });
  http.Get("/health", [raw](const httplib::Request&, httplib::Response& a) { raw->Health(a); });
  http.set_error_handler([raw](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty())
      raw->Refuse(response, response.status,
                  response.status == 404   ? "there is no such path"
                  : response.status == 413 ? "the body is too large"
                                           : "the request cannot be read",
                  "invalid_request_error", "");
  });
  const std::string& host = impl->options.host;
  impl->port = impl->options.port;
  const bool bound = impl->port == 0 ? (impl->port = http.bind_to_any_port(host)) > 0
                                     : http.bind_to_port(host, impl->port);
  if (!bound)
    return Unavailable(fmt::format("cannot listen on {}:{}; is the port taken?", host, impl->port));
  impl->thread = std::thread([raw] { raw->http.listen_after_bind(); });
  while (!http.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::unique_ptr<LlmServer>(new LlmServer(std::move(impl)));
}

LlmServer::~LlmServer() { Stop(); }

int LlmServer::port() const { return impl_->port; }

void LlmServer::Stop() {
  impl_->stop.request_stop();
  impl_->http.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace davinci::server
