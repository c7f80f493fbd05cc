#include "model_make.h"

#include <fmt/format.h>

#include <memory>

#include "davinci/trainer/new_model.h"
#include "davinci/trainer/tokenizer_training.h"
#include "training_flags.h"

namespace davinci::app {
namespace {

struct TokenizerArguments {
  trainer::TokenizerTraining training;
  std::string out;
  int64_t megabytes = 256;
};

Status MakeTokenizer(TokenizerArguments arguments) {
  arguments.training.most_bytes = arguments.megabytes << 20;
  DAVINCI_ASSIGN_OR_RETURN(const auto made, trainer::TrainTokenizer(arguments.training));
  DAVINCI_RETURN_IF_ERROR(trainer::WriteTokenizer(made.definition, arguments.out));
  SayLine(fmt::format("{}: {} tokens, {} merges, from {:.1f} MB of text with {} different words",
                      arguments.out, made.definition.tokens.size(), made.definition.merges.size(),
                      static_cast<double>(made.num_bytes) * 1e-6, made.num_words));
  return Status::Ok();
}

Status MakeModel(const trainer::NewModel& model) {
  DAVINCI_ASSIGN_OR_RETURN(const weights::ModelConfig config, trainer::WriteNewModel(model));
  int64_t parameters = 0;
  for (const weights::TensorShape& tensor : weights::TensorShapes(config)) {
    int64_t size = 1;
    for (const int64_t dimension : tensor.shape) size *= dimension;
    parameters += size;
  }
  SayLine(fmt::format(
      "{}: {} layers of width {}, {} heads, intermediate size {}, vocabulary {}: "
      "{:.2f} M parameters",
      model.out.string(), config.num_layers, config.hidden_size, config.num_heads,
      config.intermediate_size, config.vocab_size, static_cast<double>(parameters) * 1e-6));
  return Status::Ok();
}

}  // namespace

void AddModelMakers(CLI::App* model, int* exit_code) {
  auto tokenizer = std::make_shared<TokenizerArguments>();
  CLI::App* command = model->add_subcommand(
      "tokenizer", "learn a byte-level BPE tokenizer from rows or text; digits stay single");
  command
      ->add_option(
          "rows", tokenizer->training.files,
          "files of rows (*.jsonl) or text, folders of *.jsonl, or \"folder/part-*.jsonl\"")
      ->required();
  command->add_option("-o,--out", tokenizer->out, "folder for tokenizer.json")->required();
  command
      ->add_option("--vocab", tokenizer->training.vocab_size,
                   "tokens, with 3 special ones and 256 bytes")
      ->capture_default_str();
  command
      ->add_option("--megabytes", tokenizer->megabytes,
                   "most of the files that is read, spread evenly over them")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  command->add_option("--threads", tokenizer->training.threads, "default: all cores");
  OnCommand(command, "model", exit_code, [tokenizer] { return MakeTokenizer(*tokenizer); });

  auto fresh = std::make_shared<trainer::NewModel>();
  command = model->add_subcommand(
      "new", "configuration and initial weights of a Qwen3 model that has learned nothing");
  command->add_option("--tokenizer", fresh->tokenizer, "folder with tokenizer.json")->required();
  command->add_option("-o,--out", fresh->out, "folder of the model")->required();
  command->add_option("--layers", fresh->layers, "layers")->capture_default_str();
  command->add_option("--width", fresh->width, "hidden size, a multiple of the head size")
      ->capture_default_str();
  command->add_option("--intermediate", fresh->intermediate,
                      "width of the gated layer, a multiple of 32 (default: 3 x width)");
  command->add_option("--head-size", fresh->head_size, "64 and 128 have kernels on CUDA")
      ->capture_default_str();
  command->add_option("--kv-heads", fresh->kv_heads, "default: as many as query heads");
  command->add_option("--context", fresh->context, "most tokens of prompt and answer")
      ->capture_default_str();
  command->add_option("--seed", fresh->seed, "of the weights")->capture_default_str();
  OnCommand(command, "model", exit_code, [fresh] { return MakeModel(*fresh); });
}

}  // namespace davinci::app
