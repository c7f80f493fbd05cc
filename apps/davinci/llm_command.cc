// davinci llm serve: a model of this machine behind an OpenAI-compatible API.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "commands.h"
#include "davinci/base/interrupt.h"
#include "davinci/server/llm_server.h"
#include "model_flags.h"

namespace davinci::app {
namespace {

struct ServeArguments {
  ModelFlags model;
  server::LlmServerOptions server;
  std::string name;
  std::string api_key_env;
};

int FailServe(const Status& status) {
  fmt::print(stderr, "davinci llm serve: {}\n", status.ToString());
  return status.code() == StatusCode::kInternal ? 3 : 2;
}

int Serve(ServeArguments arguments) {
  if (!arguments.api_key_env.empty()) {
    const char* key = std::getenv(arguments.api_key_env.c_str());
    if (key == nullptr || *key == '\0')
      return FailServe(InvalidArgument(
          fmt::format("--api-key-env: the variable {} is empty", arguments.api_key_env)));
    arguments.server.api_key = key;
  }
  const InterruptWatch interrupt;
  embedded::EmbeddedOptions options = ToOptions(arguments.model);
  options.name = arguments.name;
  auto backbone = embedded::EmbeddedBackbone::Open(std::move(options));
  if (!backbone.ok()) return FailServe(backbone.status());
  const auto server = server::LlmServer::Start(backbone->get(), arguments.server);
  if (!server.ok()) return FailServe(server.status());
  const model::EngineFacts facts = (*backbone)->Facts();
  fmt::print("{} ({}, {}, batch {}, context {}) at http://{}:{}/v1\n", (*backbone)->model_name(),
             facts.device, facts.dtype, facts.max_batch, facts.max_context, arguments.server.host,
             (*server)->port());
  std::fflush(stdout);
  interrupt.Wait();
  (*server)->Stop();
  return 0;
}

}  // namespace

void AddLlmCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand("llm", "Serve a language model of this machine");
  command->require_subcommand(1);
  CLI::App* serve =
      command->add_subcommand("serve", "An OpenAI-compatible HTTP API; ends with Ctrl-C");
  AddModelFlags(serve, &arguments->model);
  serve->add_option("--host", arguments->server.host, "Address to listen on")
      ->capture_default_str();
  serve->add_option("--port", arguments->server.port, "0: any free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  serve->add_option("--name", arguments->name, "Of the model (default: the folder's)");
  serve->add_option("--api-key-env", arguments->api_key_env,
                    "Environment variable with the key that clients must send");
  serve
      ->add_option("--queue", arguments->server.max_queue,
                   "Answers that may wait for a place in the batch; more get 429")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 16));
  serve->footer(
      "Exit status: 0 ended by a signal, 2 bad usage or model, 3 davinci failed.\n"
      "Examples:\n"
      "  davinci llm serve --model models/qwen3-0.6b --port 8000\n"
      "  davinci optimize my_module.py --llm http://127.0.0.1:8000/v1 --model qwen3-0.6b\n"
      "docs/backbone.md lists what the API takes.");
  serve->callback([arguments, exit_code] { *exit_code = Serve(*arguments); });
}

}  // namespace davinci::app
