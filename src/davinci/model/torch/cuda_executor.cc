#include <deque>
#include <limits>
#include <map>
#include <set>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/draw.h"
#include "davinci/model/torch/cuda_cache.h"
#include "davinci/model/torch/cuda_layers.h"
#include "davinci/model/torch/cuda_sampler.h"
#include "davinci/model/torch/cuda_step.h"
#include "davinci/model/torch/executor.h"
#include "davinci/model/torch/forward.h"
#include "davinci/model/torch/nvrtc_directories.h"

namespace davinci::model {

#ifndef DAVINCI_TORCH_CUDA

Result<std::unique_ptr<Executor>> MakeCudaExecutor(Weights*, Executor::Options) {
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
  std::vector<int> num_alternatives;       // by row
  CudaSampler::Alternatives alternatives;  // on the host
};

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(Weights* weights, Options options)
      : weights_(*weights),
        options_(std::move(options)),
        stream_(c10::cuda::getStreamFromPool(true, weights->device.index())),
        guard_(stream_) {
    c10::cuda::device_synchronize();  // the weights were brought on another stream
    if (weights_.dtype != at::kFloat && options_.own_kernels != OwnKernels::kNone) {
      const weights::ModelConfig& config = weights_.config;
      const DecodeKernels::Shape shape{static_cast<int>(config.num_heads),
                                       static_cast<int>(config.num_kv_heads),
                                       static_cast<int>(config.head_dim)};
      auto kernels = DecodeKernels::Load(weights_.device.index(), shape, NvrtcDirectories(),
                                         options_.own_kernels == OwnKernels::kOverlapped);
      if (kernels.ok()) {
        kernels_ = std::move(kernels).value();
        fused_ = std::make_unique<CudaFusedOps>(kernels_.get(), stream_.stream());
        pass_.fused = fused_.get();
        note_ = "davinci";
        if (options_.own_kernels >= OwnKernels::kLayers) FoldNorms(weights);
      } else {
        note_ = "aten (" + kernels.status().message() + ")";
      }
    }
    cache_.emplace(weights_, options_.cache_tokens, kernels_.get(), stream_.stream());
    const auto bytes = at::TensorOptions().dtype(at::kByte);
    const int64_t batch = options_.max_batch;
    for (Slot& slot : slots_) {
      slot.inputs_bytes = at::zeros({StepInputs::NumBytes(batch)}, bytes.pinned_memory(true));
      slot.inputs = StepInputs::Slice(slot.inputs_bytes, batch);
      slot.drawn_bytes = at::zeros({Drawn::NumBytes(batch)}, bytes.pinned_memory(true));
      slot.drawn = Drawn::Slice(slot.drawn_bytes, batch);
    }
    device_ = at::zeros({StepInputs::NumBytes(batch)}, bytes.device(weights_.device));
    device_inputs_ = StepInputs::Slice(device_, batch);
    drawn_bytes_ = at::zeros({Drawn::NumBytes(batch)}, bytes.device(weights_.device));
    drawn_ = Drawn::Slice(drawn_bytes_, batch);
    sampler_.emplace(kernels_.get(), stream_.stream(), device_inputs_, drawn_);
    // The batch is [0, 1, …]: one query each.
    query_borders_ = at::arange(options_.max_batch + 1, device_inputs_.starts.options());
    pool_ = at::cuda::graph_pool_handle();
  }

  Tensor Prefill(std::span<const Chunk> chunks) override {
    std::vector<int64_t> tokens, positions, at, last;
    for (const Chunk& chunk : chunks) {
      for (size_t i = 0; i < chunk.tokens.size(); ++i) {
        tokens.push_back(chunk.tokens[i]);
        positions.push_back(chunk.position + static_cast<int64_t>(i));
        at.push_back(chunk.start + positions.back());
      }
      if (chunk.last) last.push_back(static_cast<int64_t>(tokens.size()) - 1);
    }
    PrefillAttention attention(&*cache_, chunks, Upload(at));
    const Forward forward(weights_, pass_);
    const Tensor hidden = forward.Hidden(Upload(tokens), Upload(positions), attention);
    if (last.empty()) return {};
    return forward.Logits(hidden.index_select(0, Upload(last)));
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
    cache_->Copy(from, to, count);
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
  int64_t cache_bytes() const override { return cache_->bytes(); }

 private:
  struct Captured {
    std::unique_ptr<at::cuda::CUDAGraph> graph;
    Tensor logits;
  };

  // The slot of the next step. Of three one is free: at most two steps are under way.
  void TakeSlot() { slot_ = &slots_[next_slot_++ % std::size(slots_)]; }

  Tensor Upload(const std::vector<int64_t>& values) const {
    return at::tensor(values, at::kLong).to(weights_.device);
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
    auto* top_k = slot_->inputs.top_k.data_ptr<int64_t>();
    auto* top_p = slot_->inputs.top_p.data_ptr<float>();
    auto* min_p = slot_->inputs.min_p.data_ptr<float>();
    auto* greedy = slot_->inputs.greedy.data_ptr<bool>();
    Sampling none;
    none.temperature = 0;
    for (int64_t i = 0; i < options_.max_batch; ++i) {
      const DrawRow row =
          i < static_cast<int64_t>(rows.size()) ? rows[static_cast<size_t>(i)] : DrawRow{&none};
      const Sampling& s = *row.sampling;
      greedy[i] = s.temperature <= 0;
      inverse[i] = greedy[i] ? 1.0F : static_cast<float>(1.0 / s.temperature);
      noise[i] = Noise(s.seed, row.position);
      top_k[i] = greedy[i] || s.top_k <= 0 ? std::numeric_limits<int64_t>::max() : s.top_k;
      top_p[i] = greedy[i] ? 1.0F : static_cast<float>(s.top_p);
      min_p[i] = greedy[i] ? 0.0F : static_cast<float>(s.min_p);
    }
  }

  // The whole step from the device's inputs to drawn tokens without restrictions, in drawn_.
  void Run(Captured* step, int64_t batch) {
    DecodeAttention attention(&*cache_, device_inputs_, slot_->inputs, batch, query_borders_,
                              options_.max_context);
    const DecodeLayers layers({&weights_.config, kernels_.get(), fused_.get(), &*cache_,
                               &device_inputs_, stream_.stream(), options_.most_projected_rows},
                              batch);
    PassOptions pass = pass_;
    if (kernels_ != nullptr && options_.own_kernels >= OwnKernels::kLayers) pass.layers = &layers;
    const Forward forward(weights_, pass);
    const Tensor hidden =
        forward.Hidden(Tokens(batch), device_inputs_.positions.narrow(0, 0, batch), attention);
    step->logits = kernels_ != nullptr ? forward.RawLogits(hidden) : forward.Logits(hidden);
    sampler_->DrawUnrestricted(step->logits);
  }

  // What goes in: drawn by the step before, or brought by the host.
  Tensor Tokens(int64_t batch) const {
    const Tensor sources = device_inputs_.sources.narrow(0, 0, batch);
    const Tensor tokens = device_inputs_.tokens.narrow(0, 0, batch);
    if (kernels_ != nullptr) {
      Tensor out = at::empty({batch}, tokens.options());
      CheckLaunch(kernels_->Feed(
          stream_.stream(), tokens.const_data_ptr<int64_t>(), sources.const_data_ptr<int64_t>(),
          drawn_.tokens.const_data_ptr<int64_t>(), out.data_ptr<int64_t>(), batch));
      return out;
    }
    return at::where(sources >= 0, drawn_.tokens.index_select(0, sources.clamp_min(0)), tokens);
  }

  // Runs a step once without requests, which takes the slot's inputs.
  Captured& CaptureOf(int bucket) {
    if (const auto found = captured_.find(bucket); found != captured_.end()) return found->second;
    Captured& step = captured_[bucket];
    if (!cache_->half()) return step;  // its attention of fp32 reads lengths on the host
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

  // Finishes the drawing of `rows` from `logits` and sends the tokens to the slot; `drawn`: those
  // without restrictions are in drawn_ already.
  Pending Enqueue(const Tensor& logits, std::span<const DrawRow> rows, bool drawn) {
    Pending pending{slot_, {}, sampler_->Finish(logits, rows, drawn)};
    // Copied here: a copy behind the next step would wait for that.
    for (Tensor* part : {&pending.alternatives.logprobs, &pending.alternatives.ids}) {
      if (!part->defined()) continue;
      Tensor host =
          at::empty(part->sizes(), at::TensorOptions().dtype(part->dtype()).pinned_memory(true));
      host.copy_(*part, true);
      *part = std::move(host);
    }
    for (const DrawRow& row : rows) pending.num_alternatives.push_back(row.num_alternatives);
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
    if (!pending.alternatives.ids.defined()) return;
    const Tensor& values = pending.alternatives.logprobs;
    const Tensor& ids = pending.alternatives.ids;
    for (size_t i = 0; i < steps->size(); ++i)
      for (int64_t a = 0; a < pending.num_alternatives[i] && a < ids.size(1); ++a) {
        const auto at = static_cast<int64_t>(i) * ids.size(1) + a;
        const float value = values.const_data_ptr<float>()[at];
        if (value > -std::numeric_limits<float>::infinity())
          (*steps)[i].alternatives.emplace_back(
              static_cast<TokenId>(ids.const_data_ptr<int64_t>()[at]), value);
      }
  }

  const Weights& weights_;
  const Options options_;
  const c10::cuda::CUDAStream stream_;
  const c10::cuda::CUDAStreamGuard guard_;  // of the thread that made this
  std::unique_ptr<DecodeKernels> kernels_;  // null: ATen alone; outlives captured_
  std::unique_ptr<CudaFusedOps> fused_;
  PassOptions pass_;
  std::string note_ = "aten";
  std::optional<CudaCache> cache_;
  std::optional<CudaSampler> sampler_;
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

Result<std::unique_ptr<Executor>> MakeCudaExecutor(Weights* weights, Executor::Options options) {
  return std::unique_ptr<Executor>(std::make_unique<CudaExecutor>(weights, std::move(options)));
}

#endif

}  // namespace davinci::model
