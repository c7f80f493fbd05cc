// davinci generate: text from a model in this process, streamed to stdout.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "commands.h"
#include "davinci/base/json_text.h"
#include "model_flags.h"
#include "report.h"

namespace davinci::app {
namespace {

struct GenerateArguments {
  ModelFlags model;
  std::string prompt;
  std::string system;
  std::vector<std::string> stop;
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> top_k;
  std::optional<double> min_p;
  std::optional<int> max_tokens;
  std::optional<int64_t> seed;
  bool raw = false;
  bool no_thinking = false;
  bool json = false;
  bool stats = false;
};

Result<llm::Reply> Run(const GenerateArguments& arguments, embedded::EmbeddedBackbone* backbone) {
  llm::Request request;
  const auto say = [&](llm::Role role, const std::string& content) {
    llm::Message& message = request.messages.emplace_back();
    message.role = role;
    message.content = content;
  };
  if (!arguments.system.empty()) say(llm::Role::kSystem, arguments.system);
  say(llm::Role::kUser, arguments.prompt);
  request.temperature = arguments.temperature;
  request.top_p = arguments.top_p;
  request.top_k = arguments.top_k;
  request.min_p = arguments.min_p;
  request.max_tokens = arguments.max_tokens;
  request.seed = arguments.seed;
  request.stop = arguments.stop;
  request.logprobs = arguments.json;
  if (arguments.no_thinking) request.thinking = false;
  if (!arguments.json)
    request.on_token = [](const llm::TokenEvent& event) {
      std::fwrite(event.text.data(), 1, event.text.size(), stdout);
      std::fflush(stdout);
    };
  std::vector<llm::TokenId> prompt;
  if (arguments.raw) {
    DAVINCI_ASSIGN_OR_RETURN(
        prompt, backbone->tokenizer().Encode(arguments.prompt, {.add_special_tokens = true}));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(prompt, backbone->PromptTokens(request));
  }
  return backbone->Answer(std::move(prompt), request, 0, nullptr, CancelToken());
}

int Generate(GenerateArguments arguments) {
  if (arguments.prompt == "-")
    arguments.prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
  auto backbone = embedded::EmbeddedBackbone::Open(ToOptions(arguments.model));
  if (!backbone.ok()) return FailCommand("generate", backbone.status());
  const auto reply = Run(arguments, backbone->get());
  if (!reply.ok()) return FailCommand("generate", reply.status());
  if (arguments.json) {
    nlohmann::json document = llm::ToJson(*reply);
    document["prompt_tokens"] = reply->trace.value().prompt_tokens;
    document["output_tokens"] = reply->trace.value().output_tokens;
    document["logprobs"] = reply->trace.value().logprobs;
    fmt::print("{}\n", JsonText(document, 2));
  } else {
    fmt::print("\n");
  }
  if (arguments.stats) {
    const model::EngineFacts facts = (*backbone)->Facts();
    fmt::print(stderr,
               "{} on {} ({}): {} prompt tokens, {} new ones in {:.2f} s, {:.1f} tokens/s\n",
               facts.model, facts.device, facts.dtype, reply->usage.prompt_tokens,
               reply->usage.completion_tokens, reply->latency_s,
               static_cast<double>(reply->usage.completion_tokens) / reply->latency_s);
  }
  return 0;
}

}  // namespace

void AddGenerateCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command =
      app.add_subcommand("generate", "Text from a language model, computed in this process");
  command->add_option("PROMPT", arguments->prompt, "What to ask; - reads it from stdin")
      ->required();
  AddModelFlags(command, &arguments->model);
  command->add_option("--system", arguments->system, "System message");
  command->add_flag("--raw", arguments->raw, "Continue the text itself, without chat template");
  command->add_flag("--no-thinking", arguments->no_thinking, "The template's switch (Qwen3)");
  command->add_option("--max-tokens,-n", arguments->max_tokens, "Most new tokens")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--temperature", arguments->temperature, "0: the likeliest token always");
  command->add_option("--top-p", arguments->top_p, "Nucleus");
  command->add_option("--top-k", arguments->top_k, "Only the k likeliest tokens; 0: all");
  command->add_option("--min-p", arguments->min_p, "Least probability, relative to the likeliest");
  command->add_option("--seed", arguments->seed, "Equal seeds, equal text");
  command->add_option("--stop", arguments->stop, "End before this text (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json,
                    "The reply with token ids and log-probabilities as one JSON document");
  command->add_flag("--stats", arguments->stats, "Tokens per second on stderr");
  command->footer(
      "Exit status: 0 done, 2 bad usage or model, 3 davinci failed.\n"
      "Examples:\n"
      "  davinci generate \"Write a softmax in C++\" --model models/qwen3-0.6b\n"
      "  davinci generate - --raw --model model.gguf --max-tokens 200 < prompt.txt\n"
      "docs/backbone.md explains models, devices and sampling.");
  command->callback([arguments, exit_code] { *exit_code = Generate(*arguments); });
}

}  // namespace davinci::app
