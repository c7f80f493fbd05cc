#include <gtest/gtest.h>

#include <cmath>

#include "davinci/base/files.h"
#include "davinci/weights/gguf_writer.h"
#include "davinci/weights/lora_adapter.h"
#include "davinci/weights/safetensors_writer.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::weights {
namespace {

std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) - 3;
  return values;
}

// Valid until the end of the full expression that made `values`.
std::span<const std::byte> BytesOf(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<float> Read(const TensorFile& file, std::string_view name) {
  std::vector<float> values(static_cast<size_t>(file.Find(name)->num_elements()));
  EXPECT_TRUE(ReadFloat32(*file.Find(name), values).ok());
  return values;
}

TEST(SafetensorsWriter, NothingIsThereBeforeTheEndAndNothingIsLeftWithoutIt) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  {
    auto writer = SafetensorsWriter::Create(folder->path(), {{"a", DType::kF32, {2}}});
    ASSERT_TRUE(writer.ok());
    EXPECT_FALSE(std::filesystem::exists(folder->path() / "model.safetensors"));
    EXPECT_FALSE(writer->Finish().ok());  // "a" was not written
    EXPECT_FALSE(writer->Write("a", BytesOf(Ramp(3))).ok());
    EXPECT_FALSE(writer->Write("b", {}).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST(SafetensorsWriter, ShardsAreReadBackThroughTheIndex) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  SafetensorsOptions options;
  options.max_shard_bytes = 20;
  auto writer = SafetensorsWriter::Create(
      folder->path(), {{"a", DType::kF32, {2, 2}}, {"b", DType::kF32, {4}}, {"c", DType::kF32, {}}},
      options);
  ASSERT_TRUE(writer.ok());
  for (const auto& [name, count] : {std::pair("c", 1), {"a", 4}, {"b", 4}})
    ASSERT_TRUE(writer->Write(name, BytesOf(Ramp(static_cast<size_t>(count)))).ok());
  const auto names = writer->Finish();
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->size(), 3U);
  const auto file = TensorFile::Open(folder->path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(Read(*file, "b"), Ramp(4));
  EXPECT_EQ(file->Find("a")->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(file->Find("d"), nullptr);
}

TEST(SafetensorsWriter, AWholeFileCountsMoreThanAnIndexOfFormerShards) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  auto writer = SafetensorsWriter::Create(folder->path(), {{"a", DType::kF32, {4}}}, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write("a", BytesOf(Ramp(4))).ok());
  ASSERT_TRUE(writer->Finish().ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "model.safetensors.index.json",
                              R"({"weight_map": {"a": "model-00001-of-00002.safetensors"}})")
                  .ok());
  const auto file = TensorFile::Open(folder->path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(Read(*file, "a"), Ramp(4));
}

TEST(GgufWriter, QueriesOfLlamaAreInterleavedInTheFileAlone) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  ModelConfig config;
  config.num_heads = 2;
  config.num_kv_heads = 1;
  config.head_dim = 6;
  const std::vector<float> values = Ramp(2 * 6 * 3);
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  const auto stored = InGgufOrder(config, name, values);
  EXPECT_NE(stored, values);
  auto writer = GgufWriter::Create(folder->path() / "m.gguf",
                                   {{"general.architecture", std::string("llama")},
                                    {"llama.attention.head_count", uint32_t{2}},
                                    {"llama.attention.head_count_kv", uint32_t{1}}},
                                   {{"blk.0.attn_q.weight", DType::kF32, {12, 3}}});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write("blk.0.attn_q.weight", BytesOf(stored)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto file = TensorFile::Open(folder->path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_FALSE(file->Find(name)->IsPlain());
  EXPECT_EQ(Read(*file, name), values);
}

TEST(GgufWriter, AFileStaysWithinItsBoundWithItsHead) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  const GgufMetadata metadata = {{"general.architecture", std::string("qwen3")},
                                 {"tokenizer.ggml.model", std::string(2000, 'x')}};
  std::vector<TensorSpec> tensors;
  for (int i = 0; i < 6; ++i) tensors.push_back({"t" + std::to_string(i), DType::kF32, {5, 50}});
  constexpr int64_t kBound = 4096;  // the vocabulary and one tensor, or three tensors
  auto writer = GgufWriter::Create(folder->path() / "m.gguf", metadata, tensors, kBound);
  ASSERT_TRUE(writer.ok());
  for (const TensorSpec& tensor : tensors)
    ASSERT_TRUE(writer->Write(tensor.name, BytesOf(Ramp(250))).ok());
  const auto names = writer->Finish();
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->size(), 3U);
  for (const std::string& name : *names)
    EXPECT_LE(std::filesystem::file_size(folder->path() / name), kBound) << name;
}

TEST(LoraAdapter, SavedAndLoadedItIsTheSameAndMergesByItsFormula) {
  const auto folder = MakeTempDir("weights");
  ASSERT_TRUE(folder.ok());
  LoraAdapter adapter;
  adapter.rank = 2;
  adapter.alpha = 4;
  adapter.base_model = "base";
  adapter.modules["model.layers.0.mlp.up_proj"] = {{1, 0, 2, 0, 1, -1}, {1, 2, 0, 1}, 3, 2};
  ASSERT_TRUE(SaveLoraAdapter(adapter, folder->path()).ok());
  const auto loaded = LoadLoraAdapter(folder->path());
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(*loaded, adapter);
  std::vector<float> weight = {0, 0, 0, 10, 10, 10};
  ASSERT_TRUE(MergeLora(adapter, adapter.modules.begin()->second, weight).ok());
  // B A = [[1, 2, 0], [0, 1, -1]], times alpha / rank = 2.
  EXPECT_EQ(weight, (std::vector<float>{2, 4, 0, 10, 12, 8}));
  adapter.use_rslora = true;
  EXPECT_DOUBLE_EQ(adapter.scale(), 4 / std::sqrt(2.0));
}

}  // namespace
}  // namespace davinci::weights
