// Lets a Python test drive the engine: one JSON request per line on stdin, one JSON reply per line
// on stdout.
//
//   {"op": "open", "model": DIR, …options}          → facts; closes the model opened before
//   {"op": "logits", "tokens": [[…], …], "out": FILE} → {}; fp32, row-major, one after the other
//   {"op": "score", "tokens": […]}                  → {"logprobs": […]}
//   {"op": "generate", "requests": [{…}, …]}        → {"answers": [{…}, …]}; all at once
//   {"op": "profile", "requests": [{…}, …], "out": FILE} → {}; the same, what ran on the device in
//                                                     FILE (gpu/activity.h)
//   {"op": "counters"}                              → {…, "rss_kib": N, "peak_kib": N}
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "davinci/gpu/activity.h"
#include "davinci/model/engine.h"

namespace {

using davinci::Status;
using nlohmann::json;
namespace model = davinci::model;

int64_t StatusKib(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1));
  return 0;
}

json Failure(const Status& status) {
  return {{"error", status.message()}, {"code", davinci::StatusCodeName(status.code())}};
}

json Facts(const model::EngineFacts& facts) {
  return {{"model", facts.model},
          {"device", facts.device},
          {"dtype", facts.dtype},
          {"parameters", facts.parameters},
          {"weight_bytes", facts.weight_bytes},
          {"cache_bytes", facts.cache_bytes},
          {"cache_tokens", facts.cache_tokens},
          {"max_context", facts.max_context},
          {"max_batch", facts.max_batch},
          {"deterministic", facts.deterministic},
          {"kernels", facts.kernels}};
}

json Open(const json& in, std::unique_ptr<model::Engine>* engine) {
  engine->reset();
  model::EngineOptions options;
  options.model_dir = in.at("model");
  options.lora_dir = in.value("lora", "");
  options.device = in.value("device", "cpu");
  const std::string dtype = in.value("dtype", "auto");
  options.dtype = dtype == "fp32"   ? model::Dtype::kFloat32
                  : dtype == "bf16" ? model::Dtype::kBfloat16
                                    : model::Dtype::kAuto;
  options.max_batch = in.value("max_batch", 0);
  options.max_context = in.value("max_context", 0);
  options.cache_tokens = in.value("cache_tokens", 0);
  options.deterministic = in.value("deterministic", -1);
  options.threads = in.value("threads", 0);
  options.idle_release_s = in.value("idle_release_s", -1.0);
  options.own_kernels = static_cast<model::OwnKernels>(
      in.value("own_kernels", static_cast<int>(options.own_kernels)));
  options.most_projected_rows = in.value("projected_rows", options.most_projected_rows);
  options.random_weights = in.value("random", false);
  auto opened = model::OpenEngine(options);
  if (!opened.ok()) return Failure(opened.status());
  *engine = std::move(opened).value();
  return Facts((*engine)->Facts());
}

json Generate(const json& in, model::Engine* engine) {
  const json& requests = in.at("requests");
  std::vector<json> answers(requests.size());
  std::vector<std::thread> threads;
  const auto begun = std::chrono::steady_clock::now();
  for (size_t i = 0; i < requests.size(); ++i) {
    threads.emplace_back([&, i] {
      const json& r = requests[i];
      if (r.contains("delay_ms"))
        std::this_thread::sleep_for(std::chrono::milliseconds(r["delay_ms"].get<int>()));
      model::Generation generation;
      generation.prompt = r.at("prompt").get<std::vector<model::TokenId>>();
      generation.max_tokens = r.value("max_tokens", 16);
      generation.sampling.temperature = r.value("temperature", 0.0);
      generation.sampling.top_k = r.value("top_k", 0);
      generation.sampling.top_p = r.value("top_p", 1.0);
      generation.sampling.min_p = r.value("min_p", 0.0);
      generation.sampling.seed = r.value("seed", 0ull);
      generation.stop_tokens = r.value("stop", std::vector<model::TokenId>());
      generation.num_alternatives = r.value("alternatives", 0);
      davinci::CancelSource source;
      generation.cancel = source.get_token();
      const int cancel_after = r.value("cancel_after", -1);
      const int end_after = r.value("end_after", -1);
      int seen = 0;
      json alternatives = json::array();
      if (cancel_after == 0) source.request_stop();
      if (cancel_after > 0 || end_after > 0 || generation.num_alternatives > 0)
        generation.on_step = [&](const model::Step& step) {
          if (generation.num_alternatives > 0) alternatives.push_back(step.alternatives);
          if (++seen == cancel_after) source.request_stop();
          return seen != end_after;
        };
      const auto since = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      };
      const double begun_s = since();
      const auto answer = engine->Generate(generation);
      const double ended_s = since();
      if (!answer.ok()) {
        answers[i] = Failure(answer.status());
        return;
      }
      const char* const ends[] = {"stop", "length", "caller"};
      answers[i] = {{"tokens", answer->tokens},
                    {"logprobs", answer->logprobs},
                    {"end", ends[static_cast<int>(answer->end)]},
                    {"shared", answer->num_shared_prompt_tokens},
                    {"queue_s", answer->queue_s},
                    {"first_token_s", answer->first_token_s},
                    {"begun_s", begun_s},
                    {"ended_s", ended_s}};
      if (generation.num_alternatives > 0) answers[i]["alternatives"] = alternatives;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return {{"answers", answers}, {"wall_s", wall_s}};
}

json Profile(const json& in, model::Engine* engine) {
  const auto recorder = davinci::gpu::ActivityRecorder::Get({});
  if (!recorder.ok()) return Failure(recorder.status());
  if (const Status started = (*recorder)->Start(); !started.ok()) return Failure(started);
  json answer = Generate(in, engine);
  const auto result = (*recorder)->Stop();
  if (!result.ok()) return Failure(result.status());
  std::ofstream(in.at("out").get<std::string>())
      << davinci::gpu::ActivityJson(*result, (*recorder)->cupti_version());
  answer.erase("answers");
  return answer;
}

json Handle(const json& in, std::unique_ptr<model::Engine>* engine) {
  const std::string op = in.at("op");
  if (op == "open") return Open(in, engine);
  if (*engine == nullptr) return {{"error", "no model is open"}};
  if (op == "logits") {
    std::ofstream out(in.at("out").get<std::string>(), std::ios::binary);
    for (const json& tokens : in.at("tokens")) {
      const auto logits = (*engine)->Logits(tokens.get<std::vector<model::TokenId>>());
      if (!logits.ok()) return Failure(logits.status());
      out.write(reinterpret_cast<const char*>(logits->data()),
                static_cast<std::streamsize>(logits->size() * sizeof(float)));
    }
    return json::object();
  }
  if (op == "score") {
    const auto scores = (*engine)->Score(in.at("tokens").get<std::vector<model::TokenId>>());
    if (!scores.ok()) return Failure(scores.status());
    return {{"logprobs", *scores}};
  }
  if (op == "generate") return Generate(in, engine->get());
  if (op == "profile") return Profile(in, engine->get());
  if (op == "counters") {
    const model::EngineCounters c = (*engine)->Counters();
    return {{"requests", c.requests},
            {"cancelled", c.cancelled},
            {"prompt_tokens", c.prompt_tokens},
            {"shared_prompt_tokens", c.shared_prompt_tokens},
            {"generated_tokens", c.generated_tokens},
            {"decode_steps", c.decode_steps},
            {"longest_hold_ms", c.longest_hold_ms},
            {"waiting", c.waiting},
            {"running", c.running},
            {"rss_kib", StatusKib("VmRSS")},
            {"peak_kib", StatusKib("VmHWM")}};
  }
  return {{"error", "unknown op " + op}};
}

}  // namespace

int main() {
  std::unique_ptr<model::Engine> engine;
  for (std::string line; std::getline(std::cin, line);) {
    json reply;
    try {
      reply = Handle(json::parse(line), &engine);
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << '\n' << std::flush;
  }
  return 0;
}
