#include <cmath>
#include <filesystem>
#include <set>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/draw.h"
#include "davinci/model/torch/executor.h"

namespace davinci::model {

#ifndef DAVINCI_TORCH_CUDA

Result<std::unique_ptr<Executor>> MakeCudaExecutor(const Transformer*, Executor::Options) {
  return FailedPrecondition(
      "this build's LibTorch has no CUDA; use --device cpu, or set DAVINCI_PYTHON to a Python "
      "whose "
      "torch has CUDA and build again");
}

#else

namespace {

using at::Tensor;

// Batch sizes that decode steps are captured for.
constexpr int kBuckets[] = {1,   2,   4,   8,   16,  32,  48,  64,  96,
                            128, 160, 192, 224, 256, 320, 384, 448, 512};
// Rows whose restrictions look at no more than so many tokens need no full sort.
constexpr int64_t kSmallTopK = 128;

// What a step reads, one value per row. They lie in one buffer, so that one copy brings them.
struct StepInputs {
  Tensor tokens, positions, at;       // int64
  Tensor noise, inverse_temperature;  // float
  Tensor starts, lengths;             // int32; starts has one more
  Tensor greedy;                      // bool
};

StepInputs Slice(const Tensor& bytes, int64_t batch) {
  StepInputs inputs;
  int64_t offset = 0;
  const auto take = [&](at::ScalarType type, int64_t count) {
    const auto size = static_cast<int64_t>(c10::elementSize(type)) * count;
    Tensor part = bytes.narrow(0, offset, size).view(type);
    offset += (size + 15) / 16 * 16;
    return part;
  };
  inputs.tokens = take(at::kLong, batch);
  inputs.positions = take(at::kLong, batch);
  inputs.at = take(at::kLong, batch);
  inputs.noise = take(at::kFloat, batch);
  inputs.inverse_temperature = take(at::kFloat, batch);
  inputs.starts = take(at::kInt, batch + 1);
  inputs.lengths = take(at::kInt, batch);
  inputs.greedy = take(at::kBool, batch);
  return inputs;
}
int64_t SliceBytes(int64_t batch) { return (3 * 8 + 4 * 4 + 1) * batch + 4 + 8 * 16; }

struct Drawn {
  Tensor tokens;    // int64 [rows]
  Tensor logprobs;  // float [rows]
};

// From logits that are already scaled and restricted.
Drawn DrawFrom(const Tensor& scaled, const Tensor& noise, const Tensor& greedy) {
  const Tensor probabilities = at::softmax(scaled, -1);
  const Tensor sums = at::cumsum(probabilities, -1);
  const Tensor target = (noise * sums.select(1, sums.size(1) - 1)).unsqueeze(1);
  const Tensor drawn = at::searchsorted(sums, target, /*out_int32=*/false, /*right=*/true)
                           .clamp_max(sums.size(1) - 1);
  const Tensor best = at::argmax(scaled, -1, /*keepdim=*/true);
  const Tensor token = at::where(greedy.unsqueeze(1), best, drawn);
  return {token.squeeze(1), probabilities.gather(1, token).squeeze(1).log()};
}

void Check(const Status& status) { TORCH_CHECK(status.ok(), status.message()); }

// Where the wheels of torch keep NVRTC: nvidia/<package>/lib next to torch.
std::vector<std::string> NvrtcDirectories() {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&c10::cuda::device_count), &info) == 0) return found;
  std::error_code error;
  const fs::path site = fs::path(info.dli_fname).parent_path().parent_path().parent_path();
  for (const auto& entry : fs::directory_iterator(site / "nvidia", error))
    if (fs::exists(entry.path() / "lib", error)) found.push_back(entry.path() / "lib");
  return found;
}

class CudaFusedOps final : public FusedOps {
 public:
  CudaFusedOps(const DecodeKernels* kernels, c10::cuda::CUDAStream stream)
      : kernels_(*kernels), stream_(stream) {}
  void Heads(const Tensor& qkv, const Tensor& q_norm, const Tensor& k_norm, double eps,
             const Tensor& cos_sin, const Tensor& positions) const override {
    const auto of = [](const Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; };
    Check(kernels_.Heads(stream_.stream(), qkv.data_ptr(), of(q_norm), of(k_norm),
                         static_cast<float>(eps), cos_sin.const_data_ptr<float>(),
                         positions.const_data_ptr<int64_t>(), qkv.size(0)));
  }
  Tensor SiluMul(const Tensor& both) const override {
    const int64_t width = both.size(1) / 2;
    if (width % 8 != 0) return at::silu(both.narrow(1, 0, width)) * both.narrow(1, width, width);
    Tensor out = at::empty({both.size(0), width}, both.options());
    Check(kernels_.SiluMul(stream_.stream(), both.data_ptr(), out.data_ptr(), both.size(0), width));
    return out;
  }

 private:
  const DecodeKernels& kernels_;
  const c10::cuda::CUDAStream stream_;
};

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(const Transformer* model, Options options)
      : model_(*model),
        options_(std::move(options)),
        stream_(c10::cuda::getStreamFromPool(true, model->device().index())),
        guard_(stream_) {
    const weights::ModelConfig& config = model_.config();
    scale_ = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
    half_ = model_.dtype() != at::kFloat;
    // Flash attention wants head sizes in steps of 8.
    pad_ = half_ ? (8 - config.head_dim % 8) % 8 : 0;
    // The position behind the last is where rows without a request write.
    cache_ = at::zeros({config.num_layers, 2, options_.cache_tokens + 1, config.num_kv_heads,
                        config.head_dim + pad_},
                       at::TensorOptions().dtype(model_.dtype()).device(model_.device()));
    if (half_ && options_.own_kernels) {
      const DecodeKernels::Shape shape{static_cast<int>(config.num_heads),
                                       static_cast<int>(config.num_kv_heads),
                                       static_cast<int>(config.head_dim)};
      auto kernels = DecodeKernels::Load(model_.device().index(), shape, NvrtcDirectories());
      if (kernels.ok()) {
        kernels_ = std::move(kernels).value();
        fused_ = std::make_unique<CudaFusedOps>(kernels_.get(), stream_);
        pass_.fused = fused_.get();
        note_ = "davinci";
      } else {
        note_ = "aten (" + kernels.status().message() + ")";
      }
    }
    const auto bytes = at::TensorOptions().dtype(at::kByte);
    host_ = at::zeros({SliceBytes(options_.max_batch)}, bytes.pinned_memory(true));
    device_ = at::zeros({SliceBytes(options_.max_batch)}, bytes.device(model_.device()));
    host_inputs_ = Slice(host_, options_.max_batch);
    device_inputs_ = Slice(device_, options_.max_batch);
    host_tokens_ =
        at::empty({options_.max_batch}, at::TensorOptions().dtype(at::kLong).pinned_memory(true));
    host_logprobs_ =
        at::empty({options_.max_batch}, at::TensorOptions().dtype(at::kFloat).pinned_memory(true));
    // The batch is [0, 1, …]: one query each.
    query_borders_ = at::arange(options_.max_batch + 1, device_inputs_.starts.options());
    pool_ = at::cuda::graph_pool_handle();
  }

  Tensor Prefill(std::span<const Chunk> chunks) override {
    std::vector<int64_t> tokens, positions, at, last;
    PrefillAttention attention(*this, chunks);
    for (const Chunk& chunk : chunks) {
      for (size_t i = 0; i < chunk.tokens.size(); ++i) {
        tokens.push_back(chunk.tokens[i]);
        positions.push_back(chunk.position + static_cast<int64_t>(i));
        at.push_back(chunk.start + positions.back());
      }
      if (chunk.last) last.push_back(static_cast<int64_t>(tokens.size()) - 1);
    }
    attention.at = Upload(at);
    const Tensor hidden = model_.Hidden(Upload(tokens), Upload(positions), attention, pass_);
    if (last.empty()) return {};
    return model_.Logits(hidden.index_select(0, Upload(last)));
  }

  void Draw(const Tensor& logits, std::span<const DrawRow> rows,
            std::vector<Step>* steps) override {
    for (size_t begin = 0; begin < rows.size(); begin += static_cast<size_t>(options_.max_batch)) {
      const size_t count = std::min(rows.size() - begin, static_cast<size_t>(options_.max_batch));
      FillDraws(rows.subspan(begin, count));
      device_.copy_(host_, true);
      std::vector<Step> part;
      DrawHere(logits.narrow(0, static_cast<int64_t>(begin), static_cast<int64_t>(count)),
               rows.subspan(begin, count), Drawn(), &part);
      if (begin == 0) steps->clear();
      steps->insert(steps->end(), part.begin(), part.end());
    }
  }

  void Decode(std::span<const StepRow> rows, std::vector<Step>* steps) override {
    const auto count = static_cast<int64_t>(rows.size());
    const int bucket = BucketFor(static_cast<int>(count));
    std::vector<DrawRow> draws;
    auto* tokens = host_inputs_.tokens.data_ptr<int64_t>();
    auto* positions = host_inputs_.positions.data_ptr<int64_t>();
    auto* at = host_inputs_.at.data_ptr<int64_t>();
    auto* starts = host_inputs_.starts.data_ptr<int32_t>();
    auto* lengths = host_inputs_.lengths.data_ptr<int32_t>();
    for (int64_t i = 0; i < bucket; ++i) {
      const bool real = i < count;
      const StepRow row =
          real ? rows[static_cast<size_t>(i)] : StepRow{0, 0, options_.cache_tokens, {}};
      tokens[i] = row.token;
      positions[i] = row.position;
      at[i] = row.start + row.position;
      starts[i] = static_cast<int32_t>(row.start);
      lengths[i] = static_cast<int32_t>(row.position + 1);
      if (real) draws.push_back(row.draw);
    }
    FillDraws(draws);
    device_.copy_(host_, true);
    Captured& step = CaptureOf(bucket);
    if (step.graph != nullptr)
      step.graph->replay();
    else
      Run(&step, bucket);
    const Drawn plain{step.drawn.tokens.narrow(0, 0, count),
                      step.drawn.logprobs.narrow(0, 0, count)};
    DrawHere(step.logits.narrow(0, 0, count), draws, plain, steps);
  }

  void CopyCache(int64_t from, int64_t to, int64_t count) override {
    cache_.narrow(2, to, count).copy_(cache_.narrow(2, from, count));
  }
  void Synchronize() override { stream_.synchronize(); }
  void WarmUp(const std::function<void()>& pause) override {
    std::set<int> wanted = {BucketFor(1), BucketFor(options_.max_batch)};
    for (const int bucket : kBuckets)
      if (bucket <= options_.max_batch && !options_.deterministic) wanted.insert(bucket);
    for (const int bucket : wanted) {
      CaptureOf(bucket);
      stream_.synchronize();
      pause();
    }
  }
  std::string kernels() const override { return note_; }
  int64_t cache_bytes() const override {
    return cache_.numel() * static_cast<int64_t>(cache_.element_size());
  }

 private:
  struct Captured {
    std::unique_ptr<at::cuda::CUDAGraph> graph;
    Tensor logits;
    Drawn drawn;
  };

  Tensor Upload(const std::vector<int64_t>& values) const {
    return at::tensor(values, at::kLong).to(model_.device());
  }

  int BucketFor(int count) const {
    if (options_.deterministic) return options_.max_batch;
    for (const int bucket : kBuckets)
      if (bucket >= count) return std::min(bucket, options_.max_batch);
    return options_.max_batch;
  }

  void FillDraws(std::span<const DrawRow> rows) {
    auto* noise = host_inputs_.noise.data_ptr<float>();
    auto* inverse = host_inputs_.inverse_temperature.data_ptr<float>();
    auto* greedy = host_inputs_.greedy.data_ptr<bool>();
    for (int64_t i = 0; i < options_.max_batch; ++i) {
      const bool real = i < static_cast<int64_t>(rows.size());
      const double temperature = real ? rows[static_cast<size_t>(i)].sampling->temperature : 0;
      greedy[i] = temperature <= 0;
      inverse[i] = temperature <= 0 ? 1.0F : static_cast<float>(1.0 / temperature);
      noise[i] = real ? Noise(rows[static_cast<size_t>(i)].sampling->seed,
                              rows[static_cast<size_t>(i)].position)
                      : 0.0F;
    }
  }

  // The whole step from the device's inputs to drawn tokens without restrictions.
  void Run(Captured* step, int64_t batch) {
    DecodeAttention attention(*this, batch);
    const Tensor hidden =
        model_.Hidden(device_inputs_.tokens.narrow(0, 0, batch),
                      device_inputs_.positions.narrow(0, 0, batch), attention, pass_);
    if (kernels_ != nullptr) {
      step->logits = model_.RawLogits(hidden);
      step->drawn = DrawRows(step->logits, device_inputs_.inverse_temperature);
      return;
    }
    step->logits = model_.Logits(hidden);
    step->drawn = DrawFrom(
        step->logits * device_inputs_.inverse_temperature.narrow(0, 0, batch).unsqueeze(1),
        device_inputs_.noise.narrow(0, 0, batch), device_inputs_.greedy.narrow(0, 0, batch));
  }

  // One launch. `inverse`: what each row's logits are multiplied by.
  Drawn DrawRows(const Tensor& logits, const Tensor& inverse) const {
    const int64_t rows = logits.size(0);
    Drawn drawn{at::empty({rows}, logits.options().dtype(at::kLong)),
                at::empty({rows}, logits.options().dtype(at::kFloat))};
    Check(kernels_->Draw(stream_.stream(), logits.data_ptr(), logits.scalar_type() != at::kFloat,
                         rows, logits.size(1), inverse.const_data_ptr<float>(),
                         device_inputs_.noise.const_data_ptr<float>(),
                         device_inputs_.greedy.const_data_ptr<bool>(),
                         drawn.tokens.data_ptr<int64_t>(), drawn.logprobs.data_ptr<float>()));
    return drawn;
  }
  // From logits that are already scaled and restricted.
  Drawn DrawScaled(const Tensor& scaled) const {
    const int64_t rows = scaled.size(0);
    if (kernels_ != nullptr)
      return DrawRows(scaled.contiguous(), at::ones({rows}, device_inputs_.noise.options()));
    return DrawFrom(scaled, device_inputs_.noise.narrow(0, 0, rows),
                    device_inputs_.greedy.narrow(0, 0, rows));
  }

  Captured& CaptureOf(int bucket) {
    if (const auto found = captured_.find(bucket); found != captured_.end()) return found->second;
    Captured& step = captured_[bucket];
    if (!half_) return step;  // the fallback of fp32 reads lengths on the host
    Run(&step, bucket);       // libraries initialise themselves
    stream_.synchronize();
    step.graph = std::make_unique<at::cuda::CUDAGraph>();
    step.graph->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    Run(&step, bucket);
    step.graph->capture_end();
    return step;
  }

  // Finishes the drawing of `rows` from `logits`; `plain`: tokens drawn without restrictions, if
  // that has been done.
  void DrawHere(const Tensor& logits, std::span<const DrawRow> rows, Drawn plain,
                std::vector<Step>* steps) {
    const auto count = static_cast<int64_t>(rows.size());
    const int64_t vocab = logits.size(1);
    bool restricted = false;
    bool small = true;
    int alternatives = 0;
    for (const DrawRow& row : rows) {
      const Sampling& s = *row.sampling;
      const bool limit_k = s.top_k > 0 && s.top_k < vocab;
      const bool limits = s.temperature > 0 && (limit_k || s.top_p < 1 || s.min_p > 0);
      restricted = restricted || limits;
      if (limits && s.top_p < 1 && (!limit_k || s.top_k > kSmallTopK)) small = false;
      if (limits && limit_k && s.top_k > kSmallTopK) small = false;
      alternatives = std::max(alternatives, row.num_alternatives);
    }
    Tensor scaled;
    if (restricted || !plain.tokens.defined() || alternatives > 0)
      scaled = logits.to(at::kFloat) *
               device_inputs_.inverse_temperature.narrow(0, 0, count).unsqueeze(1);
    if (restricted) scaled = Restrict(scaled, rows, small ? std::min(kSmallTopK, vocab) : vocab);
    if (restricted || !plain.tokens.defined()) plain = DrawScaled(scaled);
    host_tokens_.narrow(0, 0, count).copy_(plain.tokens, true);
    host_logprobs_.narrow(0, 0, count).copy_(plain.logprobs, true);
    Tensor best_values, best_ids;
    if (alternatives > 0) {
      const auto best =
          at::topk(at::log_softmax(scaled, -1), std::min<int64_t>(alternatives, vocab));
      best_values = std::get<0>(best).cpu();
      best_ids = std::get<1>(best).cpu();
    }
    stream_.synchronize();
    steps->assign(rows.size(), Step());
    for (size_t i = 0; i < rows.size(); ++i) {
      Step& step = (*steps)[i];
      step.token = static_cast<TokenId>(host_tokens_.data_ptr<int64_t>()[i]);
      step.logprob = host_logprobs_.data_ptr<float>()[i];
      for (int64_t a = 0;
           a < rows[i].num_alternatives && a < (alternatives > 0 ? best_ids.size(1) : 0); ++a) {
        const float value =
            best_values.data_ptr<float>()[static_cast<int64_t>(i) * best_ids.size(1) + a];
        if (value > -std::numeric_limits<float>::infinity())
          step.alternatives.emplace_back(
              static_cast<TokenId>(
                  best_ids.data_ptr<int64_t>()[static_cast<int64_t>(i) * best_ids.size(1) + a]),
              value);
      }
    }
  }

  // -inf where top_k, top_p and min_p take a token away. Ties at an edge stay. `width`: how many of
  // the likeliest have to be looked at.
  Tensor Restrict(const Tensor& scaled, std::span<const DrawRow> rows, int64_t width) const {
    const int64_t vocab = scaled.size(1);
    std::vector<int64_t> top_k;
    std::vector<float> top_p, min_p;
    for (const DrawRow& row : rows) {
      const Sampling& s = *row.sampling;
      const bool greedy = s.temperature <= 0;
      top_k.push_back(!greedy && s.top_k > 0 ? std::min<int64_t>(s.top_k, vocab) : vocab);
      top_p.push_back(greedy ? 1.0F : static_cast<float>(s.top_p));
      min_p.push_back(greedy ? 0.0F : static_cast<float>(s.min_p));
    }
    const auto column = [&](const auto& values, at::ScalarType type) {
      return at::tensor(values, type).to(model_.device()).unsqueeze(1);
    };
    const Tensor k = column(top_k, at::kLong);
    const Tensor p = column(top_p, at::kFloat);
    const Tensor m = column(min_p, at::kFloat);
    const auto sorted_pair =
        width < vocab ? at::topk(scaled, width) : at::sort(scaled, -1, /*descending=*/true);
    const Tensor sorted = std::get<0>(sorted_pair);
    const Tensor rank = at::arange(width, k.options()).unsqueeze(0);
    const Tensor in_k = rank < k;
    const float none = -std::numeric_limits<float>::infinity();
    const Tensor shares = at::softmax(sorted.masked_fill(in_k.logical_not(), none), -1);
    // A token stays while the mass before it is short of top_p.
    const Tensor before = at::cumsum(shares, -1) - shares;
    const Tensor kept = in_k.logical_and((before < p).logical_or(p >= 1)).logical_or(rank == 0);
    const Tensor edge =
        sorted.masked_fill(kept.logical_not(), std::numeric_limits<float>::infinity())
            .amin(1, true);
    const Tensor unlimited = (k >= vocab).logical_and(p >= 1);
    const Tensor least = sorted.narrow(1, 0, 1) + m.log();  // min_p 0: -inf
    const Tensor limit = at::maximum(edge.masked_fill(unlimited, none), least);
    return scaled.masked_fill(scaled < limit, none);
  }

  Tensor Padded(const Tensor& x) const { return pad_ == 0 ? x : at::constant_pad_nd(x, {0, pad_}); }
  Tensor Unpadded(const Tensor& out, int64_t heads) const {
    const int64_t dim = model_.config().head_dim;
    return (pad_ == 0 ? out : out.narrow(2, 0, dim)).reshape({-1, heads * dim});
  }
  void Keep(int64_t layer, const Tensor& at, const Tensor& k, const Tensor& v) {
    if (kernels_ != nullptr && pad_ == 0 && kernels_->can_keep() && k.stride(0) % 8 == 0) {
      const Tensor cache = cache_.select(0, layer);
      Check(kernels_->Keep(stream_.stream(), k.data_ptr(), v.data_ptr(), k.stride(0),
                           at.const_data_ptr<int64_t>(), cache.select(0, 0).data_ptr(),
                           cache.select(0, 1).data_ptr(), k.size(0)));
      return;
    }
    cache_.select(0, layer).select(0, 0).index_copy_(0, at, Padded(k));
    cache_.select(0, layer).select(0, 1).index_copy_(0, at, Padded(v));
  }
  // One request after the other, without flash attention (fp32).
  Tensor AttendOneByOne(int64_t layer, const Tensor& q, const std::vector<int64_t>& borders,
                        const std::vector<int64_t>& starts, const std::vector<int64_t>& lengths) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < starts.size(); ++i) {
      const int64_t rows = borders[i + 1] - borders[i];
      const auto split = [](const Tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
      const Tensor mask =
          at::ones({rows, lengths[i]}, q.options().dtype(at::kBool)).tril(lengths[i] - rows);
      const Tensor keys = cache_.select(0, layer).select(0, 0).narrow(0, starts[i], lengths[i]);
      const Tensor values = cache_.select(0, layer).select(0, 1).narrow(0, starts[i], lengths[i]);
      parts.push_back(at::scaled_dot_product_attention(split(q.narrow(0, borders[i], rows)),
                                                       split(keys), split(values), mask, 0, false,
                                                       scale_, true)
                          .squeeze(0)
                          .transpose(0, 1)
                          .reshape({rows, -1}));
    }
    return at::cat(parts);
  }

  struct DecodeAttention final : Attention {
    DecodeAttention(CudaExecutor& executor, int64_t rows) : owner(executor), batch(rows) {}
    Tensor Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) override {
      const StepInputs& in = owner.device_inputs_;
      owner.Keep(layer, in.at.narrow(0, 0, batch), k, v);
      if (!owner.half_) {
        std::vector<int64_t> borders{0}, starts, lengths;
        for (int64_t i = 0; i < batch; ++i) {
          borders.push_back(i + 1);
          starts.push_back(owner.host_inputs_.starts.data_ptr<int32_t>()[i]);
          lengths.push_back(owner.host_inputs_.lengths.data_ptr<int32_t>()[i]);
        }
        return owner.AttendOneByOne(layer, q, borders, starts, lengths);
      }
      const Tensor cache = owner.cache_.select(0, layer);
      if (owner.kernels_ != nullptr && owner.kernels_->can_attend() && owner.pad_ == 0 &&
          q.stride(0) % 8 == 0) {
        Tensor out = at::empty({q.size(0), q.size(1) * q.size(2)}, q.options());
        Check(owner.kernels_->Attend(owner.stream_.stream(), q.data_ptr(), q.stride(0),
                                     cache.select(0, 0).data_ptr(), cache.select(0, 1).data_ptr(),
                                     in.starts.const_data_ptr<int32_t>(),
                                     in.lengths.const_data_ptr<int32_t>(),
                                     static_cast<float>(owner.scale_), out.data_ptr(), batch));
        return out;
      }
      return owner.Unpadded(
          std::get<0>(at::_flash_attention_forward(
              owner.Padded(q), cache.select(0, 0), cache.select(0, 1),
              owner.query_borders_.narrow(0, 0, batch + 1), in.starts.narrow(0, 0, batch + 1), 1,
              owner.options_.max_context, 0, /*is_causal=*/false, false, owner.scale_, std::nullopt,
              std::nullopt, in.lengths.narrow(0, 0, batch))),
          q.size(1));
    }
    CudaExecutor& owner;
    const int64_t batch;
  };

  struct PrefillAttention final : Attention {
    PrefillAttention(CudaExecutor& executor, std::span<const Chunk> chunks) : owner(executor) {
      borders.push_back(0);
      for (const Chunk& chunk : chunks) {
        const auto count = static_cast<int64_t>(chunk.tokens.size());
        borders.push_back(borders.back() + count);
        starts.push_back(chunk.start);
        lengths.push_back(chunk.position + count);
        longest_query = std::max(longest_query, count);
        longest = std::max(longest, lengths.back());
      }
      const auto ints = [&](std::vector<int64_t> values) {
        return at::tensor(values, at::kInt).to(owner.model_.device());
      };
      device_borders = ints(borders);
      std::vector<int64_t> padded = starts;
      padded.push_back(0);
      device_starts = ints(padded);
      device_lengths = ints(lengths);
    }
    Tensor Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) override {
      owner.Keep(layer, at, k, v);
      if (!owner.half_) return owner.AttendOneByOne(layer, q, borders, starts, lengths);
      const Tensor cache = owner.cache_.select(0, layer);
      return owner.Unpadded(
          std::get<0>(at::_flash_attention_forward(
              owner.Padded(q), cache.select(0, 0), cache.select(0, 1), device_borders,
              device_starts, longest_query, longest, 0, /*is_causal=*/true, false, owner.scale_,
              std::nullopt, std::nullopt, device_lengths)),
          q.size(1));
    }
    CudaExecutor& owner;
    std::vector<int64_t> borders, starts, lengths;
    int64_t longest_query = 0;
    int64_t longest = 0;
    Tensor at, device_borders, device_starts, device_lengths;
  };

  const Transformer& model_;
  const Options options_;
  const c10::cuda::CUDAStream stream_;
  const c10::cuda::CUDAStreamGuard guard_;  // of the thread that made this
  std::unique_ptr<DecodeKernels> kernels_;  // null: ATen alone; outlives captured_
  std::unique_ptr<CudaFusedOps> fused_;
  PassOptions pass_;
  std::string note_ = "aten";
  double scale_ = 1;
  bool half_ = true;
  int64_t pad_ = 0;
  Tensor cache_;  // [layer, keys | values, position, kv head, head_dim + pad]
  Tensor host_, device_;
  StepInputs host_inputs_, device_inputs_;
  Tensor host_tokens_, host_logprobs_, query_borders_;
  at::cuda::MempoolId_t pool_;
  std::map<int, Captured> captured_;
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeCudaExecutor(const Transformer* model,
                                                   Executor::Options options) {
  return std::unique_ptr<Executor>(std::make_unique<CudaExecutor>(model, std::move(options)));
}

#endif

}  // namespace davinci::model
