#include "davinci/weights/inert_fields.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "davinci/weights/architecture.h"

namespace davinci::weights {
namespace {

using nlohmann::json;

// Whatever their value: bookkeeping, training, generation, output selection.
constexpr std::string_view kAlwaysInert =
    "_attn_implementation _attn_implementation_autoset _auto_class _commit_hash "
    "_flash_attn_2_enabled _from_model_config _name_or_path _pre_quantization_dtype "
    "activation_checkpointing adam_beta1 adam_beta2 adam_epsilon add_cross_attention "
    "architectures assistant_confidence_threshold assistant_early_exit "
    "assistant_ensemble_weight assistant_lookbehind attention_dropout "
    "attention_probs_dropout_prob attn_impl attn_implementation attn_implementation_internal "
    "attn_pdrop auto_map bad_words_ids base_model base_model_name base_model_name_or_path "
    "base_model_pp_plan base_model_tp_plan begin_suppress_tokens bf16 bos_token cache_config "
    "cache_implementation chat_template chunk_size_feed_forward classifier_dropout "
    "cls_token_id compile_config constraints continuous_batching_config "
    "cross_attention_hidden_size dataset_name ddp_find_unused_parameters "
    "decoder_start_token_id disable_compile diversity_penalty do_sample dola_layers "
    "early_stopping embd_dropout embd_pdrop embedding_dropout enable_liger_kernel "
    "encoder_no_repeat_ngram_size encoder_repetition_penalty eos_token epsilon_cutoff "
    "eta_cutoff experts_implementation exponential_decay_length_penalty finetuned "
    "finetuning_task flash_attention flash_attn force_words_ids forced_bos_token_id "
    "forced_eos_token_id fp16 fp32 fused_linear_cross_entropy gradient_accumulation_steps "
    "gradient_checkpointing gradient_checkpointing_kwargs guidance_scale hidden_dropout "
    "hidden_dropout_prob id2label ignore_index init_std initializer_factor initializer_range "
    "initializer_std is_assistant is_composition is_decoder is_encoder_decoder "
    "keys_to_ignore_at_inference label2id label_names label_smoothing label_smoothing_factor "
    "learning_rate length_penalty license liger_kernel loss_function loss_type low_memory "
    "lr_scheduler_type mask_token_id max_cache_len max_grad_norm max_length "
    "max_matching_ngram_size max_new_tokens max_seq_len max_seq_length max_sequence_length "
    "max_time min_length min_new_tokens min_p model_max_length model_name model_type "
    "name_or_path neat_packing neftune_noise_alpha no_repeat_ngram_size num_assistant_tokens "
    "num_assistant_tokens_schedule num_beam_groups num_beams num_labels num_return_sequences "
    "num_train_epochs optim output_attentions output_dir output_hidden_states output_logits "
    "output_scores overwrite_output_dir packing pad_token padding_side penalty_alpha "
    "per_device_train_batch_size prefill_chunk_size prefix pretraining_tp problem_type "
    "prompt_lookup_num_tokens pruned_heads random_seed remove_invalid_values "
    "renormalize_logits repetition_penalty report_to resid_pdrop residual_dropout return_dict "
    "return_dict_in_generate run_name sample_packing save_safetensors seed sep_token_id "
    "seq_length sequence_bias sequence_len special_tokens speculation_type stop_strings "
    "suppress_tokens target_lookbehind task_specific_params temperature tf_legacy_loss "
    "tie_encoder_decoder token_healing tokenizer_class tokenizer_model_max_length "
    "tokenizer_name tokenizer_padding_side tokenizer_path tokenizer_use_fast top_h top_k "
    "top_p torchscript train_max_seq_length train_on_inputs training_args "
    "transformers_version trust_remote_code typical_p unk_token unk_token_id use_bfloat16 "
    "use_cache use_fast use_flash_attention use_flash_attention_2 use_flash_attn "
    "use_liger_kernel use_reentrant use_return_dict use_sdpa use_unsloth vocab_file "
    "wandb_project warmup_ratio warmup_steps watermarking_config weight_decay zero3 ";

const std::set<std::string_view>& AlwaysInert() {
  static const auto* const kFields = [] {
    auto* fields = new std::set<std::string_view>;
    for (size_t begin = 0; begin < kAlwaysInert.size();) {
      const size_t end = kAlwaysInert.find(' ', begin);
      fields->insert(kAlwaysInert.substr(begin, end - begin));
      begin = end + 1;
    }
    return fields;
  }();
  return *kFields;
}

// Tools that write notes of their own under their name.
constexpr std::array<std::string_view, 10> kToolPrefixes = {
    "axolotl_", "deepspeed_", "llama_factory_", "llamafactory_", "mergekit_",
    "peft_",    "swift_",     "torchtune_",     "trl_",          "unsloth_"};

struct InertValue {
  std::string_view field;
  json value;
};

// At this value they leave a dense decoder with full attention and plain residuals as it is.
const std::vector<InertValue>& InertValues() {
  static const auto* const kValues =
      new std::vector<InertValue>{{"_load_in_4bit", false},
                                  {"_load_in_8bit", false},
                                  {"alibi", false},
                                  {"causal", true},
                                  {"embedding_multiplier", 1},
                                  {"embedding_scale", 1},
                                  {"first_k_dense_replace", 0},
                                  {"is_causal", true},
                                  {"is_quantized", false},
                                  {"load_in_4bit", false},
                                  {"load_in_8bit", false},
                                  {"logit_scale", 1},
                                  {"logits_scaling", 1},
                                  {"mlp_only_layers", json::array()},
                                  {"n_routed_experts", 0},
                                  {"n_shared_experts", 0},
                                  {"num_experts", 0},
                                  {"num_local_experts", 0},
                                  {"num_nextn_predict_layers", 0},
                                  {"output_router_logits", false},
                                  {"parallel_attn", false},
                                  {"partial_rotary_factor", 1},
                                  {"quantization", json::object()},
                                  {"quantization_bit", 0},
                                  {"quantized", false},
                                  {"residual_multiplier", 1},
                                  {"rotary_pct", 1},
                                  {"scale_emb", 1},
                                  {"use_alibi", false},
                                  {"use_bidirectional_attention", false},
                                  {"use_dora", false},
                                  {"use_dynamic_ntk", false},
                                  {"use_logn_attn", false},
                                  {"use_lora", false},
                                  {"use_moe", false},
                                  {"use_mrope", false},
                                  {"use_mtp", false},
                                  {"use_parallel_residual", false},
                                  {"use_qlora", false}};
  return *kValues;
}

// Other names of what the configuration says already.
json OtherNameOf(std::string_view field, const ModelConfig& config) {
  struct Size {
    std::string_view field;
    int64_t ModelConfig::*member;
  };
  static constexpr std::array<Size, 12> kSizes = {
      {{"d_model", &ModelConfig::hidden_size},
       {"ffn_hidden_size", &ModelConfig::intermediate_size},
       {"kv_channels", &ModelConfig::head_dim},
       {"n_ctx", &ModelConfig::max_positions},
       {"n_embd", &ModelConfig::hidden_size},
       {"n_head", &ModelConfig::num_heads},
       {"n_layer", &ModelConfig::num_layers},
       {"n_positions", &ModelConfig::max_positions},
       {"num_layers", &ModelConfig::num_layers},
       {"padded_vocab_size", &ModelConfig::vocab_size},
       {"rotary_dim", &ModelConfig::head_dim},
       {"seq_len", &ModelConfig::max_positions}}};
  for (const Size& size : kSizes)
    if (size.field == field) return config.*size.member;
  if (field == "norm_eps" || field == "layer_norm_epsilon" || field == "layernorm_epsilon")
    return config.rms_norm_eps;
  if (field == "rotary_emb_base") return config.rope_theta;
  if (field == "activation_function" || field == "hidden_activation") return "silu";
  return nullptr;
}

// What the family has anyway, said once more.
bool RestatesConfig(std::string_view field, const json& value, const ModelConfig& config) {
  if (field == "qkv_bias" || field == "use_qkv_bias") return value == config.qkv_bias;
  if (field == "attention_out_bias" || field == "attention_output_bias" || field == "o_bias")
    return value == config.o_bias;
  if (field == "attention_bias") return value == config.qkv_bias;
  if (field == "mlp_bias") return value == config.mlp_bias;
  if (field == "qk_norm" || field == "use_qk_norm" || field == "qk_layernorm")
    return value == config.qk_norm;
  if (field == "rope_interleaved") return value == false;
  if (field == "original_max_position_embeddings") {
    using Kind = RopeScaling::Kind;
    const RopeScaling& scaling = config.rope_scaling;
    return scaling.kind == Kind::kNone || scaling.kind == Kind::kLinear ||
           value == scaling.original_max_positions;
  }
  return value == OtherNameOf(field, config);
}

}  // namespace

bool IsInertField(std::string_view field, const json& value, const ModelConfig& config) {
  if (value.is_null() || AlwaysInert().contains(field)) return true;
  const auto begins = [&](std::string_view prefix) { return field.starts_with(prefix); };
  if (std::any_of(kToolPrefixes.begin(), kToolPrefixes.end(), begins)) return true;
  // torch_version, datasets_version, …
  if (field.ends_with("_version") && value.is_string()) return true;
  for (const InertValue& inert : InertValues())
    if (inert.field == field && inert.value == value) return true;
  return RestatesConfig(field, value, config);
}

bool IsInertQuantization(const json& value) {
  if (value.is_null() || (value.is_object() && value.empty())) return true;
  if (!value.is_object() || value.value("quant_method", json("bitsandbytes")) != "bitsandbytes")
    return false;
  for (const char* bits : {"load_in_4bit", "load_in_8bit", "_load_in_4bit", "_load_in_8bit"})
    if (const auto found = value.find(bits);
        found != value.end() && !found->is_null() && *found != false)
      return false;
  return value.contains("load_in_4bit") || value.contains("load_in_8bit");
}

}  // namespace davinci::weights
