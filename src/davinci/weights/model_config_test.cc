#include "davinci/weights/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::weights {
namespace {

using testing::HasSubstr;

// "" when a configuration with this further member is accepted, else why not.
std::string With(const std::string& member, const std::string& type = "llama") {
  const auto config = ParseModelConfig(
      R"({"vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
          "max_position_embeddings": 128, "model_type": ")" +
          type + "\", " + member + "}",
      "config.json");
  return config.ok() ? "" : config.status().message();
}

TEST(ModelConfig, NotesOfToolsChangeNothing) {
  for (const std::string member :
       {R"("unsloth_version": "2025.3.1")", R"("unsloth_fixed": true)",
        R"("unsloth_trained_with": {"r": 16})", R"("trl_version": "0.20.0")",
        R"("axolotl_config": {"adapter": "lora"})", R"("tokenizer_padding_side": "right")",
        R"("gradient_checkpointing": false)", R"("neftune_noise_alpha": 5)",
        R"("hidden_dropout": 0.1)", R"("use_cache": false)", R"("_flash_attn_2_enabled": true)",
        R"("max_new_tokens": 20)", R"("_pre_quantization_dtype": "bfloat16")",
        R"("rope_scaling": {"type": "linear", "factor": 2, "finetuned": true,
                            "original_max_position_embeddings": 64})",
        R"("rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "factor": 1.0})"})
    EXPECT_EQ(With(member), "") << member;
}

TEST(ModelConfig, ValuesThatChangeNothingAreAccepted) {
  for (const std::string member :
       {R"("partial_rotary_factor": 1.0)", R"("use_mrope": false)", R"("num_experts": 0)",
        R"("logit_scale": 1.0)", R"("final_logit_softcapping": null)", R"("is_causal": true)",
        R"("qkv_bias": false)", R"("n_layer": 1)", R"("load_in_8bit": false)",
        R"("norm_eps": 1e-06)", R"("original_max_position_embeddings": 64)",
        R"("quantization_config": {})",
        R"("quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": false,
                                   "load_in_8bit": false, "bnb_4bit_quant_type": "fp4"})"})
    EXPECT_EQ(With(member), "") << member;
  EXPECT_EQ(With(R"("qkv_bias": true)", "qwen2"), "");
  EXPECT_EQ(With(R"("use_qk_norm": true)", "qwen3"), "");
}

TEST(ModelConfig, FieldsThatMayMatterAreRefused) {
  for (const std::string name :
       {"final_logit_softcapping", "n_layer", "norm_eps", "load_in_8bit", "partial_rotary_factor",
        "use_mrope", "num_experts", "logit_scale", "is_causal", "qkv_bias", "use_qk_norm",
        "some_field_of_mine", "attention_version", "quantization_config"}) {
    const bool flag = name.starts_with("use_") || name == "qkv_bias";
    EXPECT_THAT(With("\"" + name + "\": " + (flag ? "true" : "0.5")), HasSubstr(name)) << name;
  }
  EXPECT_THAT(With(R"("quantization_config": {"load_in_4bit": true})"),
              HasSubstr("quantization_config is set"));
  EXPECT_THAT(With(R"("quantization_config": {"quant_method": "gptq", "bits": 4})"),
              HasSubstr("quantization_config is set"));
  EXPECT_THAT(With(R"("rope_scaling": {"type": "linear", "factor": 2, "mrope_section": [1]})"),
              HasSubstr("mrope_section"));
  EXPECT_THAT(With(R"("original_max_position_embeddings": 64,
                      "rope_scaling": {"type": "dynamic", "factor": 2})"),
              HasSubstr("original_max_position_embeddings"));
}

}  // namespace
}  // namespace davinci::weights
