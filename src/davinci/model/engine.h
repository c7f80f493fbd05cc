// Engine: tokens in, tokens out. The embedded language model as the rest of davinci sees it.
//
// Decides which requests share a batch, when a prompt is computed and what is drawn. It knows
// neither text nor chat templates (text/, embedded/), and no header of this module but those of
// torch/ mentions LibTorch: the implementation lives in libdavinci_model.so, which OpenEngine()
// opens at run time, so that a process that needs no model never loads it.
//
// One thread of the engine computes; any number of threads may call Generate() at once. A request
// waits until a place in the batch and room in the cache are free, in order of arrival.
//
// Sampling noise is a function of (seed, position) alone. In deterministic mode a request gets the
// same tokens whatever else is in the batch: prompts are computed alone, in chunks whose borders
// depend on the position only; a decode step computes each row as if it were alone (CPU) or has one
// fixed shape (CUDA); only whole chunks of prompts are shared between requests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"

namespace davinci::model {

using TokenId = int32_t;

// What is drawn from. The logits are divided by `temperature`; then top_k, top_p and min_p each
// take unlikely tokens away, in this order, as transformers does.
struct Sampling {
  double temperature = 1;  // 0: the likeliest token
  int top_k = 0;           // 0: all
  double top_p = 1;
  double min_p = 0;
  uint64_t seed = 0;
};

// One token of an answer. `logprob`: natural logarithm of its probability under the distribution it
// was drawn from; at temperature 0, of the model's distribution at temperature 1.
struct Step {
  TokenId token = -1;
  float logprob = 0;
  // The likeliest tokens of the same distribution, best first; Generation::num_alternatives of
  // them.
  std::vector<std::pair<TokenId, float>> alternatives;
};

// What an answer may be. The engine's thread alone calls it, for one answer.
class TokenFilter {
 public:
  virtual ~TokenFilter() = default;
  // Which token may come next: bit i % 64 of word i / 64 for token i, at least one set; tokens
  // behind the last word may not. `remaining`: most tokens that the answer still gets, this one
  // included. Valid until the next call.
  virtual std::span<const uint64_t> Allowed(int64_t remaining) = 0;
  virtual void Accept(TokenId token) = 0;
};

struct Generation {
  std::vector<TokenId> prompt;  // at least one
  int max_tokens = 256;         // cut where the context ends
  Sampling sampling;
  std::vector<TokenId> stop_tokens;  // the answer ends with the first of them, which is part of it
  int num_alternatives = 0;          // 0–20
  // Takes tokens away before temperature and the rest; null: none. Where steps overlap, such an
  // answer takes part in every second one: its next token depends on the last.
  std::shared_ptr<TokenFilter> filter;
  // Called for every token by the engine's thread; must be quick. False ends the answer with it.
  std::function<bool(const Step&)> on_step;
  CancelToken cancel;
};

enum class EndOfAnswer { kStopToken, kLength, kCaller };  // kCaller: on_step returned false

struct Answer {
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;  // as many
  EndOfAnswer end = EndOfAnswer::kLength;
  int num_shared_prompt_tokens = 0;  // not computed: taken from another request's cache
  double queue_s = 0;                // until the prompt was begun
  double first_token_s = 0;          // since Generate() was called
};

struct EngineFacts {
  std::string model;   // "qwen3 28 layers, 2048 wide, 1.72 B parameters"
  std::string device;  // "cpu", "cuda:0"
  std::string dtype;   // "fp32", "bf16"
  int64_t vocab = 0;
  int64_t parameters = 0;
  int64_t weight_bytes = 0;
  int64_t cache_bytes = 0;
  int64_t cache_tokens = 0;
  int max_context = 0;
  int max_batch = 0;
  bool deterministic = false;
  std::string kernels;  // "davinci", or "aten" and why
};

// Counters since the start.
struct EngineCounters {
  int64_t requests = 0;  // finished, however
  int64_t cancelled = 0;
  int64_t prompt_tokens = 0;         // computed
  int64_t shared_prompt_tokens = 0;  // taken over
  int64_t generated_tokens = 0;
  int64_t decode_steps = 0;
  double longest_hold_ms = 0;  // of the device's lease; loading the model is not counted
  int waiting = 0;             // now
  int running = 0;             // now
};

// Gives way to those who time kernels on the same device. Implemented by the caller (embedded/);
// without one nothing is held. All calls come from the engine's thread.
class DeviceTurn {
 public:
  virtual ~DeviceTurn() = default;
  virtual void Take() = 0;   // blocks until work may be done
  virtual void Leave() = 0;  // the device is idle
  virtual bool IsWanted() = 0;
};

// CUDA, bf16: which of davinci's own kernels (decode_kernels.h) a step uses where they can be
// compiled; each value includes those before it.
enum class OwnKernels {
  kNone,        // ATen's alone
  kOperations,  // what lies between the products of a layer, one launch each
  kLayers,      // what lies around attention in the same launch; in steps of few rows
                // (EngineOptions::most_projected_rows) products with what lies around them
  kOverlapped,  // these begin while the kernel ahead runs
};

enum class Dtype { kAuto, kFloat32, kBfloat16 };  // kAuto: bf16 on CUDA, else what the file has

struct EngineOptions {
  std::string model_dir;  // folder in Hugging Face layout, or a GGUF file
  std::string lora_dir;   // PEFT adapter merged into the weights as they are loaded; empty: none
  std::string device = "auto";  // "cpu", "cuda", "cuda:1"; auto: cuda where there is one
  Dtype dtype = Dtype::kAuto;
  int max_batch = 0;           // 0: 8 on the CPU, 64 on CUDA
  int max_context = 0;         // 0: the model's own
  int64_t cache_tokens = 0;    // of all requests together; 0: max_batch times 2048, at least
                               // one context, at most max_batch contexts
  int deterministic = -1;      // -1: on the CPU yes, on CUDA no
  int threads = 0;             // of the CPU; 0: all cores
  double idle_release_s = -1;  // free weights and cache after so long without a request; < 0: never
  // The longest time the device is held in one go, milliseconds.
  double max_hold_ms = 40;
  // Called once with the device that was chosen ("cpu", "cuda:0"); empty: no turns are taken.
  std::function<Result<std::shared_ptr<DeviceTurn>>(const std::string& device)> open_turn;
  // Normally distributed weights instead of those on disk; model_dir needs config.json alone. For
  // measuring speed.
  bool random_weights = false;
  OwnKernels own_kernels = OwnKernels::kOverlapped;
  // Steps of more rows take cuBLAS's products instead of those of kLayers.
  int most_projected_rows = 64;
  // Called with the bytes that will be allocated, before they are; what it returns is destroyed
  // when they have been freed.
  std::function<Result<std::shared_ptr<void>>(const std::string& device, int64_t bytes)>
      book_memory;
};

class Engine {
 public:
  virtual ~Engine() = default;  // pending calls return kCancelled

  // Blocks. kInvalidArgument: empty prompt, tokens outside the vocabulary, prompt as long as the
  // context or longer, settings out of range. kCancelled: the token fired or the engine ends.
  // kResourceExhausted: the device's memory ran out.
  virtual Result<Answer> Generate(Generation request) = 0;

  // Log-probability of each token of a text after the first, in one pass without cache, row i
  // for tokens[i + 1]; temperature 1. Also used to compare with other implementations.
  virtual Result<std::vector<float>> Score(std::span<const TokenId> tokens) = 0;
  // All logits of a text, row-major [tokens, vocabulary].
  virtual Result<std::vector<float>> Logits(std::span<const TokenId> tokens) = 0;

  virtual EngineFacts Facts() const = 0;
  virtual EngineCounters Counters() const = 0;
};

// kFailedPrecondition: this build or machine has no libdavinci_model.so or it does not load.
Result<std::unique_ptr<Engine>> OpenEngine(EngineOptions options);

// Where the library is looked for, in this order: $DAVINCI_MODEL_LIBRARY, beside the executable
// under ../lib and its parents (a build folder). Empty: nowhere.
std::string ModelLibraryPath();

}  // namespace davinci::model
