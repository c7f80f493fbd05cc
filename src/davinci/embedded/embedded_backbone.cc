#include "davinci/embedded/embedded_backbone.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/rng.h"
#include "davinci/embedded/device_turn.h"
#include "davinci/embedded/stop_text.h"
#include "davinci/llm/spread.h"
#include "davinci/llm/tool_prompt.h"
#include "davinci/text/incremental_decoder.h"
#include "davinci/weights/mapped_file.h"
#include "davinci/weights/model_config.h"

namespace davinci::embedded {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kWholeFileBytes = 1UL << 30;
constexpr size_t kEndBytes = 16UL << 20;

Status AddFile(const fs::path& path, Sha256* hash) {
  DAVINCI_ASSIGN_OR_RETURN(const auto file, weights::MappedFile::Open(path));
  const std::string_view bytes = file->text();
  hash->Field(path.filename().string()).Field(std::to_string(bytes.size()));
  if (bytes.size() <= kWholeFileBytes) {
    hash->Field(bytes);
  } else {
    hash->Field(bytes.substr(0, kEndBytes)).Field(bytes.substr(bytes.size() - kEndBytes));
  }
  return Status::Ok();
}

// What the model's makers recommend.
void ReadGenerationConfig(const fs::path& folder, llm::Request* defaults,
                          std::vector<model::TokenId>* stop_tokens) {
  const auto text = ReadFile(folder / "generation_config.json");
  if (!text.ok()) return;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return;
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  const auto sample = json.find("do_sample");
  if (sample != json.end() && sample->is_boolean() && sample->get<bool>()) {
    defaults->temperature = number("temperature");
    defaults->top_p = number("top_p");
    defaults->min_p = number("min_p");
    if (const auto k = number("top_k")) defaults->top_k = static_cast<int>(*k);
  }
  if (const auto eos = json.find("eos_token_id"); eos != json.end()) {
    if (eos->is_number_integer()) stop_tokens->push_back(eos->get<model::TokenId>());
    if (eos->is_array())
      for (const auto& id : *eos)
        if (id.is_number_integer()) stop_tokens->push_back(id.get<model::TokenId>());
  }
}

}  // namespace

Result<std::string> WeightsDigest(const std::string& model, const std::string& adapter) {
  Sha256 hash;
  for (const std::string& part : {model, adapter}) {
    if (part.empty()) continue;
    std::set<fs::path> files;
    std::error_code error;
    if (fs::is_directory(part, error)) {
      for (const auto& entry : fs::directory_iterator(part, error)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".safetensors") || name.ends_with(".gguf") || name == "config.json" ||
            name == "adapter_config.json")
          files.insert(entry.path());
      }
    } else {
      files.insert(part);
    }
    for (const fs::path& file : files) DAVINCI_RETURN_IF_ERROR(AddFile(file, &hash));
  }
  return hash.FinishHex();
}

Result<std::unique_ptr<EmbeddedBackbone>> EmbeddedBackbone::Open(EmbeddedOptions options) {
  const std::string& model = options.engine.model_dir;
  if (model.empty())
    return InvalidArgument(
        "the embedded model needs --model: a folder in Hugging Face layout, or a GGUF file");
  std::error_code error;
  if (!fs::exists(model, error))
    return NotFound(fmt::format("--model {}: no such folder or file", model));
  DAVINCI_ASSIGN_OR_RETURN(const weights::ModelConfig config, weights::LoadModelConfig(model));
  DAVINCI_ASSIGN_OR_RETURN(text::Tokenizer tokenizer, text::Tokenizer::Load(model));
  std::unique_ptr<EmbeddedBackbone> backbone(new EmbeddedBackbone(tokenizer));
  if (tokenizer.vocab_size() > config.vocab_size)
    return InvalidArgument(fmt::format("{}: the tokenizer has {} tokens, the model {}", model,
                                       tokenizer.vocab_size(), config.vocab_size));
  auto chat = text::ChatTemplate::Of(tokenizer);
  if (chat.ok()) {
    backbone->template_ = *chat;
    backbone->template_knows_tools_ = tokenizer.chat_template().find("tools") != std::string::npos;
    backbone->template_digest_ = Sha256Hex(tokenizer.chat_template());
  } else {
    backbone->template_problem_ = chat.status().message();
  }
  backbone->name_ = !options.name.empty()
                        ? options.name
                        : fs::weakly_canonical(fs::path(model), error).filename().string();
  DAVINCI_ASSIGN_OR_RETURN(backbone->weights_digest_,
                           WeightsDigest(model, options.engine.lora_dir));
  for (const int64_t id : config.eos_token_ids)
    backbone->stop_tokens_.push_back(static_cast<model::TokenId>(id));
  if (tokenizer.eos_id() >= 0) backbone->stop_tokens_.push_back(tokenizer.eos_id());
  ReadGenerationConfig(model, &backbone->defaults_, &backbone->stop_tokens_);
  backbone->ledger_ = options.ledger;
  if (options.take_turns && !options.engine.open_turn) options.engine.open_turn = OpenDeviceTurn;
  if (options.take_turns && !options.engine.book_memory)
    options.engine.book_memory = BookDeviceMemory;
  DAVINCI_ASSIGN_OR_RETURN(backbone->engine_, model::OpenEngine(std::move(options.engine)));
  return backbone;
}

Result<std::unique_ptr<llm::Backbone>> OpenOnDevices(const EmbeddedOptions& options,
                                                     const std::vector<std::string>& devices) {
  std::vector<std::unique_ptr<llm::Backbone>> places(devices.size());
  std::vector<Status> opened(devices.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < devices.size(); ++i)
      threads.emplace_back([&, i] {
        EmbeddedOptions own = options;
        own.engine.device = devices[i];
        auto place = EmbeddedBackbone::Open(std::move(own));
        opened[i] = place.status();
        if (place.ok()) places[i] = std::move(place).value();
      });
  }
  for (size_t i = 0; i < devices.size(); ++i)
    if (!opened[i].ok()) return opened[i].Annotate(devices[i]);
  if (places.empty()) return InvalidArgument("no device to open the model on");
  if (places.size() == 1) return std::move(places.front());
  return std::unique_ptr<llm::Backbone>(std::make_unique<llm::SpreadBackbone>(std::move(places)));
}

EmbeddedBackbone::Chat EmbeddedBackbone::ChatOf(const llm::Request& request) const {
  Chat chat;
  chat.as_text = !request.tools.empty() && !template_knows_tools_;
  const std::vector<llm::Message> messages =
      chat.as_text ? llm::MessagesWithToolsAsText(request) : request.messages;
  for (const llm::Message& message : messages) {
    text::ChatMessage& made = chat.messages.emplace_back();
    made.role = llm::RoleName(message.role);
    made.content = message.content;
    for (const llm::ToolCall& call : message.tool_calls)
      made.tool_calls.push_back({call.name, call.arguments});
    if (!message.token_ids.empty()) made.ids = message.token_ids;
  }
  if (!chat.as_text)
    for (const llm::ToolSpec& tool : request.tools)
      chat.tools.push_back(
          {tool.name, tool.description, nlohmann::ordered_json::parse(JsonText(tool.parameters))});
  return chat;
}

CallForm EmbeddedBackbone::FormOf(const llm::Request& request) const {
  CallForm form;
  form.open = fmt::format("<tool_call>\n{{\"name\": {}, \"arguments\": ",
                          JsonText(nlohmann::json(request.required_tool)));
  form.thinks = request.thinking.value_or(true) && tokenizer_.FindToken("<think>").has_value();
  if (!template_) return form;
  // A call as a reply of the model, as rows of fine-tuning have it (trainer/sft_rows.cc).
  constexpr std::string_view kKey = "davinci_arguments";
  llm::Request probe;
  probe.tools = request.tools;
  probe.messages = {{llm::Role::kUser, "?", {}, {}},
                    {llm::Role::kAssistant,
                     "",
                     {{"", request.required_tool, fmt::format("{{\"{}\":1}}", kKey)}},
                     {}}};
  const Chat chat = ChatOf(probe);
  text::ChatOptions options;
  options.enable_thinking = request.thinking;
  const std::span<const text::ChatMessage> all(chat.messages);
  const auto prompt = template_->Render(all.first(all.size() - 1), chat.tools, options);
  options.add_generation_prompt = false;
  const auto whole = template_->Render(all, chat.tools, options);
  if (!prompt.ok() || !whole.ok() || !whole->starts_with(*prompt)) return form;
  std::string reply = whole->substr(prompt->size());
  const std::string_view end_of_turn = tokenizer_.TokenBytes(tokenizer_.eos_id());
  if (const size_t end = reply.rfind(end_of_turn); !end_of_turn.empty() && end != std::string::npos)
    reply.resize(end);
  constexpr std::string_view kThought = "</think>";
  if (const size_t thought = reply.find(kThought); thought != std::string::npos) {
    reply.erase(0, thought + kThought.size());
    reply.erase(0, std::min(reply.find_first_not_of('\n'), reply.size()));
  }
  const size_t key = reply.find(kKey);
  const size_t begin = key == std::string::npos ? key : reply.rfind('{', key);
  const size_t end = key == std::string::npos ? key : reply.find('}', key);
  if (begin == std::string::npos || begin == 0 || end == std::string::npos) return form;
  // Special tokens are not text.
  const auto ids = tokenizer_.Encode(reply);
  if (!ids.ok() || std::any_of(ids->begin(), ids->end(),
                               [&](llm::TokenId id) { return tokenizer_.IsSpecial(id); }))
    return form;
  form.open = reply.substr(0, begin);
  form.close = reply.substr(end + 1);
  return form;
}

Result<std::shared_ptr<TokenMask>> EmbeddedBackbone::MaskOf(const llm::Request& request) {
  if (!request.bound_calls || request.required_tool.empty() || stop_tokens_.empty())
    return std::shared_ptr<TokenMask>();
  const auto tool =
      std::find_if(request.tools.begin(), request.tools.end(),
                   [&](const llm::ToolSpec& spec) { return spec.name == request.required_tool; });
  if (tool == request.tools.end())
    return InvalidArgument(fmt::format("the request requires {}, which is not among its tools",
                                       request.required_tool));
  DAVINCI_ASSIGN_OR_RETURN(ByteGrammar grammar, GrammarOfCall(FormOf(request), tool->parameters));
  std::call_once(table_made_, [&] { table_ = std::make_shared<TokenTable>(tokenizer_); });
  return std::make_shared<TokenMask>(table_, std::move(grammar), stop_tokens_);
}

Result<std::vector<llm::TokenId>> EmbeddedBackbone::PromptTokens(
    const llm::Request& request) const {
  if (!template_)
    return InvalidArgument(fmt::format("{} cannot chat: {}", name_, template_problem_));
  auto [chat, tools, as_text] = ChatOf(request);
  text::ChatOptions options;
  options.enable_thinking = request.thinking;
  if (request.prefix_tokens.empty()) return template_->RenderIds(chat, tools, options, tokenizer_);

  // The prefix ends with a reply; what the template puts behind that reply's ids is what follows.
  const int last = request.prefix_messages - 1;
  if (as_text || last < 0 || last >= static_cast<int>(chat.size()) ||
      chat[static_cast<size_t>(last)].role != "assistant")
    return InvalidArgument(
        "prefix_tokens must stand for the messages up to and including a reply of the model");
  for (int i = 0; i < last; ++i) chat[static_cast<size_t>(i)].ids.reset();
  chat[static_cast<size_t>(last)].ids = {request.prefix_tokens.back()};
  DAVINCI_ASSIGN_OR_RETURN(const auto segments,
                           template_->RenderSegments(chat, tools, options, tokenizer_));
  std::vector<llm::TokenId> prompt = request.prefix_tokens;
  bool behind = false;
  for (const text::ChatSegment& segment : segments) {
    if (behind && segment.is_ids) {
      prompt.insert(prompt.end(), segment.ids.begin(), segment.ids.end());
    } else if (behind) {
      DAVINCI_ASSIGN_OR_RETURN(const auto ids, tokenizer_.Encode(segment.text));
      prompt.insert(prompt.end(), ids.begin(), ids.end());
    }
    behind = behind || segment.is_ids;
  }
  return prompt;
}

Result<llm::Reply> EmbeddedBackbone::Answer(std::vector<llm::TokenId> prompt,
                                            const llm::Request& request, int num_alternatives,
                                            Alternatives* alternatives, const CancelToken& cancel) {
  const auto begun = Clock::now();
  const int64_t room = ContextTokens() - static_cast<int64_t>(prompt.size());
  if (room <= 0)
    return InvalidArgument(fmt::format("the prompt has {} tokens, the context ends at {}",
                                       prompt.size(), ContextTokens()));
  model::Generation generation;
  generation.prompt = prompt;
  generation.max_tokens =
      static_cast<int>(std::min<int64_t>(room, request.max_tokens.value_or(kDefaultMaxTokens)));
  model::Sampling& sampling = generation.sampling;
  const auto pick = [](const auto& own, const auto& other, auto fallback) {
    return own ? *own : other ? *other : fallback;
  };
  sampling.temperature = pick(request.temperature, defaults_.temperature, 1.0);
  sampling.top_p = pick(request.top_p, defaults_.top_p, 1.0);
  sampling.top_k = pick(request.top_k, defaults_.top_k, 0);
  sampling.min_p = pick(request.min_p, defaults_.min_p, 0.0);
  sampling.seed = request.seed ? static_cast<uint64_t>(*request.seed) : SecretSeed();
  generation.stop_tokens = stop_tokens_;
  generation.num_alternatives = num_alternatives;
  generation.cancel = cancel;
  DAVINCI_ASSIGN_OR_RETURN(generation.filter, MaskOf(request));
  const bool bounded = generation.filter != nullptr;

  text::IncrementalDecoder decoder(tokenizer_, /*skip_special=*/true);
  StopText stop(request.stop);
  llm::Reply reply;
  const bool needs_text = !request.stop.empty() || request.on_token;
  if (needs_text || alternatives != nullptr)
    generation.on_step = [&](const model::Step& step) {
      if (alternatives != nullptr) alternatives->push_back(step.alternatives);
      if (!needs_text) return true;
      const std::string piece = stop.Push(decoder.Push(step.token));
      reply.text += piece;
      if (request.on_token)
        request.on_token({piece, step.token, request.logprobs ? step.logprob : 0.0F, false});
      return !stop.stopped();
    };
  std::optional<llm::Ledger::Entry> entry;
  if (ledger_ != nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(auto opened, ledger_->Open(name_, 1, 0.0, cancel));
    entry.emplace(std::move(opened));
  }
  DAVINCI_ASSIGN_OR_RETURN(model::Answer answer, engine_->Generate(std::move(generation)));

  if (!needs_text) {
    reply.text = tokenizer_.Decode(answer.tokens, /*skip_special=*/true);
  } else if (!stop.stopped()) {
    std::string rest = stop.Push(decoder.Finish());
    rest += stop.Finish();
    reply.text += rest;
    if (request.on_token && !rest.empty()) request.on_token({rest, -1, 0, false});
  }
  reply.finish_reason = answer.end == model::EndOfAnswer::kLength ? llm::FinishReason::kLength
                                                                  : llm::FinishReason::kStop;
  reply.usage.prompt_tokens = static_cast<int64_t>(prompt.size());
  reply.usage.cached_prompt_tokens = answer.num_shared_prompt_tokens;
  reply.usage.completion_tokens = static_cast<int64_t>(answer.tokens.size());
  reply.cost_usd = 0;
  reply.model = name_;
  reply.endpoint = "embedded";
  llm::TokenTrace& trace = reply.trace.emplace();
  trace.prompt_tokens = std::move(prompt);
  trace.output_tokens = std::move(answer.tokens);
  if (request.logprobs) trace.logprobs = std::move(answer.logprobs);
  trace.bounded = bounded;
  trace.weights_digest = weights_digest_;
  trace.tokenizer_digest = tokenizer_.digest();
  trace.template_digest = template_digest_;
  reply.latency_s = std::chrono::duration<double>(Clock::now() - begun).count();
  if (entry) entry->Charge(name_, reply.usage, 0.0);
  return reply;
}

Result<llm::Reply> EmbeddedBackbone::Generate(const llm::Request& request,
                                              const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(auto prompt, PromptTokens(request));
  return Answer(std::move(prompt), request, 0, nullptr, cancel);
}

Result<std::vector<llm::Reply>> EmbeddedBackbone::GenerateMany(const llm::Request& request, int n,
                                                               const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(const auto prompt, PromptTokens(request));
  std::vector<Result<llm::Reply>> results(static_cast<size_t>(n), Status::Ok());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        results[static_cast<size_t>(i)] =
            Answer(prompt, llm::SampleOf(request, i), 0, nullptr, cancel);
      });
  }
  std::vector<llm::Reply> replies;
  for (auto& result : results) {
    if (!result.ok()) return result.status();
    replies.push_back(std::move(result).value());
  }
  return replies;
}

int64_t EmbeddedBackbone::CountTokens(std::string_view text) const {
  const auto ids = tokenizer_.Encode(text, {.parse_special = false});
  return ids.ok() ? static_cast<int64_t>(ids->size()) : llm::Backbone::CountTokens(text);
}

int64_t EmbeddedBackbone::CountPromptTokens(const llm::Request& request) const {
  const auto ids = PromptTokens(request);
  return ids.ok() ? static_cast<int64_t>(ids->size()) : llm::Backbone::CountPromptTokens(request);
}

int64_t EmbeddedBackbone::ContextTokens() const {
  const model::EngineFacts facts = engine_->Facts();
  return std::min<int64_t>(facts.max_context, facts.cache_tokens);
}

std::string EmbeddedBackbone::Name() const {
  const model::EngineFacts facts = engine_->Facts();
  return fmt::format("{} in this process ({} {})", name_, facts.device, facts.dtype);
}

}  // namespace davinci::embedded
