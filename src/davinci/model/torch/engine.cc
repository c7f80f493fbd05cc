#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "davinci/model/library_abi.h"
#include "davinci/model/segment_pool.h"
#include "davinci/model/torch/executor.h"

namespace davinci::model {
namespace {

using at::Tensor;
using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// Positions at which prompts are cut; on the CPU also the most rows of one pass.
constexpr int64_t kChunk = 64;

// A call of Generate(). The engine's thread owns it from Submit to `done`.
struct Request {
  Generation generation;
  Answer answer;
  Status status;
  Clock::time_point submitted = Clock::now();
  bool done = false;  // guarded by the engine's mutex
  // Of its own: an end that woke all who wait would cost a full batch the square of its size.
  std::condition_variable ended;

  SegmentPool::Segment* segment = nullptr;
  bool begun = false;        // the prompt
  int64_t num_computed = 0;  // of the prompt
  int64_t max_tokens = 0;    // of the answer
  bool decoding = false;
  TokenId latest = 0;

  int64_t prompt_size() const { return static_cast<int64_t>(generation.prompt.size()); }
  DrawRow NextDraw() const {
    return {&generation.sampling, prompt_size() + static_cast<int64_t>(answer.tokens.size()),
            generation.num_alternatives};
  }
};

class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineOptions options, weights::ModelConfig config)
      : options_(std::move(options)), config_(std::move(config)) {}

  ~EngineImpl() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Status Start() {
    thread_ = std::thread([this] { Main(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_; });
    return start_status_;
  }

  Result<Answer> Generate(Generation generation) override {
    DAVINCI_RETURN_IF_ERROR(Check(generation));
    Request request;
    request.generation = std::move(generation);
    request.max_tokens = std::min<int64_t>(request.generation.max_tokens,
                                           facts_.max_context - request.prompt_size());
    const CancelCallback on_cancel(request.generation.cancel, [this] {
      { const std::lock_guard lock(mutex_); }
      wake_.notify_all();
    });
    std::unique_lock lock(mutex_);
    if (stopping_) return Cancelled("the model is being closed");
    waiting_.push_back(&request);
    wake_.notify_all();
    request.ended.wait(lock, [&] { return request.done; });
    if (!request.status.ok()) return request.status;
    return std::move(request.answer);
  }

  Result<std::vector<float>> Score(std::span<const TokenId> tokens) override {
    if (tokens.size() < 2) return InvalidArgument("a score needs two tokens or more");
    std::vector<float> scores;
    const std::vector<TokenId> copy(tokens.begin(), tokens.end());
    DAVINCI_RETURN_IF_ERROR(RunJob(copy, [&](const Tensor& logits) {
      const auto rows = static_cast<int64_t>(copy.size()) - 1;
      Tensor next = at::empty({rows}, at::kLong);
      std::copy(copy.begin() + 1, copy.end(), next.data_ptr<int64_t>());
      const Tensor picked = at::log_softmax(logits.narrow(0, 0, rows), -1)
                                .gather(1, next.to(logits.device()).unsqueeze(1))
                                .to(at::kCPU)
                                .contiguous();
      scores.assign(picked.data_ptr<float>(), picked.data_ptr<float>() + rows);
    }));
    return scores;
  }

  Result<std::vector<float>> Logits(std::span<const TokenId> tokens) override {
    std::vector<float> all;
    const std::vector<TokenId> copy(tokens.begin(), tokens.end());
    DAVINCI_RETURN_IF_ERROR(RunJob(copy, [&](const Tensor& logits) {
      const Tensor host = logits.to(at::kCPU).contiguous();
      all.assign(host.data_ptr<float>(), host.data_ptr<float>() + host.numel());
    }));
    return all;
  }

  EngineFacts Facts() const override {
    const std::lock_guard lock(mutex_);
    return facts_;
  }
  EngineCounters Counters() const override {
    const std::lock_guard lock(mutex_);
    EngineCounters counters = counters_;
    counters.waiting = static_cast<int>(waiting_.size());
    counters.running = num_running_;
    return counters;
  }

 private:
  struct Job {
    std::function<void()> work;
    Status status;
    bool done = false;
  };

  Status Check(const Generation& generation) const {
    const Sampling& s = generation.sampling;
    if (generation.prompt.empty()) return InvalidArgument("the prompt is empty");
    DAVINCI_RETURN_IF_ERROR(CheckTokens(generation.prompt));
    if (static_cast<int64_t>(generation.prompt.size()) >= facts_.max_context)
      return InvalidArgument(fmt::format("the prompt has {} tokens, the context ends at {}",
                                         generation.prompt.size(), facts_.max_context));
    const int64_t cells = std::min<int64_t>(
        static_cast<int64_t>(generation.prompt.size()) + std::max(generation.max_tokens, 0),
        facts_.max_context);
    if (cells > facts_.cache_tokens)
      return InvalidArgument(fmt::format(
          "prompt and answer may take {} tokens, the cache has {}; lower max_tokens or raise "
          "cache_tokens",
          cells, facts_.cache_tokens));
    if (generation.max_tokens < 1) return InvalidArgument("max_tokens must be positive");
    if (!(s.temperature >= 0 && s.temperature <= 100))
      return InvalidArgument("temperature must lie in 0 … 100");
    if (!(s.top_p > 0 && s.top_p <= 1)) return InvalidArgument("top_p must lie in (0, 1]");
    if (!(s.min_p >= 0 && s.min_p <= 1)) return InvalidArgument("min_p must lie in 0 … 1");
    if (s.top_k < 0) return InvalidArgument("top_k must not be negative");
    if (generation.num_alternatives < 0 || generation.num_alternatives > 20)
      return InvalidArgument("the number of alternatives must lie in 0 … 20");
    return Status::Ok();
  }
  Status CheckTokens(std::span<const TokenId> tokens) const {
    for (const TokenId token : tokens)
      if (token < 0 || token >= config_.vocab_size)
        return InvalidArgument(
            fmt::format("token {} is outside the vocabulary of {}", token, config_.vocab_size));
    return Status::Ok();
  }

  // Logits of a whole text, without cache, on the engine's thread.
  Status RunJob(const std::vector<TokenId>& tokens, const std::function<void(const Tensor&)>& use) {
    if (tokens.empty()) return InvalidArgument("the text is empty");
    DAVINCI_RETURN_IF_ERROR(CheckTokens(tokens));
    if (static_cast<int64_t>(tokens.size()) > facts_.max_context)
      return InvalidArgument(fmt::format("the text has {} tokens, the context ends at {}",
                                         tokens.size(), facts_.max_context));
    Job job;
    job.work = [&] {
      const auto count = static_cast<int64_t>(tokens.size());
      Tensor ids = at::empty({count}, at::kLong);
      std::copy(tokens.begin(), tokens.end(), ids.data_ptr<int64_t>());
      const auto attention = PackedCausal(config_, {0, count}, model_->device());
      PassOptions pass;
      if (model_->device().is_cpu()) pass.between_layers = [this] { GiveWay(); };
      use(model_->Logits(model_->Hidden(ids.to(model_->device()),
                                        at::arange(count).to(model_->device()), *attention, pass),
                         pass));
    };
    std::unique_lock lock(mutex_);
    if (stopping_) return Cancelled("the model is being closed");
    jobs_.push_back(&job);
    wake_.notify_all();
    changed_.wait(lock, [&] { return job.done; });
    return job.status;
  }

  // --- the engine's thread ---

  void Main() {
    at::init_num_threads();
    c10::InferenceMode inference;
    const Status opened = Guarded([&] { return Open(); });
    {
      const std::lock_guard lock(mutex_);
      start_status_ = opened;
      started_ = true;
    }
    changed_.notify_all();
    if (opened.ok()) Loop();
    Leave();
    Close();
  }

  template <typename F>
  Status Guarded(const F& work) {
    try {
      return work();
    } catch (const c10::OutOfMemoryError& error) {
      return ResourceExhausted(fmt::format("{} has no memory left for the model: {}", facts_.device,
                                           FirstLine(error.what_without_backtrace())));
    } catch (const c10::Error& error) {
      return Internal(FirstLine(error.what_without_backtrace()));
    } catch (const std::bad_alloc&) {
      return ResourceExhausted("no memory left for the model");
    } catch (const std::exception& error) {
      return Internal(FirstLine(error.what()));
    }
  }
  static std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

  Status Open();
  Status OpenMemory();
  void Close() {
    executor_.reset();
    pool_.reset();
    model_.reset();
    booking_.reset();
  }

  void Loop() {
    while (true) {
      std::vector<Job*> jobs;
      {
        std::unique_lock lock(mutex_);
        const auto has_work = [&] { return stopping_ || !waiting_.empty() || !jobs_.empty(); };
        if (running_.empty() && !has_work()) {
          lock.unlock();
          Leave();
          lock.lock();
          if (options_.idle_release_s >= 0 && model_ != nullptr) {
            const auto limit = std::chrono::duration<double>(options_.idle_release_s);
            if (!wake_.wait_for(lock, limit, has_work)) {
              lock.unlock();
              Close();
              lock.lock();
            }
          }
          wake_.wait(lock, has_work);
        }
        if (stopping_) break;
        jobs.assign(jobs_.begin(), jobs_.end());
        jobs_.clear();
      }
      const Status ready = model_ != nullptr ? Status::Ok() : Guarded([&] { return OpenMemory(); });
      Take();
      for (Job* job : jobs) {
        job->status = ready.ok() ? Guarded([&] {
          job->work();
          return Status::Ok();
        })
                                 : ready;
        Finish([&] { job->done = true; });
      }
      const Status worked = ready.ok() ? Guarded([&] {
        Round();
        return Status::Ok();
      })
                                       : ready;
      if (!worked.ok()) FailAll(worked);
      GiveWay();
    }
    FailAll(Cancelled("the model is being closed"));
    std::unique_lock lock(mutex_);
    for (Job* job : jobs_) {
      job->status = Cancelled("the model is being closed");
      job->done = true;
    }
    jobs_.clear();
    lock.unlock();
    changed_.notify_all();
  }

  template <typename F>
  void Finish(const F& change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  void FailAll(const Status& status) {
    if (pool_ != nullptr) pool_->Clear();
    {
      const std::lock_guard lock(mutex_);
      for (Request* request : running_) waiting_.push_back(request);
      for (Request* request : waiting_) {
        request->status = status;
        ++counters_.requests;
        End(request);
      }
      waiting_.clear();
      num_running_ = 0;
    }
    running_.clear();
  }

  // One turn of the wheel: places for those who wait, some of the prompts, a step for the rest.
  void Round() {
    Admit();
    // Prompts come first, because a fuller batch is a cheaper one; but not for ever.
    const int most = on_cpu() ? 2 : 4;
    for (int i = 0; i < most && PrefillSome(); ++i) GiveWay();
    DecodeOnce();
  }

  void Admit() {
    std::vector<Request*> cancelled;
    {
      const std::lock_guard lock(mutex_);
      for (auto at = waiting_.begin(); at != waiting_.end();) {
        Request* request = *at;
        if (request->generation.cancel.stop_requested()) {
          cancelled.push_back(request);
          at = waiting_.erase(at);
          continue;
        }
        ++at;
      }
      while (!waiting_.empty() && static_cast<int>(running_.size()) < facts_.max_batch) {
        Request* request = waiting_.front();
        request->segment = pool_->Allocate(request->prompt_size() + request->max_tokens);
        if (request->segment == nullptr) break;  // room comes with the end of another
        waiting_.pop_front();
        running_.push_back(request);
      }
      num_running_ = static_cast<int>(running_.size());
    }
    for (Request* request : cancelled) Complete(request, Cancelled("cancelled"));
    const std::vector<Request*> now = running_;
    for (Request* request : now)
      if (request->generation.cancel.stop_requested()) Complete(request, Cancelled("cancelled"));
  }

  bool on_cpu() const { return model_->device().is_cpu(); }

  // Whether `request` had better wait: another one is computing more of its prompt than there is.
  bool SharesWithRunning(const Request& request, int64_t available) const {
    const std::vector<TokenId>& prompt = request.generation.prompt;
    for (const Request* other : running_) {
      if (other == &request || !other->begun || other->decoding) continue;
      const std::vector<TokenId>& ahead = other->generation.prompt;
      const size_t most = std::min(prompt.size() - 1, ahead.size());
      const auto end = prompt.begin() + static_cast<int64_t>(most);
      const int64_t common =
          std::mismatch(prompt.begin(), end, ahead.begin()).first - prompt.begin();
      if (Shareable(common, other->prompt_size()) >= available + kChunk) return true;
    }
    return false;
  }
  // Of `computed` positions, those that are bit by bit what another request would compute.
  int64_t Shareable(int64_t computed, int64_t prompt_size) const {
    return facts_.deterministic ? std::min(computed, prompt_size) / kChunk * kChunk : computed;
  }

  void Begin(Request* request, const SegmentPool::Match& match) {
    request->begun = true;
    request->answer.queue_s = Seconds(request->submitted);
    int64_t shared = match.length;
    if (facts_.deterministic) shared = shared / kChunk * kChunk;
    const std::vector<TokenId>& prompt = request->generation.prompt;
    if (shared > 0) {
      executor_->CopyCache(match.segment->start, request->segment->start, shared);
      Extend(request, {prompt.begin(), prompt.begin() + shared});
    }
    request->num_computed = shared;
    request->answer.num_shared_prompt_tokens = static_cast<int>(shared);
    const std::lock_guard lock(mutex_);
    counters_.shared_prompt_tokens += shared;
  }

  void Extend(Request* request, std::vector<TokenId> tokens) {
    SegmentPool::Segment& segment = *request->segment;
    segment.tokens.insert(segment.tokens.end(), tokens.begin(), tokens.end());
    segment.num_shareable =
        Shareable(static_cast<int64_t>(segment.tokens.size()), request->prompt_size());
  }

  // One pass over prompts that are not computed yet. False: there are none.
  bool PrefillSome() {
    std::vector<Request*> requests;
    std::vector<Chunk> chunks;
    int64_t room = facts_.deterministic ? kChunk : prefill_tokens_;
    for (Request* request : running_) {
      if (request->decoding || room <= 0) continue;
      const std::vector<TokenId>& prompt = request->generation.prompt;
      if (!request->begun) {
        const SegmentPool::Match match = pool_->LongestPrefix(prompt, request->prompt_size() - 1);
        if (SharesWithRunning(*request, match.length)) continue;
        Begin(request, match);
      }
      const int64_t left = request->prompt_size() - request->num_computed;
      const int64_t count = std::min(left, room);
      chunks.push_back({std::span(prompt).subspan(static_cast<size_t>(request->num_computed),
                                                  static_cast<size_t>(count)),
                        request->num_computed, request->segment->start, count == left});
      requests.push_back(request);
      room -= count;
      if (facts_.deterministic) break;  // alone: the shape of a pass depends on one prompt only
    }
    if (chunks.empty()) return false;
    const Tensor logits = executor_->Prefill(chunks);
    std::vector<Request*> ready;
    std::vector<DrawRow> draws;
    int64_t num_computed = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      Request* request = requests[i];
      num_computed += static_cast<int64_t>(chunks[i].tokens.size());
      request->num_computed += static_cast<int64_t>(chunks[i].tokens.size());
      Extend(request, {chunks[i].tokens.begin(), chunks[i].tokens.end()});
      if (!chunks[i].last) continue;
      ready.push_back(request);
      draws.push_back(request->NextDraw());
    }
    {
      const std::lock_guard lock(mutex_);
      counters_.prompt_tokens += num_computed;
    }
    if (ready.empty()) {
      executor_->Synchronize();
      return true;
    }
    std::vector<Step> steps;
    executor_->Draw(logits, draws, &steps);
    for (size_t i = 0; i < ready.size(); ++i) {
      ready[i]->decoding = true;
      ready[i]->answer.first_token_s = Seconds(ready[i]->submitted);
      Accept(ready[i], steps[i]);
    }
    return true;
  }

  void DecodeOnce() {
    std::vector<Request*> requests;
    std::vector<StepRow> rows;
    for (Request* request : running_) {
      if (!request->decoding) continue;
      const DrawRow draw = request->NextDraw();
      rows.push_back({request->latest, draw.position - 1, request->segment->start, draw});
      requests.push_back(request);
    }
    if (rows.empty()) return;
    std::vector<Step> steps;
    executor_->Decode(rows, &steps);
    {
      const std::lock_guard lock(mutex_);
      ++counters_.decode_steps;
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      Extend(requests[i], {rows[i].token});
      Accept(requests[i], steps[i]);
    }
  }

  // A new token of `request`.
  void Accept(Request* request, const Step& step) {
    Answer& answer = request->answer;
    const Generation& generation = request->generation;
    answer.tokens.push_back(step.token);
    answer.logprobs.push_back(step.logprob);
    request->latest = step.token;
    const bool more = !generation.on_step || generation.on_step(step);
    const bool stop = std::find(generation.stop_tokens.begin(), generation.stop_tokens.end(),
                                step.token) != generation.stop_tokens.end();
    if (stop)
      answer.end = EndOfAnswer::kStopToken;
    else if (!more)
      answer.end = EndOfAnswer::kCaller;
    else if (static_cast<int64_t>(answer.tokens.size()) >= request->max_tokens)
      answer.end = EndOfAnswer::kLength;
    else
      return;
    Complete(request, Status::Ok());
  }

  void Complete(Request* request, Status status) {
    if (request->segment != nullptr) pool_->Release(request->segment);
    std::erase(running_, request);
    const std::lock_guard lock(mutex_);
    ++counters_.requests;
    if (status.code() == StatusCode::kCancelled) ++counters_.cancelled;
    counters_.generated_tokens += static_cast<int64_t>(request->answer.tokens.size());
    num_running_ = static_cast<int>(running_.size());
    request->status = std::move(status);
    End(request);
  }
  // With mutex_ held: the caller may be gone as soon as it is free.
  static void End(Request* request) {
    request->done = true;
    request->ended.notify_one();
  }

  void Take() {
    if (turn_ == nullptr || holding_) return;
    turn_->Take();
    holding_ = true;
    held_since_ = Clock::now();
  }
  void Leave() {
    if (!holding_) return;
    if (executor_ != nullptr) executor_->Synchronize();
    const double held_ms = Seconds(held_since_) * 1e3;
    turn_->Leave();
    holding_ = false;
    const std::lock_guard lock(mutex_);
    counters_.longest_hold_ms = std::max(counters_.longest_hold_ms, held_ms);
  }
  void GiveWay() {
    if (!holding_) return;
    if (Seconds(held_since_) * 1e3 < options_.max_hold_ms * give_way_share_ && !turn_->IsWanted())
      return;
    Leave();
    Take();
  }

  const EngineOptions options_;
  const weights::ModelConfig config_;
  at::ScalarType dtype_ = at::kFloat;
  at::Device device_{at::kCPU};

  // The engine's thread only.
  std::unique_ptr<Transformer> model_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<SegmentPool> pool_;
  std::shared_ptr<void> booking_;
  std::shared_ptr<DeviceTurn> turn_;
  std::vector<Request*> running_;
  int64_t prefill_tokens_ = kChunk;
  bool holding_ = false;
  Clock::time_point held_since_;
  // Of max_hold_ms: what was begun before this ends before the limit. On the CPU other processes
  // check their candidates on the same cores, and half a layer may take ten times as long.
  double give_way_share_ = 0.7;

  mutable std::mutex mutex_;
  std::condition_variable wake_;     // of the engine's thread
  std::condition_variable changed_;  // of those who wait for a job or the start
  std::deque<Request*> waiting_;     // guarded by mutex_, as all below
  std::deque<Job*> jobs_;
  bool stopping_ = false;
  bool started_ = false;
  Status start_status_;
  EngineFacts facts_;  // written once, before started_
  EngineCounters counters_;
  int num_running_ = 0;
  std::thread thread_;
};

int64_t NumParameters(const weights::ModelConfig& config) {
  int64_t sum = 0;
  for (const weights::TensorShape& tensor : weights::TensorShapes(config)) {
    int64_t size = 1;
    for (const int64_t dimension : tensor.shape) size *= dimension;
    sum += size;
  }
  return sum;
}

Status EngineImpl::Open() {
  std::string device = options_.device.empty() ? "auto" : options_.device;
  if (device == "auto") device = at::hasCUDA() ? "cuda" : "cpu";
  if (device == "cpu") {
    device_ = at::Device(at::kCPU);
  } else if (device.starts_with("cuda")) {
#ifdef DAVINCI_TORCH_CUDA
    if (!at::hasCUDA() || c10::cuda::device_count() == 0)
      return FailedPrecondition("there is no CUDA device; use --device cpu");
#endif
    device_ = at::Device(device);
    if (!device_.has_index()) device_.set_index(0);
  } else {
    return InvalidArgument(fmt::format("device \"{}\": cpu, cuda or cuda:N", device));
  }
  const bool cpu = device_.is_cpu();
  if (cpu && options_.threads > 0) at::set_num_threads(options_.threads);
  switch (options_.dtype) {
    case Dtype::kFloat32:
      dtype_ = at::kFloat;
      break;
    case Dtype::kBfloat16:
      dtype_ = at::kBFloat16;
      break;
    case Dtype::kAuto:
      dtype_ = !cpu || config_.stored_dtype == weights::DType::kBF16 ? at::kBFloat16 : at::kFloat;
      break;
  }
  facts_.device = cpu ? "cpu" : device_.str();
  facts_.dtype = dtype_ == at::kFloat ? "fp32" : "bf16";
  facts_.deterministic = options_.deterministic < 0 ? cpu : options_.deterministic != 0;
  facts_.max_batch = options_.max_batch > 0 ? options_.max_batch : cpu ? 8 : 64;
  int64_t context = config_.max_positions;
  // Beyond, every key would have to be turned again.
  if (config_.rope_scaling.kind == weights::RopeScaling::Kind::kDynamic)
    context = std::min(context, config_.rope_scaling.original_max_positions);
  if (options_.max_context > 0) {
    if (options_.max_context > context)
      return InvalidArgument(fmt::format("max_context {} exceeds the model's {} positions",
                                         options_.max_context, context));
    context = options_.max_context;
  }
  facts_.max_context = static_cast<int>(context);
  facts_.cache_tokens =
      options_.cache_tokens > 0
          ? options_.cache_tokens
          : std::max(context, facts_.max_batch * std::min<int64_t>(2048, context));
  facts_.vocab = config_.vocab_size;
  facts_.parameters = NumParameters(config_);
  facts_.weight_bytes = facts_.parameters * static_cast<int64_t>(c10::elementSize(dtype_));
  facts_.cache_bytes = 2 * config_.num_layers * facts_.cache_tokens * config_.num_kv_heads *
                       config_.head_dim * static_cast<int64_t>(c10::elementSize(dtype_));
  facts_.model = fmt::format("{} {} layers, {} wide, {:.3g} M parameters",
                             weights::FamilyName(config_.family), config_.num_layers,
                             config_.hidden_size, static_cast<double>(facts_.parameters) / 1e6);
  if (cpu) {
    give_way_share_ = 0.2;
    prefill_tokens_ = kChunk;
  } else {
    // A pass is over within 25 ms at 200 TFLOP/s.
    const double tokens = 0.025 * 200e12 / (2.0 * static_cast<double>(facts_.parameters));
    prefill_tokens_ = std::clamp<int64_t>(static_cast<int64_t>(tokens), 128, 8192);
  }
  if (options_.open_turn) {
    DAVINCI_ASSIGN_OR_RETURN(turn_, options_.open_turn(facts_.device));
  }
  return OpenMemory();
}

Status EngineImpl::OpenMemory() {
  if (options_.book_memory) {
    DAVINCI_ASSIGN_OR_RETURN(
        booking_, options_.book_memory(facts_.device, facts_.weight_bytes + facts_.cache_bytes));
  }
  if (options_.random_weights) {
    if (!options_.lora_dir.empty())
      return InvalidArgument("random weights take no adapter (lora_dir)");
    model_ = Transformer::Random(config_, device_, dtype_);
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const weights::TensorFile file,
                             weights::TensorFile::Open(options_.model_dir));
    std::optional<weights::LoraAdapter> adapter;
    if (!options_.lora_dir.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(adapter, weights::LoadLoraAdapter(options_.lora_dir));
    }
    DAVINCI_ASSIGN_OR_RETURN(
        model_, Transformer::Load(config_, file, device_, dtype_, adapter ? &*adapter : nullptr));
  }
  model_->ReservePositions(facts_.max_context);
  pool_ = std::make_unique<SegmentPool>(facts_.cache_tokens);
  Executor::Options options;
  options.cache_tokens = facts_.cache_tokens;
  options.max_batch = facts_.max_batch;
  options.max_context = facts_.max_context;
  options.deterministic = facts_.deterministic;
  options.own_kernels = options_.own_kernels;
  if (on_cpu()) {
    options.between_layers = [this] { GiveWay(); };
    executor_ = MakeCpuExecutor(model_.get(), std::move(options));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(executor_, MakeCudaExecutor(model_.get(), std::move(options)));
  }
  double held_generating = 0;
  {
    const std::lock_guard lock(mutex_);
    facts_.kernels = executor_->kernels();
    held_generating = counters_.longest_hold_ms;
  }
  Take();
  executor_->WarmUp([this] { GiveWay(); });
  Leave();
  const std::lock_guard lock(mutex_);
  counters_.longest_hold_ms = held_generating;
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Engine>> MakeEngine(EngineOptions options) {
  DAVINCI_ASSIGN_OR_RETURN(weights::ModelConfig config,
                           weights::LoadModelConfig(options.model_dir));
  auto engine = std::make_unique<EngineImpl>(std::move(options), std::move(config));
  DAVINCI_RETURN_IF_ERROR(engine->Start());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace davinci::model

extern "C" const davinci::model::LibraryApi* davinci_model_library() {
  static const davinci::model::LibraryApi api{davinci::model::kLibraryAbi,
                                              davinci::model::MakeEngine};
  return &api;
}
