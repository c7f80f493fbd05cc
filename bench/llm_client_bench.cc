// What OpenAiClient costs per call: streamed replies from a local server in a process of its own.
//
//   llm_client_bench [streams at once] [calls per stream] [tokens] [ms between tokens]
//
// For each setting, wall time per call as the caller sees it beyond what the server slept, and
// processor time of this process (everything the client does: connect, send, receive, parse).
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/llm/openai_client.h"
#include "davinci/llm/test_support.h"

namespace davinci::llm {
namespace {

struct Setting {
  int streams = 64;
  int calls = 20;
  int tokens = 200;
  double token_ms = 0;
};

// Runs the server in a child and gives its URL.
std::string StartServer(const Setting& setting, pid_t* child) {
  int pipe_fds[2];
  if (::pipe(pipe_fds) != 0) std::abort();
  *child = ::fork();
  if (*child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    HttpServer server([&](const auto&, auto& response) {
      response.set_chunked_content_provider(
          "text/event-stream", [&](size_t, httplib::DataSink& sink) {
            const std::string event = Event(Delta(" token"));
            for (int i = 0; i < setting.tokens; ++i) {
              if (setting.token_ms > 0)
                std::this_thread::sleep_for(
                    std::chrono::duration<double, std::milli>(setting.token_ms));
              if (!sink.write(event.data(), event.size())) return false;
            }
            const std::string last =
                Event(Finished()) + Event(UsageChunk(100, setting.tokens)) + "data: [DONE]\n\n";
            sink.write(last.data(), last.size());
            sink.done();
            return true;
          });
    });
    const std::string url = server.url();
    if (::write(pipe_fds[1], url.data(), url.size()) < 0) std::abort();
    ::close(pipe_fds[1]);
    while (true) ::pause();
  }
  char url[64] = {};
  ::close(pipe_fds[1]);
  if (::read(pipe_fds[0], url, sizeof url - 1) <= 0) std::abort();
  ::close(pipe_fds[0]);
  return url;
}

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Measure(const Setting& setting) {
  pid_t child = 0;
  OpenAiOptions options;
  options.endpoints = {StartServer(setting, &child)};
  options.model = "test-model";
  options.max_in_flight = setting.streams;
  auto client = std::move(OpenAiClient::Create(std::move(options))).value();
  Request request;
  request.messages = {{Role::kUser, std::string(8000, 'x'), {}, {}}};
  if (!client->Generate(request, {}).ok()) std::abort();

  std::vector<std::vector<double>> seconds(setting.streams);
  // The first calls connect; the server's short queue of new connections is not what is measured.
  std::latch connected(setting.streams + 1), begin(1);
  std::vector<std::thread> callers;
  for (auto& mine : seconds) {
    callers.emplace_back([&] {
      if (!client->Generate(request, {}).ok()) std::abort();
      connected.count_down();
      begin.wait();
      for (int i = 0; i < setting.calls; ++i) {
        const Stopwatch one;
        const auto reply = client->Generate(request, {});
        if (!reply.ok() || reply->usage.completion_tokens != setting.tokens) std::abort();
        mine.push_back(one.Seconds());
      }
    });
  }
  connected.arrive_and_wait();
  const double cpu_before_s = ProcessorSeconds();
  const Stopwatch watch;
  begin.count_down();
  for (std::thread& caller : callers) caller.join();
  const double wall_s = watch.Seconds(), cpu_s = ProcessorSeconds() - cpu_before_s;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  std::vector<double> all;
  for (const auto& mine : seconds) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  const double slept_s = 1e-3 * setting.token_ms * setting.tokens;
  const auto beyond_ms = [&](double quantile) {
    return 1e3 * (all[static_cast<size_t>(quantile * double(all.size() - 1))] - slept_s);
  };
  fmt::print(
      "{} streams x {} calls, {} tokens, {:g} ms apart: {:.0f} calls/s, {:.0f} tokens/s; beyond "
      "the "
      "server's sleep p50 {:.2f} ms, p99 {:.2f} ms; processor {:.3f} ms per call, {:.2f} us per "
      "token\n",
      setting.streams, setting.calls, setting.tokens, setting.token_ms, double(all.size()) / wall_s,
      double(all.size()) * setting.tokens / wall_s, beyond_ms(0.5), beyond_ms(0.99),
      1e3 * cpu_s / double(all.size()), 1e6 * cpu_s / double(all.size()) / setting.tokens);
}

}  // namespace
}  // namespace davinci::llm

int main(int argc, char** argv) {
  using davinci::llm::Setting;
  if (argc == 5) {
    davinci::llm::Measure(
        {std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atof(argv[4])});
    return 0;
  }
  for (const Setting& setting : {Setting{1, 200, 1, 0}, Setting{1, 100, 200, 0},
                                 Setting{64, 20, 200, 0}, Setting{64, 3, 200, 10}})
    davinci::llm::Measure(setting);
  return 0;
}
