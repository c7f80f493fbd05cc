#include <cmath>

#include "davinci/model/draw.h"
#include "davinci/model/torch/cpu_ops.h"
#include "davinci/model/torch/executor.h"
#include "davinci/model/torch/forward.h"

namespace davinci::model {
namespace {

using at::Tensor;

// Scores of prompt attention between two looks at the pacer: a few milliseconds.
constexpr double kAttendAtOnce = 1 << 24;

class CpuExecutor final : public Executor {
 public:
  CpuExecutor(Weights* weights, const Options& options)
      : weights_(*weights), options_(options), packed_(PackWeights(weights)) {
    const weights::ModelConfig& config = weights_.config;
    scale_ = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
    // Not filled: pages that no request reaches are never allocated.
    cache_ = at::empty(
        {config.num_layers, 2, options_.cache_tokens, config.num_kv_heads, config.head_dim},
        at::TensorOptions().dtype(weights_.dtype));
    pass_.pacer = options_.pacer;
  }

  Tensor Prefill(std::span<const Chunk> chunks) override {
    std::vector<int64_t> tokens, positions, last;
    for (const Chunk& chunk : chunks) {
      tokens.insert(tokens.end(), chunk.tokens.begin(), chunk.tokens.end());
      for (size_t i = 0; i < chunk.tokens.size(); ++i)
        positions.push_back(chunk.position + static_cast<int64_t>(i));
      if (chunk.last) last.push_back(static_cast<int64_t>(tokens.size()) - 1);
    }
    PrefillAttention attention(*this, chunks);
    const Tensor hidden =
        Forward(weights_, pass_)
            .Hidden(at::tensor(tokens, at::kLong), at::tensor(positions, at::kLong), attention);
    if (last.empty()) return {};
    PassOptions by_row = pass_;
    by_row.row_by_row = true;
    return Forward(weights_, by_row).Logits(hidden.index_select(0, at::tensor(last, at::kLong)));
  }

  void Draw(const Tensor& logits, std::span<const DrawRow> rows,
            std::vector<Step>* steps) override {
    steps->resize(rows.size());
    const auto vocab = static_cast<size_t>(logits.size(1));
    const auto* data = logits.const_data_ptr<float>();
    at::parallel_for(0, static_cast<int64_t>(rows.size()), 1, [&](int64_t begin, int64_t end) {
      DrawScratch scratch;
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        const DrawRow& row = rows[i];
        (*steps)[i] = model::Draw({data + i * vocab, vocab}, *row.sampling,
                                  Noise(row.sampling->seed, row.position), row.num_alternatives,
                                  &scratch, row.allowed);
      }
    });
  }

  void Launch(std::span<const StepRow> rows) override {
    const auto count = static_cast<int64_t>(rows.size());
    const Tensor longs = at::empty({3, count}, at::kLong);  // token, position, place in the cache
    const Tensor ints = at::empty({2, count}, at::kInt);    // start, length
    auto* tokens = longs.data_ptr<int64_t>();
    auto* starts = ints.data_ptr<int32_t>();
    std::vector<DrawRow> draws;
    DecodeAttention attention(*this);
    for (int64_t i = 0; i < count; ++i) {
      const StepRow& row = rows[static_cast<size_t>(i)];
      tokens[i] = row.token;
      tokens[count + i] = row.position;
      tokens[2 * count + i] = row.start + row.position;
      starts[i] = static_cast<int32_t>(row.start);
      starts[count + i] = static_cast<int32_t>(row.position + 1);
      attention.longest = std::max(attention.longest, row.position + 1);
      draws.push_back(row.draw);
    }
    attention.at = longs[2];
    attention.starts = ints[0];
    attention.lengths = ints[1];
    PassOptions pass = pass_;
    pass.row_by_row = true;
    const Forward forward(weights_, pass);
    Draw(forward.Logits(forward.Hidden(longs[0], longs[1], attention)), draws, &steps_);
  }
  void Collect(std::vector<Step>* steps) override { steps->swap(steps_); }
  bool rows_are_independent() const override { return packed_; }

  void CopyCache(int64_t from, int64_t to, int64_t count) override {
    cache_.narrow(2, to, count).copy_(cache_.narrow(2, from, count));
  }
  void Synchronize() override {}
  void WarmUp(const std::function<void()>&) override {}
  int64_t cache_bytes() const override {
    return cache_.numel() * static_cast<int64_t>(cache_.element_size());
  }

 private:
  CacheView View(int64_t layer) const {
    return {cache_[layer][0].data_ptr(), cache_[layer][1].data_ptr(), ElementOf(cache_),
            cache_.size(3), cache_.size(4)};
  }

  struct DecodeAttention final : Attention {
    explicit DecodeAttention(CpuExecutor& executor) : owner(executor) {}
    Tensor Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) override {
      return AttendOp(owner.View(layer), q, k, v, at, starts, lengths,
                      static_cast<float>(owner.scale_), longest);
    }
    CpuExecutor& owner;
    Tensor at, starts, lengths;
    int64_t longest = 1;
  };

  // A chunk's rows see the request's cache up to themselves. One chunk after the other, so that one
  // request may have several in a pass.
  struct PrefillAttention final : Attention {
    PrefillAttention(CpuExecutor& executor, std::span<const Chunk> all)
        : owner(executor), chunks(all) {
      for (const Chunk& chunk : chunks) {
        const auto count = static_cast<int64_t>(chunk.tokens.size());
        masks.push_back(chunk.position == 0 ? Tensor()
                                            : at::full({count, chunk.position + count},
                                                       -std::numeric_limits<float>::infinity())
                                                  .triu(chunk.position + 1));
      }
    }
    Tensor Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) override {
      if (owner.weights_.tiled && q.size(2) % kTileInner == 0) return AttendTiled(layer, q, k, v);
      Tensor out = at::empty({q.size(0), q.size(1) * q.size(2)}, q.options());
      int64_t begin = 0;
      for (size_t i = 0; i < chunks.size(); ++i) {
        const auto count = static_cast<int64_t>(chunks[i].tokens.size());
        const auto part = [&](const Tensor& x) { return x.narrow(0, begin, count); };
        if (owner.options_.pacer != nullptr) owner.options_.pacer->Between();
        part(out).copy_(One(layer, chunks[i], masks[i], part(q), part(k), part(v)));
        begin += count;
      }
      return out;
    }
    Tensor AttendTiled(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) const {
      std::vector<int64_t> at;
      std::vector<PromptRows> prompts;
      for (const Chunk& chunk : chunks) {
        const auto count = static_cast<int64_t>(chunk.tokens.size());
        prompts.push_back({static_cast<int64_t>(at.size()), count, chunk.position, chunk.start});
        for (int64_t i = 0; i < count; ++i) at.push_back(chunk.start + chunk.position + i);
      }
      const CacheView view = owner.View(layer);
      StoreRows(view, k.const_data_ptr<float>(), v.const_data_ptr<float>(), k.stride(0), at.data(),
                0, q.size(0));
      Tensor out = at::empty({q.size(0), q.size(1) * q.size(2)}, q.options().dtype(at::kBFloat16));
      // As many chunks at once as end soon.
      for (size_t begin = 0, end = 0; begin < chunks.size(); begin = end) {
        double work = 0;
        while (end < chunks.size() && (end == begin || work < kAttendAtOnce)) {
          const PromptRows& rows = prompts[end++];
          work += static_cast<double>(rows.count * (rows.position + rows.count) * q.size(1));
        }
        if (owner.options_.pacer != nullptr) owner.options_.pacer->Between();
        AttendPromptOp(view, q, std::span(prompts).subspan(begin, end - begin),
                       static_cast<float>(owner.scale_), out);
      }
      return out;
    }
    Tensor One(int64_t layer, const Chunk& chunk, const Tensor& mask, const Tensor& q,
               const Tensor& k, const Tensor& v) const {
      const int64_t count = q.size(0);
      const int64_t context = chunk.position + count;
      const Tensor keys = owner.cache_[layer][0].narrow(0, chunk.start, context);
      const Tensor values = owner.cache_[layer][1].narrow(0, chunk.start, context);
      keys.narrow(0, chunk.position, count).copy_(k);
      values.narrow(0, chunk.position, count).copy_(v);
      const auto split = [](const Tensor& x) {
        return x.to(at::kFloat).transpose(0, 1).unsqueeze(0);
      };
      return at::scaled_dot_product_attention(
                 split(q), split(keys), split(values),
                 mask.defined() ? std::optional<Tensor>(mask) : std::optional<Tensor>(), 0,
                 !mask.defined(), owner.scale_, /*enable_gqa=*/true)
          .squeeze(0)
          .transpose(0, 1)
          .reshape({count, -1});
    }
    CpuExecutor& owner;
    const std::span<const Chunk> chunks;
    std::vector<Tensor> masks;  // undefined: the chunk is the beginning
  };

  const Weights& weights_;
  const Options options_;
  const bool packed_;
  PassOptions pass_;
  std::vector<Step> steps_;  // of the latest step
  double scale_ = 1;
  Tensor cache_;  // [layer, keys | values, position, kv head, head_dim]
};

}  // namespace

std::unique_ptr<Executor> MakeCpuExecutor(Weights* weights, Executor::Options options) {
  return std::make_unique<CpuExecutor>(weights, options);
}

}  // namespace davinci::model
