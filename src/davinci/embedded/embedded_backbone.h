// EmbeddedBackbone: a Hugging Face model inside this process as an llm::Backbone. Puts together the
// tokenizer and chat template (text/), the engine (model/) and what a Reply carries.
//
// What a request does not set comes from the model's generation_config.json (temperature, top_p,
// top_k, min_p when it says do_sample), else temperature 1. A request without a seed gets one from
// the kernel's entropy. Where max_tokens is not set an answer ends at kDefaultMaxTokens or at the
// context's end.
//
// Replies carry a TokenTrace. Text is the decoded answer without special tokens; stop strings are
// not part of it, though their tokens are in the trace. Tools are described by the model's template
// where it knows the variable `tools`, else in the system message (llm/tool_prompt.h); calls stay
// in the text, in the model's own form.
//
// A required tool is called in every reply (Request::bound_calls): tokens are drawn under the
// grammar of its schema (call_grammar.h), in the form that the template gives a call. The reply
// ends before its tokens are spent, unless they are fewer than the shortest call takes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "davinci/embedded/call_grammar.h"
#include "davinci/embedded/token_mask.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/ledger.h"
#include "davinci/model/engine.h"
#include "davinci/text/chat_template.h"
#include "davinci/text/tokenizer.h"

namespace davinci::embedded {

inline constexpr int kDefaultMaxTokens = 4096;

struct EmbeddedOptions {
  model::EngineOptions engine;
  llm::Ledger* ledger = nullptr;  // counts tokens; the price is 0. May be null
  bool take_turns = true;         // hold the device's lease while computing, and book its memory
  std::string name;               // of the model; empty: the folder's or file's name
};

class EmbeddedBackbone final : public llm::Backbone {
 public:
  // Opens libdavinci_model.so and the model. kFailedPrecondition: this build has no embedded model.
  static Result<std::unique_ptr<EmbeddedBackbone>> Open(EmbeddedOptions options);

  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override;
  // Samples run at the same time; their prompt is computed once.
  Result<std::vector<llm::Reply>> GenerateMany(const llm::Request& request, int n,
                                               const CancelToken& cancel) override;
  int64_t CountTokens(std::string_view text) const override;
  int64_t CountPromptTokens(const llm::Request& request) const override;
  int64_t ContextTokens() const override;
  std::string Name() const override;

  // For servers, which check a prompt before they promise an answer.
  // InvalidArgument: the model has no chat template, or it refuses the conversation.
  Result<std::vector<llm::TokenId>> PromptTokens(const llm::Request& request) const;
  // Alternatives of each token of the answer, best first.
  using Alternatives = std::vector<std::vector<std::pair<llm::TokenId, float>>>;
  // Answers `prompt`; of `request` only sampling, stop, seed, logprobs, on_token and the required
  // tool are read.
  // `alternatives` may be null; else it gets the `num_alternatives` likeliest tokens of each.
  Result<llm::Reply> Answer(std::vector<llm::TokenId> prompt, const llm::Request& request,
                            int num_alternatives, Alternatives* alternatives,
                            const CancelToken& cancel);

  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  bool has_chat_template() const { return template_.has_value(); }
  model::EngineFacts Facts() const { return engine_->Facts(); }
  model::EngineCounters Counters() const { return engine_->Counters(); }
  const std::string& model_name() const { return name_; }
  const std::string& weights_digest() const { return weights_digest_; }

 private:
  explicit EmbeddedBackbone(text::Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  // A request as the template takes it; `as_text`: tools are described in the system message.
  struct Chat {
    std::vector<text::ChatMessage> messages;
    std::vector<text::ChatTool> tools;
    bool as_text = false;
  };
  Chat ChatOf(const llm::Request& request) const;
  // How the template writes a call of the required tool; where it does not say, the Hermes form.
  CallForm FormOf(const llm::Request& request) const;
  // Null: nothing binds the answer.
  Result<std::shared_ptr<TokenMask>> MaskOf(const llm::Request& request);

  text::Tokenizer tokenizer_;
  std::once_flag table_made_;
  std::shared_ptr<const TokenTable> table_;
  std::optional<text::ChatTemplate> template_;
  std::string template_digest_;
  std::string template_problem_;
  bool template_knows_tools_ = false;
  std::string name_;
  std::string weights_digest_;
  std::vector<model::TokenId> stop_tokens_;
  llm::Request defaults_;  // sampling only
  llm::Ledger* ledger_ = nullptr;
  std::unique_ptr<model::Engine> engine_;
};

// The model on each of `devices` ("cpu", "cuda:1"; one engine each, also where one is named twice)
// as one backbone (llm/spread.h).
Result<std::unique_ptr<llm::Backbone>> OpenOnDevices(const EmbeddedOptions& options,
                                                     const std::vector<std::string>& devices);

// SHA-256 (hex) of what decides about the weights: config.json and all weight files of a folder or
// the file itself, and the adapter's. Of files above 1 GiB: size, and the first and last 16 MiB.
Result<std::string> WeightsDigest(const std::string& model, const std::string& adapter);

}  // namespace davinci::embedded
