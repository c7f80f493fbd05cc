// Flags of the commands that hold a model in this process: generate, llm serve.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "davinci/embedded/embedded_backbone.h"

namespace davinci::app {

struct ModelFlags {
  std::string model;
  std::string lora;
  std::string device = "auto";
  std::string dtype = "auto";
  int max_batch = 0;
  int max_context = 0;
  int64_t cache_tokens = 0;
  int threads = 0;
  bool deterministic = false;
  double idle_release_s = -1;
};

void AddModelFlags(CLI::App* command, ModelFlags* flags);
embedded::EmbeddedOptions ToOptions(const ModelFlags& flags);

}  // namespace davinci::app
