// The tensors of a model on disk, whatever the container: one safetensors file, a sharded
// safetensors folder, one GGUF file, a split GGUF. Names are those of Hugging Face checkpoints
// ("model.layers.0.self_attn.q_proj.weight") in all of them.
//
//   DAVINCI_ASSIGN_OR_RETURN(auto file, TensorFile::Open("models/qwen3-0.6b"));
//   const Tensor* q = file.Find("model.layers.0.self_attn.q_proj.weight");
//   std::vector<float> values(q->num_elements());
//   DAVINCI_RETURN_IF_ERROR(ReadFloat32(*q, values));
//
// Files are memory-mapped and stay so for as long as the TensorFile (or a copy) lives; opening
// reads headers only. Everything is immutable and may be used by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"
#include "davinci/weights/gguf.h"
#include "davinci/weights/mapped_file.h"

namespace davinci::weights {

enum class Container { kSafetensors, kGguf };

struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;       // row-major, slowest dimension first
  std::span<const std::byte> data;  // in the file, not necessarily aligned
  std::string file;                 // which file, for messages
  // Above 0: the rows belong to this many heads, and each head's rows are interleaved
  // (gguf_names.h). ReadFloat32 and ReadBFloat16 put them in order.
  int64_t interleaved_heads = 0;

  int64_t num_elements() const;
  // `data` can be used as it is: no blocks, rows in order.
  bool IsPlain() const { return interleaved_heads == 0 && !IsQuantized(dtype); }
};

class TensorFile {
 public:
  // A folder (model.safetensors.index.json, else model.safetensors, else its only *.gguf or split
  // GGUF), a *.safetensors file, an index, or a *.gguf file (of a split one any part).
  // NotFound: nothing of that there; InvalidArgument: a corrupt or unsupported file, parts that are
  // missing or do not fit together.
  static Result<TensorFile> Open(const std::filesystem::path& path);

  Container container() const { return container_; }
  // Sorted by name.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* Find(std::string_view name) const;  // nullptr: absent
  int64_t total_bytes() const;
  // The files behind it, in order.
  const std::vector<std::shared_ptr<const MappedFile>>& files() const { return files_; }
  // Of the first file; nullptr unless container() is kGguf.
  const GgufHeader* gguf() const { return gguf_.get(); }
  // "__metadata__" of safetensors files.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // GGUF only: factors of "rope_freqs.weight" by which RoPE's inverse frequencies are divided
  // (Llama 3's scaling); empty: none.
  const std::vector<float>& rope_factors() const { return rope_factors_; }

 private:
  Status AddSafetensors(const std::filesystem::path& path,
                        const std::map<std::string, std::string>* owner);
  Status OpenIndex(const std::filesystem::path& path);
  Status OpenGguf(const std::filesystem::path& path);
  Status AddGgufTensors(const GgufHeader& header, const std::string& file);
  Status Finish();

  Container container_ = Container::kSafetensors;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::shared_ptr<const GgufHeader> gguf_;
  std::map<std::string, std::string> metadata_;
  std::vector<Tensor> tensors_;
  std::vector<float> rope_factors_;
};

// All elements in order, exactly (fp32) or rounded to nearest even (bf16, as bits). `out` must have
// num_elements(). InvalidArgument names the tensor.
Status ReadFloat32(const Tensor& tensor, std::span<float> out);
Status ReadBFloat16(const Tensor& tensor, std::span<uint16_t> out);

// The parts of a split GGUF in order, given any of them ("x-00002-of-00003.gguf"); one path for a
// file that is not split. NotFound names a missing part.
Result<std::vector<std::filesystem::path>> GgufParts(const std::filesystem::path& path);

}  // namespace davinci::weights
