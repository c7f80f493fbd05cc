#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "davinci/base/mutex.h"
#include "davinci/model/engine_plan.h"
#include "davinci/model/generation_check.h"
#include "davinci/model/library_abi.h"
#include "davinci/model/prompt_plan.h"
#include "davinci/model/torch/executor.h"
#include "davinci/model/torch/forward.h"

namespace davinci::model {
namespace {

using at::Tensor;
class EngineImpl final : public Engine {
 public:
  EngineImpl(EngineOptions options, weights::ModelConfig config)
      : options_(std::move(options)), config_(std::move(config)) {}

  ~EngineImpl() override {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Status Start() {
    thread_ = std::thread([this] { Main(); });
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return started_; });
    return start_status_;
  }

  Result<Answer> Generate(Generation generation) override {
    DAVINCI_RETURN_IF_ERROR(CheckGeneration(generation, facts_));
    Request request;
    request.generation = std::move(generation);
    request.max_tokens = std::min<int64_t>(request.generation.max_tokens,
                                           facts_.max_context - request.prompt_size());
    const CancelCallback on_cancel(request.generation.cancel, [this] {
      { const MutexLock lock(mutex_); }
      wake_.notify_all();
    });
    MutexLock lock(mutex_);
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
    EngineFacts facts = facts_;
    const MutexLock lock(mutex_);
    facts.kernels = kernels_;
    return facts;
  }
  EngineCounters Counters() const override {
    const MutexLock lock(mutex_);
    EngineCounters counters = counters_;
    counters.waiting = static_cast<int>(waiting_.size());
    counters.running = num_running_;
    return counters;
  }

 private:
  // A step under way: requests by row; null: ended since.
  struct Flight {
    std::vector<Request*> requests;
    std::vector<StepRow> rows;
  };
  struct Job {
    std::function<void()> work;
    Status status;
    bool done = false;
  };

  // Logits of a whole text, without cache, on the engine's thread.
  Status RunJob(const std::vector<TokenId>& tokens, const std::function<void(const Tensor&)>& use) {
    DAVINCI_RETURN_IF_ERROR(CheckText(tokens, facts_));
    Job job;
    job.work = [&] {
      const auto count = static_cast<int64_t>(tokens.size());
      Tensor ids = at::empty({count}, at::kLong);
      std::copy(tokens.begin(), tokens.end(), ids.data_ptr<int64_t>());
      const auto attention = PackedCausal(config_, {0, count}, weights_->device);
      PassOptions pass;
      if (on_cpu()) pass.pacer = pacer_.get();
      const Forward forward(*weights_, pass);
      use(forward.Logits(forward.Hidden(ids.to(weights_->device),
                                        at::arange(count).to(weights_->device), *attention)));
    };
    MutexLock lock(mutex_);
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
      const MutexLock lock(mutex_);
      start_status_ = opened;
      started_ = true;
    }
    changed_.notify_all();
    if (opened.ok()) Loop();
    if (pacer_ != nullptr) pacer_->Leave();
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
    weights_.reset();
    if (!device_.is_cpu()) ReturnCudaMemory();
    booking_.reset();
  }

  void Loop() {
    while (true) {
      std::vector<Job*> jobs;
      {
        MutexLock lock(mutex_);
        const auto has_work = [&]() DAVINCI_REQUIRES(mutex_) {
          return stopping_ || !waiting_.empty() || !jobs_.empty();
        };
        if (running_.empty() && !has_work()) {
          lock.unlock();
          Rest();
          lock.lock();
          if (options_.idle_release_s >= 0 && weights_ != nullptr) {
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
      const Status ready =
          weights_ != nullptr ? Status::Ok() : Guarded([&] { return OpenMemory(); });
      pacer_->Take();
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
      pacer_->Between();
      Held();
    }
    FailAll(Cancelled("the model is being closed"));
    MutexLock lock(mutex_);
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
      const MutexLock lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  void FailAll(const Status& status) {
    if (pool_ != nullptr) pool_->Clear();
    std::fill(flight_.requests.begin(), flight_.requests.end(), nullptr);
    {
      const MutexLock lock(mutex_);
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
    for (int i = 0; i < most && PrefillSome(); ++i) pacer_->Between();
    DecodeOnce();
  }

  void Admit() {
    std::vector<Request*> cancelled;
    {
      const MutexLock lock(mutex_);
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

  bool on_cpu() const { return weights_->device.is_cpu(); }

  void Begin(Request* request, const SegmentPool::Match& match) {
    request->begun = true;
    request->answer.queue_s = request->seconds();
    int64_t shared = match.length;
    if (facts_.deterministic) shared = shared / kChunk * kChunk;
    const std::vector<TokenId>& prompt = request->generation.prompt;
    if (shared > 0) {
      executor_->CopyCache(match.segment->start, request->segment->start, shared);
      Extend(request, {prompt.begin(), prompt.begin() + shared});
    }
    request->num_computed = shared;
    request->answer.num_shared_prompt_tokens = static_cast<int>(shared);
    const MutexLock lock(mutex_);
    counters_.shared_prompt_tokens += shared;
  }

  void Extend(Request* request, std::vector<TokenId> tokens) {
    SegmentPool::Segment& segment = *request->segment;
    segment.tokens.insert(segment.tokens.end(), tokens.begin(), tokens.end());
    segment.num_shareable = Shareable(static_cast<int64_t>(segment.tokens.size()),
                                      request->prompt_size(), facts_.deterministic);
  }

  // One pass over prompts that are not computed yet. False: there are none.
  bool PrefillSome() {
    if (std::all_of(running_.begin(), running_.end(), [](Request* r) { return r->decoding; }))
      return false;
    Drain();
    const auto [requests, chunks] =
        PlanPrompts(running_, pool_.get(),
                    {facts_.deterministic, executor_->rows_are_independent(), prefill_tokens_},
                    [this](Request* r, const SegmentPool::Match& match) { Begin(r, match); });
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
      const MutexLock lock(mutex_);
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
      ready[i]->answer.first_token_s = ready[i]->seconds();
      Accept(ready[i], steps[i]);
    }
    return true;
  }

  // A step for all that decode. Where steps overlap the next one starts before the tokens of the
  // last are known here: it takes them from the device. A request that ends with such a token is
  // computed once too often; its row is dropped.
  void DecodeOnce() {
    Flight next;
    for (Request* request : running_) {
      if (!request->decoding) continue;
      const int ahead = request->flight_row >= 0 ? 1 : 0;
      if (request->num_tokens() + ahead >= request->max_tokens) continue;
      if (ahead > 0 && request->generation.filter != nullptr) continue;
      const DrawRow draw = request->NextDraw(ahead);
      next.rows.push_back(
          {request->latest, request->flight_row, draw.position - 1, request->segment->start, draw});
      next.requests.push_back(request);
    }
    if (!next.requests.empty()) {
      executor_->Launch(next.rows);
      const MutexLock lock(mutex_);
      ++counters_.decode_steps;
    }
    Flight last = std::exchange(flight_, std::move(next));
    Collect(&last);
    for (size_t i = 0; i < flight_.requests.size(); ++i)
      if (flight_.requests[i] != nullptr) flight_.requests[i]->flight_row = static_cast<int>(i);
    if (!executor_->overlaps()) Drain();
  }

  // Waits for the step under way.
  void Drain() {
    Flight last = std::exchange(flight_, {});
    Collect(&last);
  }

  void Collect(Flight* flight) {
    if (flight->requests.empty()) return;
    std::vector<Step> steps;
    executor_->Collect(&steps);
    for (size_t i = 0; i < flight->requests.size(); ++i) {
      Request* request = flight->requests[i];
      if (request == nullptr) continue;
      request->flight_row = -1;
      Extend(request, {request->latest});
      Accept(request, steps[i]);
    }
  }

  // A new token of `request`.
  void Accept(Request* request, const Step& step) {
    Answer& answer = request->answer;
    const Generation& generation = request->generation;
    answer.tokens.push_back(step.token);
    answer.logprobs.push_back(step.logprob);
    request->latest = step.token;
    if (generation.filter != nullptr) generation.filter->Accept(step.token);
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
    std::replace(flight_.requests.begin(), flight_.requests.end(), request,
                 static_cast<Request*>(nullptr));
    const MutexLock lock(mutex_);
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

  // Nothing to do: the device is free for others.
  void Rest() {
    if (executor_ != nullptr && !flight_.requests.empty()) Drain();
    pacer_->Leave();
    Held();
  }
  void Held() {
    const MutexLock lock(mutex_);
    counters_.longest_hold_ms = std::max(counters_.longest_hold_ms, pacer_->longest_hold_ms());
  }

  const EngineOptions options_;
  const weights::ModelConfig config_;
  at::ScalarType dtype_ = at::kFloat;
  at::Device device_{at::kCPU};

  // The engine's thread only.
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<SegmentPool> pool_;
  std::shared_ptr<void> booking_;
  std::unique_ptr<Pacer> pacer_;
  std::vector<Request*> running_;
  Flight flight_;
  int64_t prefill_tokens_ = kChunk;

  mutable Mutex mutex_;
  std::condition_variable_any wake_;     // of the engine's thread
  std::condition_variable_any changed_;  // of those who wait for a job or the start
  std::deque<Request*> waiting_ DAVINCI_GUARDED_BY(mutex_);
  std::deque<Job*> jobs_ DAVINCI_GUARDED_BY(mutex_);
  bool stopping_ DAVINCI_GUARDED_BY(mutex_) = false;
  bool started_ DAVINCI_GUARDED_BY(mutex_) = false;
  Status start_status_ DAVINCI_GUARDED_BY(mutex_);
  EngineFacts facts_;  // without kernels; written once, before started_
  std::string kernels_ DAVINCI_GUARDED_BY(mutex_);  // written whenever the memory is opened
  EngineCounters counters_ DAVINCI_GUARDED_BY(mutex_);
  int num_running_ DAVINCI_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

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
  DAVINCI_ASSIGN_OR_RETURN(facts_, PlanEngine(options_, config_, cpu ? "cpu" : device_.str()));
  dtype_ = facts_.dtype == "fp32" ? at::kFloat : at::kBFloat16;
  // A pass on the GPU is over within 25 ms at 200 TFLOP/s; on the CPU the pacer cuts it.
  const double tokens = 0.025 * 200e12 / (2.0 * static_cast<double>(facts_.parameters));
  prefill_tokens_ = cpu ? 4 * kChunk : std::clamp<int64_t>(static_cast<int64_t>(tokens), 128, 8192);
  std::shared_ptr<DeviceTurn> turn;
  if (options_.open_turn) {
    DAVINCI_ASSIGN_OR_RETURN(turn, options_.open_turn(facts_.device));
  }
  pacer_ = std::make_unique<Pacer>(std::move(turn), options_.max_hold_ms, [this] {
    if (executor_ != nullptr) executor_->Synchronize();
  });
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
    weights_ = RandomWeights(config_, device_, dtype_);
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const weights::TensorFile file,
                             weights::TensorFile::Open(options_.model_dir));
    std::optional<weights::LoraAdapter> adapter;
    if (!options_.lora_dir.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(adapter, weights::LoadLoraAdapter(options_.lora_dir));
    }
    DAVINCI_ASSIGN_OR_RETURN(
        weights_, LoadWeights(config_, file, device_, dtype_, adapter ? &*adapter : nullptr));
  }
  ReservePositions(weights_.get(), facts_.max_context);
  pool_ = std::make_unique<SegmentPool>(facts_.cache_tokens);
  Executor::Options options;
  options.cache_tokens = facts_.cache_tokens;
  options.max_batch = facts_.max_batch;
  options.max_context = facts_.max_context;
  options.deterministic = facts_.deterministic;
  options.own_kernels = options_.own_kernels;
  options.most_projected_rows = options_.most_projected_rows;
  if (on_cpu()) {
    options.pacer = pacer_.get();
    executor_ = MakeCpuExecutor(weights_.get(), options);
  } else {
    DAVINCI_ASSIGN_OR_RETURN(executor_, MakeCudaExecutor(weights_.get(), options));
  }
  {
    const MutexLock lock(mutex_);
    kernels_ = executor_->kernels();
  }
  pacer_->Take();
  executor_->WarmUp([this] { pacer_->Between(); });
  pacer_->Leave();
  pacer_->Forget();  // loading is not counted
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
