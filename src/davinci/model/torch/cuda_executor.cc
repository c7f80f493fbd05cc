#include <cmath>
#include <deque>
#include <set>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/draw.h"
#include "davinci/model/torch/executor.h"
#include "davinci/model/torch/nvrtc_directories.h"

namespace davinci::model {

#ifndef DAVINCI_TORCH_CUDA

Result<std::unique_ptr<Executor>> MakeCudaExecutor(Transformer*, Executor::Options) {
  return FailedPrecondition(
      "this build's LibTorch has no CUDA; use --device cpu, or set DAVINCI_PYTHON to a Python "
      "whose "
      "torch has CUDA and build again");
}

void ReturnCudaMemory() {}

#else

namespace {

using at::Tensor;

// Batch sizes that decode steps are captured for.
constexpr int kBuckets[] = {1,   2,   4,   8,   16,  32,  48,  64,  96,
                            128, 160, 192, 224, 256, 320, 384, 448, 512};
// In a layer, a product of more weights than this is cuBLAS's.
constexpr int64_t kMostProjectedWeights = int64_t{8} << 20;
// Rows whose restrictions look at no more than so many tokens need no full sort.
constexpr int64_t kSmallTopK = 128;

// What a step reads, one value per row. They lie in one buffer, so that one copy brings them.
struct StepInputs {
  Tensor tokens, positions, at;       // int64
  Tensor sources;                     // int64: row of the last step whose token goes in, or -1
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
  inputs.sources = take(at::kLong, batch);
  inputs.noise = take(at::kFloat, batch);
  inputs.inverse_temperature = take(at::kFloat, batch);
  inputs.starts = take(at::kInt, batch + 1);
  inputs.lengths = take(at::kInt, batch);
  inputs.greedy = take(at::kBool, batch);
  return inputs;
}
int64_t SliceBytes(int64_t batch) { return (4 * 8 + 4 * 4 + 1) * batch + 4 + 9 * 16; }

struct Drawn {
  Tensor tokens;    // int64 [rows]
  Tensor logprobs;  // float [rows]
};

// Both in one buffer, so that one copy takes them away.
Drawn SliceDrawn(const Tensor& bytes, int64_t batch) {
  return {bytes.narrow(0, 0, 8 * batch).view(at::kLong),
          bytes.narrow(0, 8 * batch, 4 * batch).view(at::kFloat)};
}

// Memory of the host for one step under way.
struct Slot {
  Tensor inputs_bytes, drawn_bytes;  // pinned
  StepInputs inputs;
  Drawn drawn;
  c10::Event done{c10::DeviceType::CUDA};
};

// A step whose tokens have not been collected.
struct Pending {
  Slot* slot = nullptr;
  std::vector<int> num_alternatives;  // by row
  Tensor best_values, best_ids;       // undefined: no alternatives
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
  Tensor Norm(const Tensor& x, const Tensor& weight, double eps) const override {
    if (!x.is_contiguous() || !DecodeKernels::CanNorm(x.size(-1))) return {};
    Tensor out = at::empty_like(x);
    Check(kernels_.Norm(stream_.stream(), x.data_ptr(), weight.data_ptr(), static_cast<float>(eps),
                        out.data_ptr(), x.numel() / x.size(-1), x.size(-1)));
    return out;
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
  CudaExecutor(Transformer* model, Options options)
      : model_(*model),
        options_(std::move(options)),
        stream_(c10::cuda::getStreamFromPool(true, model->device().index())),
        guard_(stream_) {
    c10::cuda::device_synchronize();  // the weights were brought on another stream
    const weights::ModelConfig& config = model_.config();
    scale_ = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
    half_ = model_.dtype() != at::kFloat;
    // Flash attention wants head sizes in steps of 8.
    pad_ = half_ ? (8 - config.head_dim % 8) % 8 : 0;
    // The position behind the last is where rows without a request write.
    cache_ = at::zeros({config.num_layers, 2, options_.cache_tokens + 1, config.num_kv_heads,
                        config.head_dim + pad_},
                       at::TensorOptions().dtype(model_.dtype()).device(model_.device()));
    if (half_ && options_.own_kernels != OwnKernels::kNone) {
      const DecodeKernels::Shape shape{static_cast<int>(config.num_heads),
                                       static_cast<int>(config.num_kv_heads),
                                       static_cast<int>(config.head_dim)};
      auto kernels = DecodeKernels::Load(model_.device().index(), shape, NvrtcDirectories(),
                                         options_.own_kernels == OwnKernels::kOverlapped);
      if (kernels.ok()) {
        kernels_ = std::move(kernels).value();
        fused_ = std::make_unique<CudaFusedOps>(kernels_.get(), stream_);
        pass_.fused = fused_.get();
        note_ = "davinci";
        if (options_.own_kernels >= OwnKernels::kLayers) model->FoldNorms();
      } else {
        note_ = "aten (" + kernels.status().message() + ")";
      }
    }
    const auto bytes = at::TensorOptions().dtype(at::kByte);
    const int64_t batch = options_.max_batch;
    for (Slot& slot : slots_) {
      slot.inputs_bytes = at::zeros({SliceBytes(batch)}, bytes.pinned_memory(true));
      slot.inputs = Slice(slot.inputs_bytes, batch);
      slot.drawn_bytes = at::zeros({12 * batch}, bytes.pinned_memory(true));
      slot.drawn = SliceDrawn(slot.drawn_bytes, batch);
    }
    device_ = at::zeros({SliceBytes(batch)}, bytes.device(model_.device()));
    device_inputs_ = Slice(device_, batch);
    drawn_bytes_ = at::zeros({12 * batch}, bytes.device(model_.device()));
    drawn_ = SliceDrawn(drawn_bytes_, batch);
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
      TakeSlot();
      FillDraws(rows.subspan(begin, count));
      device_.copy_(slot_->inputs_bytes, true);
      std::vector<Step> part;
      Finish(Enqueue(logits.narrow(0, static_cast<int64_t>(begin), static_cast<int64_t>(count)),
                     rows.subspan(begin, count), false),
             &part);
      if (begin == 0) steps->clear();
      steps->insert(steps->end(), part.begin(), part.end());
    }
  }

  void Launch(std::span<const StepRow> rows) override {
    const auto count = static_cast<int64_t>(rows.size());
    const int bucket = BucketFor(static_cast<int>(count));
    TakeSlot();
    Captured& step = CaptureOf(bucket);
    std::vector<DrawRow> draws;
    draws.reserve(rows.size());
    for (const StepRow& row : rows) draws.push_back(row.draw);
    FillDraws(draws);
    FillRows(rows, bucket);
    device_.copy_(slot_->inputs_bytes, true);
    if (step.graph != nullptr)
      step.graph->replay();
    else
      Run(&step, bucket);
    pending_.push_back(Enqueue(step.logits.narrow(0, 0, count), draws, true));
  }

  void Collect(std::vector<Step>* steps) override {
    TORCH_CHECK(!pending_.empty(), "no step is under way");
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    Finish(pending, steps);
  }
  bool overlaps() const override { return true; }

  void CopyCache(int64_t from, int64_t to, int64_t count) override {
    cache_.narrow(2, to, count).copy_(cache_.narrow(2, from, count));
  }
  void Synchronize() override { stream_.synchronize(); }
  void WarmUp(const std::function<void()>& pause) override {
    std::set<int> wanted = {BucketFor(1), BucketFor(options_.max_batch)};
    for (const int bucket : kBuckets)
      if (bucket <= options_.max_batch && !options_.deterministic) wanted.insert(bucket);
    TakeSlot();
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
  };

  // The slot of the next step. Of three one is free: at most two steps are under way.
  void TakeSlot() { slot_ = &slots_[next_slot_++ % std::size(slots_)]; }

  Tensor Upload(const std::vector<int64_t>& values) const {
    return at::tensor(values, at::kLong).to(model_.device());
  }

  int BucketFor(int count) const {
    if (options_.deterministic) return options_.max_batch;
    for (const int bucket : kBuckets)
      if (bucket >= count) return std::min(bucket, options_.max_batch);
    return options_.max_batch;
  }

  void FillRows(std::span<const StepRow> rows, int64_t batch) {
    const StepInputs& in = slot_->inputs;
    FillStep(rows, batch, options_.cache_tokens,
             {in.tokens.data_ptr<int64_t>(), in.sources.data_ptr<int64_t>(),
              in.positions.data_ptr<int64_t>(), in.at.data_ptr<int64_t>(),
              in.starts.data_ptr<int32_t>(), in.lengths.data_ptr<int32_t>()});
  }

  void FillDraws(std::span<const DrawRow> rows) {
    auto* noise = slot_->inputs.noise.data_ptr<float>();
    auto* inverse = slot_->inputs.inverse_temperature.data_ptr<float>();
    auto* greedy = slot_->inputs.greedy.data_ptr<bool>();
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

  // The whole step from the device's inputs to drawn tokens without restrictions, in drawn_.
  void Run(Captured* step, int64_t batch) {
    DecodeAttention attention(*this, batch);
    const DecodeLayers layers(*this, batch);
    PassOptions pass = pass_;
    if (kernels_ != nullptr && options_.own_kernels >= OwnKernels::kLayers) pass.layers = &layers;
    const Tensor hidden =
        model_.Hidden(Tokens(batch), device_inputs_.positions.narrow(0, 0, batch), attention, pass);
    const Drawn into{drawn_.tokens.narrow(0, 0, batch), drawn_.logprobs.narrow(0, 0, batch)};
    if (kernels_ != nullptr) {
      step->logits = model_.RawLogits(hidden);
      DrawRows(step->logits, device_inputs_.inverse_temperature, into);
      return;
    }
    step->logits = model_.Logits(hidden);
    const Drawn drawn = DrawFrom(
        step->logits * device_inputs_.inverse_temperature.narrow(0, 0, batch).unsqueeze(1),
        device_inputs_.noise.narrow(0, 0, batch), device_inputs_.greedy.narrow(0, 0, batch));
    into.tokens.copy_(drawn.tokens);
    into.logprobs.copy_(drawn.logprobs);
  }

  // What goes in: drawn by the step before, or brought by the host.
  Tensor Tokens(int64_t batch) const {
    const Tensor sources = device_inputs_.sources.narrow(0, 0, batch);
    const Tensor tokens = device_inputs_.tokens.narrow(0, 0, batch);
    if (kernels_ != nullptr) {
      Tensor out = at::empty({batch}, tokens.options());
      Check(kernels_->Feed(
          stream_.stream(), tokens.const_data_ptr<int64_t>(), sources.const_data_ptr<int64_t>(),
          drawn_.tokens.const_data_ptr<int64_t>(), out.data_ptr<int64_t>(), batch));
      return out;
    }
    return at::where(sources >= 0, drawn_.tokens.index_select(0, sources.clamp_min(0)), tokens);
  }

  // One launch. `inverse`: what each row's logits are multiplied by.
  void DrawRows(const Tensor& logits, const Tensor& inverse, const Drawn& into) const {
    Check(kernels_->Draw(stream_.stream(), logits.data_ptr(), logits.scalar_type() != at::kFloat,
                         logits.size(0), logits.size(1), inverse.const_data_ptr<float>(),
                         device_inputs_.noise.const_data_ptr<float>(),
                         device_inputs_.greedy.const_data_ptr<bool>(),
                         into.tokens.data_ptr<int64_t>(), into.logprobs.data_ptr<float>()));
  }
  // From logits that are already scaled and restricted.
  void DrawScaled(const Tensor& scaled, const Drawn& into) const {
    const int64_t rows = scaled.size(0);
    if (kernels_ != nullptr) {
      DrawRows(scaled.contiguous(), at::ones({rows}, device_inputs_.noise.options()), into);
      return;
    }
    const Drawn drawn = DrawFrom(scaled, device_inputs_.noise.narrow(0, 0, rows),
                                 device_inputs_.greedy.narrow(0, 0, rows));
    into.tokens.copy_(drawn.tokens);
    into.logprobs.copy_(drawn.logprobs);
  }

  // Runs a step once without requests, which takes the slot's inputs.
  Captured& CaptureOf(int bucket) {
    if (const auto found = captured_.find(bucket); found != captured_.end()) return found->second;
    Captured& step = captured_[bucket];
    if (!half_) return step;  // the fallback of fp32 reads lengths on the host
    FillRows({}, bucket);
    device_.copy_(slot_->inputs_bytes, true);
    Run(&step, bucket);  // libraries initialise themselves
    stream_.synchronize();
    step.graph = std::make_unique<at::cuda::CUDAGraph>();
    step.graph->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    Run(&step, bucket);
    step.graph->capture_end();
    return step;
  }

  // Finishes the drawing of `rows` from `logits` and sends the tokens to the slot; `plain`: tokens
  // without restrictions are in drawn_ already.
  Pending Enqueue(const Tensor& logits, std::span<const DrawRow> rows, bool plain) {
    const auto count = static_cast<int64_t>(rows.size());
    const int64_t vocab = logits.size(1);
    Pending pending{slot_, {}, {}, {}};
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
      pending.num_alternatives.push_back(row.num_alternatives);
    }
    Tensor scaled;
    if (restricted || !plain || alternatives > 0)
      scaled = logits.to(at::kFloat) *
               device_inputs_.inverse_temperature.narrow(0, 0, count).unsqueeze(1);
    if (restricted) scaled = Restrict(scaled, rows, small ? std::min(kSmallTopK, vocab) : vocab);
    if (restricted || !plain)
      DrawScaled(scaled, {drawn_.tokens.narrow(0, 0, count), drawn_.logprobs.narrow(0, 0, count)});
    if (alternatives > 0)
      std::tie(pending.best_values, pending.best_ids) =
          at::topk(at::log_softmax(scaled, -1), std::min<int64_t>(alternatives, vocab));
    slot_->drawn_bytes.copy_(drawn_bytes_, true);
    slot_->done.record(stream_.unwrap());
    return pending;
  }

  void Finish(const Pending& pending, std::vector<Step>* steps) const {
    pending.slot->done.synchronize();
    const auto* tokens = pending.slot->drawn.tokens.const_data_ptr<int64_t>();
    const auto* logprobs = pending.slot->drawn.logprobs.const_data_ptr<float>();
    steps->assign(pending.num_alternatives.size(), Step());
    for (size_t i = 0; i < steps->size(); ++i) {
      (*steps)[i].token = static_cast<TokenId>(tokens[i]);
      (*steps)[i].logprob = logprobs[i];
    }
    if (!pending.best_ids.defined()) return;
    const Tensor values = pending.best_values.cpu();
    const Tensor ids = pending.best_ids.cpu();
    for (size_t i = 0; i < steps->size(); ++i)
      for (int64_t a = 0; a < pending.num_alternatives[i] && a < ids.size(1); ++a) {
        const auto at = static_cast<int64_t>(i) * ids.size(1) + a;
        const float value = values.const_data_ptr<float>()[at];
        if (value > -std::numeric_limits<float>::infinity())
          (*steps)[i].alternatives.emplace_back(
              static_cast<TokenId>(ids.const_data_ptr<int64_t>()[at]), value);
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
          starts.push_back(owner.slot_->inputs.starts.data_ptr<int32_t>()[i]);
          lengths.push_back(owner.slot_->inputs.lengths.data_ptr<int32_t>()[i]);
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

  // A layer of a step in five launches, where its products are small and the rows few.
  struct DecodeLayers final : LayerOps {
    DecodeLayers(const CudaExecutor& executor, int64_t rows) : owner(executor), batch(rows) {}

    bool Block(int64_t index, const Layer& layer, const Tensor& cos_sin, const Tensor& positions,
               Tensor* x) const override {
      const weights::ModelConfig& config = owner.model_.config();
      if (!owner.kernels_->can_attend()) return false;
      for (const Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
        if (!linear->low_rank.empty()) return false;
      const bool late = NormsLate(*x, layer.qkv, layer.qkv.weight.size(0));
      const Tensor qkv =
          late ? at::linear(*x, layer.qkv.weight) : NormLinear(*x, layer.input_norm, layer.qkv);
      const auto of = [](const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; };
      const StepInputs& in = owner.device_inputs_;
      const Tensor cache = owner.cache_.select(0, index);
      const Tensor seen = at::empty({batch, config.num_heads * config.head_dim}, x->options());
      Check(owner.kernels_->AttendWhole(
          owner.stream_.stream(), qkv.data_ptr(), late ? x->data_ptr() : nullptr, x->size(1),
          of(layer.q_norm), of(layer.k_norm), Eps(), cos_sin.const_data_ptr<float>(),
          positions.const_data_ptr<int64_t>(), cache.select(0, 0).data_ptr(),
          cache.select(0, 1).data_ptr(), in.starts.const_data_ptr<int32_t>(),
          in.lengths.const_data_ptr<int32_t>(), static_cast<float>(owner.scale_), seen.data_ptr(),
          batch));
      AddLinear(x, layer.o, seen);
      AddLinear(x, layer.down, NormGated(*x, layer.post_norm, layer.gate_up));
      return true;
    }

   private:
    float Eps() const { return static_cast<float>(owner.model_.config().rms_norm_eps); }
    bool Projects(const Linear& linear, int64_t width) const {
      return batch <= owner.options_.most_projected_rows &&
             linear.weight.numel() <= kMostProjectedWeights &&
             DecodeKernels::CanProject(width, linear.weight.size(1));
    }
    // Whether the product behind a norm takes x as it is: one of cuBLAS, whose results are
    // multiplied by the norm's factor where they are read. FoldNorms() has made the norm's weights
    // one.
    bool NormsLate(const Tensor& x, const Linear& linear, int64_t width) const {
      return !Projects(linear, width) && !linear.bias.defined() && x.size(1) % 8 == 0;
    }
    Tensor Project(const Tensor& x, const Tensor& norm, const Linear& linear, bool gate,
                   const Tensor& residual) const {
      DecodeKernels::Projection p;
      p.rows = batch;
      p.inner = linear.weight.size(1);
      p.width = linear.weight.size(0) / (gate ? 2 : 1);
      Tensor out = residual.defined() ? residual : at::empty({batch, p.width}, x.options());
      p.x = x.data_ptr();
      p.norm = norm.defined() ? norm.data_ptr() : nullptr;
      p.weight = linear.weight.data_ptr();
      p.bias = linear.bias.defined() ? linear.bias.data_ptr() : nullptr;
      p.residual = residual.defined() ? residual.data_ptr() : nullptr;
      p.out = out.data_ptr();
      p.eps = Eps();
      p.gate = gate;
      Check(owner.kernels_->Project(owner.stream_.stream(), p));
      return out;
    }
    Tensor Normed(const Tensor& x, const Tensor& weight) const {
      Tensor out = owner.fused_->Norm(x, weight, owner.model_.config().rms_norm_eps);
      return out.defined() ? out : at::rms_norm(x, {x.size(1)}, weight, Eps());
    }
    Tensor NormLinear(const Tensor& x, const Tensor& norm, const Linear& linear) const {
      if (Projects(linear, linear.weight.size(0))) return Project(x, norm, linear, false, {});
      return at::linear(Normed(x, norm), linear.weight, linear.bias);
    }
    Tensor NormGated(const Tensor& x, const Tensor& norm, const Linear& linear) const {
      const int64_t width = linear.weight.size(0) / 2;
      if (Projects(linear, width)) return Project(x, norm, linear, true, {});
      if (NormsLate(x, linear, width) && width % 8 == 0) {
        const Tensor both = at::linear(x, linear.weight);
        Tensor out = at::empty({batch, width}, x.options());
        Check(owner.kernels_->NormedGate(owner.stream_.stream(), both.data_ptr(), x.data_ptr(),
                                         x.size(1), Eps(), out.data_ptr(), batch, width));
        return out;
      }
      return owner.fused_->SiluMul(at::linear(Normed(x, norm), linear.weight, linear.bias));
    }
    // *x += linear(y)
    void AddLinear(Tensor* x, const Linear& linear, const Tensor& y) const {
      if (Projects(linear, linear.weight.size(0))) {
        Project(y, {}, linear, false, *x);
      } else if (linear.bias.defined()) {
        x->add_(at::linear(y, linear.weight, linear.bias));
      } else {
        x->addmm_(y, linear.weight.t());
      }
    }

    const CudaExecutor& owner;
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
  Slot slots_[3];
  Slot* slot_ = nullptr;  // of the step that is being made
  size_t next_slot_ = 0;
  std::deque<Pending> pending_;  // oldest first
  Tensor device_, drawn_bytes_;
  StepInputs device_inputs_;
  Drawn drawn_;  // of the latest step: views of drawn_bytes_
  Tensor query_borders_;
  at::cuda::MempoolId_t pool_;
  std::map<int, Captured> captured_;
};

}  // namespace

void ReturnCudaMemory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

Result<std::unique_ptr<Executor>> MakeCudaExecutor(Transformer* model, Executor::Options options) {
  return std::unique_ptr<Executor>(std::make_unique<CudaExecutor>(model, std::move(options)));
}

#endif

}  // namespace davinci::model
