#include "model_flags.h"

namespace davinci::app {

void AddModelFlags(CLI::App* command, ModelFlags* flags) {
  command
      ->add_option("--model,-m", flags->model,
                   "Folder in Hugging Face layout (Llama, Qwen2, Qwen3), or a GGUF file")
      ->required();
  command->add_option("--lora", flags->lora, "PEFT adapter folder, merged into the weights");
  command->add_option("--device", flags->device, "auto, cpu, cuda or cuda:N")
      ->capture_default_str();
  command->add_option("--dtype", flags->dtype, "auto, fp32 or bf16")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "fp32", "bf16"}));
  command
      ->add_option("--batch", flags->max_batch,
                   "Requests computed at once (default: 8 on the CPU, 64 on CUDA)")
      ->check(CLI::Range(1, 512));
  command
      ->add_option("--context", flags->max_context,
                   "Most tokens of prompt and answer (default: the model's own)")
      ->check(CLI::Range(16, 1 << 24));
  command
      ->add_option("--cache-tokens", flags->cache_tokens,
                   "Tokens of all requests together (default: 2048 for each of the batch)")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", flags->threads, "CPU threads (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--deterministic", flags->deterministic,
                    "The same tokens whatever else is in the batch (always so on the CPU)");
  command->add_option("--release-after", flags->idle_release_s,
                      "Free the model's memory after so many idle seconds (default: keep it)");
}

embedded::EmbeddedOptions ToOptions(const ModelFlags& flags) {
  embedded::EmbeddedOptions options;
  model::EngineOptions& engine = options.engine;
  engine.model_dir = flags.model;
  engine.lora_dir = flags.lora;
  engine.device = flags.device;
  engine.dtype = flags.dtype == "fp32"   ? model::Dtype::kFloat32
                 : flags.dtype == "bf16" ? model::Dtype::kBfloat16
                                         : model::Dtype::kAuto;
  engine.max_batch = flags.max_batch;
  engine.max_context = flags.max_context;
  engine.cache_tokens = flags.cache_tokens;
  engine.threads = flags.threads;
  engine.deterministic = flags.deterministic ? 1 : -1;
  engine.idle_release_s = flags.idle_release_s;
  return options;
}

}  // namespace davinci::app
