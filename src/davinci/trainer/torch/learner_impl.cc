#include "davinci/trainer/torch/learner_impl.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "davinci/comm/agree.h"

namespace davinci::trainer {

using at::Tensor;

namespace {

// Messages of rank 0 to ranks that assist: a kind of state to be gathered, or the end of visits.
constexpr char kEndOfVisits = 'e';
constexpr StateKind kStateKinds[] = {StateKind::kWeights, StateKind::kGradients,
                                     StateKind::kFirstMoments, StateKind::kSecondMoments};

// The cores this process may use, where its machine has several ranks: those it was bound to, or
// else its share of all.
int CoresOfRank(const comm::World& world) {
  const auto all = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  CPU_ZERO(&set);
  const int bound = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : all;
  return bound < all ? bound : std::max(1, all / world.local_size);
}

}  // namespace

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

Status LearnerImpl::ChooseDevice() {
  const std::string device =
      options_.device == "auto" ? (at::hasCUDA() ? "cuda" : "cpu") : options_.device;
  if (device.starts_with("cuda")) {
#ifdef DAVINCI_TORCH_CUDA
    const int count = at::hasCUDA() ? c10::cuda::device_count() : 0;
    if (count == 0)
      return FailedPrecondition("there is no CUDA device; set model.device = \"cpu\"");
    device_ = at::Device(device);
    if (options_.ranks != nullptr) {
      const comm::World& world = options_.ranks->world();
      if (device_.has_index())
        return InvalidArgument(
            "with several ranks each takes the device of its own number; set model.device = "
            "\"cuda\"");
      // A launcher may show each rank its own device only.
      const int index = count == 1 ? 0 : world.local_rank;
      if (index >= count)
        return FailedPrecondition(fmt::format(
            "this machine has {} ranks and {} CUDA devices; start no more ranks than devices",
            world.local_size, count));
      device_ = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
      c10::cuda::set_device(device_.index());
    }
    if (!device_.has_index()) device_.set_index(0);
#else
    return FailedPrecondition("this build's LibTorch has no CUDA; set model.device = \"cpu\"");
#endif
  } else if (device != "cpu") {
    return InvalidArgument(fmt::format("device \"{}\": cpu, cuda or cuda:N", device));
  }
  if (options_.threads > 0)
    at::set_num_threads(options_.threads);
  else if (options_.ranks != nullptr && device_.is_cpu())
    at::set_num_threads(CoresOfRank(options_.ranks->world()));
  // Read by cuBLAS when its handle is made.
  if (options_.deterministic && !device_.is_cpu())
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the learner has started no thread
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  return Status::Ok();
}

Status LearnerImpl::OpenCommunicator() {
  if (options_.ranks == nullptr) return Status::Ok();
  void* stream = nullptr;
#ifdef DAVINCI_TORCH_CUDA
  if (!device_.is_cpu()) stream = c10::cuda::getCurrentCUDAStream(device_.index()).stream();
#endif
  DAVINCI_ASSIGN_OR_RETURN(
      communicator_,
      options_.ranks->Open(device_.is_cpu() ? comm::Memory::kHost : comm::Memory::kCuda, stream));
  return Status::Ok();
}

Status LearnerImpl::Load() {
  dtype_ = options_.compute == Compute::kBfloat16 ||
                   (options_.compute == Compute::kAuto && !device_.is_cpu())
               ? at::kBFloat16
               : at::kFloat;
  pass_.differentiable = true;
  DAVINCI_ASSIGN_OR_RETURN(config_, weights::LoadModelConfig(options_.model_dir));
  if (options_.own_kernels) ops_ = model::TrainOps::Make(config_, device_, dtype_, &ops_missing_);
  pass_.train = ops_.get();
  if (ops_ != nullptr && options_.own_update) optimizer_->UseKernels(ops_.get());
  DAVINCI_RETURN_IF_ERROR(ChooseAttention());
  if (options_.random_weights) {
    at::manual_seed(options_.seed);
    weights_ = model::RandomWeights(config_, device_, dtype_);
    return AddSlots(nullptr);
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto file, weights::TensorFile::Open(options_.model_dir));
  DAVINCI_ASSIGN_OR_RETURN(weights_, model::LoadWeights(config_, file, device_, dtype_));
  return AddSlots(&file);
}

Status LearnerImpl::ChooseAttention() {
  const bool can = dtype_ != at::kFloat && model::CanCudnn(config_, device_);
  const bool asked = options_.attention == AttentionChoice::kCudnn;
  if (asked && options_.deterministic)
    return InvalidArgument(
        "model.attention = \"cudnn\" has no deterministic gradients; set model.deterministic = "
        "false, or model.attention = \"flash\"");
  if (asked && !can)
    return InvalidArgument(
        "model.attention = \"cudnn\" needs bf16 on a CUDA device with cuDNN, and heads of a "
        "multiple of 8 up to 128; set model.attention = \"auto\"");
  if (can && (asked || (options_.attention == AttentionChoice::kAuto && !options_.deterministic)))
    attention_ = model::AttentionKernel::kCudnn;
  return Status::Ok();
}

Status LearnerImpl::ShareRandomWeights() {
  if (communicator_ == nullptr || (!options_.random_weights && options_.lora.rank == 0))
    return Status::Ok();
  for (Slot& slot : slots_) {
    const Tensor weights = slot.compute.detach();
    DAVINCI_RETURN_IF_ERROR(communicator_->Broadcast(
        weights.mutable_data_ptr(), weights.numel() * weights.element_size(), /*root=*/0));
    optimizer_->Adopt(&slot);
  }
  return Status::Ok();
}

Status LearnerImpl::Open() {
  const auto agreed = [&](const Status& mine) { return comm::Agree(options_.ranks, mine); };
  DAVINCI_RETURN_IF_ERROR(agreed(Guarded([&] { return ChooseDevice(); })));
  DAVINCI_RETURN_IF_ERROR(OpenCommunicator());
  optimizer_ = std::make_unique<Optimizer>(options_.adam, communicator_.get(), options_.zero_stage);
  DAVINCI_RETURN_IF_ERROR(agreed(Guarded([&] { return Load(); })));
  return Guarded([&] { return ShareRandomWeights(); });
}

Slot LearnerImpl::MakeSlot(std::vector<model::StoredPart> parts, int64_t layer,
                           Tensor compute) const {
  Slot slot;
  slot.parts = std::move(parts);
  slot.layer = layer;
  slot.decays = compute.dim() >= 2 || options_.adam.decay_all;
  slot.muon = options_.adam.muon && layer >= 0 && compute.dim() == 2;
  compute.set_requires_grad(true);
  slot.compute = std::move(compute);
  optimizer_->Adopt(&slot);
  return slot;
}

Status LearnerImpl::AddSlots(const weights::TensorFile* file) {
  if (options_.lora.rank > 0) {
    DAVINCI_RETURN_IF_ERROR(AddLora());
  } else {
    for (const model::StoredTensor& stored : model::StoredTensors(*weights_)) {
      if (options_.value_head && stored.value.is_same(weights_->head) && !config_.tied_embeddings)
        continue;
      slots_.push_back(MakeSlot(stored.parts, stored.layer, stored.value));
      if (file == nullptr || dtype_ == at::kFloat) continue;
      // The masters have what bf16 rounded away.
      for (const model::StoredPart& part : stored.parts) {
        const weights::Tensor* source = file->Find(part.name);
        std::vector<float> values(static_cast<size_t>(source->num_elements()));
        DAVINCI_RETURN_IF_ERROR(weights::ReadFloat32(*source, values));
        DAVINCI_RETURN_IF_ERROR(Set(StateKind::kWeights, {part.name, source->shape, values}));
      }
    }
  }
  if (options_.value_head) {
    const auto fp32 = at::TensorOptions().dtype(at::kFloat).device(device_);
    value_weight_ = at::zeros({1, config_.hidden_size}, fp32);
    value_bias_ = at::zeros({1}, fp32);
    slots_.push_back(MakeSlot({{"value_head.weight", 0, 1}}, -1, value_weight_));
    slots_.push_back(MakeSlot({{"value_head.bias", 0, 1}}, -1, value_bias_));
  }
  return Status::Ok();
}

// Low-rank factors at the modules whose names end in a target: A uniform within 1 / sqrt(in), B 0,
// as PEFT starts them.
Status LearnerImpl::AddLora() {
  const LoraOptions& lora = options_.lora;
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
  at::manual_seed(options_.seed);
  for (const model::StoredTensor& stored : model::StoredTensors(*weights_))
    for (const model::StoredPart& part : stored.parts) {
      if (!part.name.ends_with(".weight")) continue;
      const std::string module = part.name.substr(0, part.name.size() - 7);
      if (std::none_of(lora.targets.begin(), lora.targets.end(),
                       [&](const std::string& target) { return module.ends_with("." + target); }))
        continue;
      const int64_t in = stored.value.size(1);
      const double bound = 1 / std::sqrt(static_cast<double>(in));
      const Tensor a = at::empty({lora.rank, in}, options).uniform_(-bound, bound).to(dtype_);
      const Tensor b = at::zeros({part.rows, lora.rank}, options).to(dtype_);
      if (!model::AddLowRank(weights_.get(), module, a, b,
                             lora.alpha / static_cast<double>(lora.rank)))
        return InvalidArgument(fmt::format("lora.targets: {} is no linear layer", module));
      slots_.push_back(MakeSlot({{module + ".lora_A", 0, lora.rank}}, stored.layer, a));
      slots_.push_back(MakeSlot({{module + ".lora_B", 0, part.rows}}, stored.layer, b));
    }
  if (slots_.empty())
    return InvalidArgument(fmt::format("lora.targets: no module of this model ends with {}",
                                       fmt::join(lora.targets, ", ")));
  return Status::Ok();
}

Slot* LearnerImpl::FindSlot(const Tensor& compute) {
  for (Slot& slot : slots_)
    if (slot.compute.is_same(compute)) return &slot;
  return nullptr;
}

Result<Update> LearnerImpl::Step(double learning_rate) {
  return Guarded([&] {
    const DeterministicScope scope(options_.deterministic);
    return optimizer_->Step(slots_, learning_rate);
  });
}

Status LearnerImpl::VisitSlots(StateKind kind,
                               const std::function<Status(const StateTensor&)>& visitor) {
  // With several ranks the others gather all tensors: a failure is kept until they have.
  Status failed;
  for (const Slot& slot : slots_) {
    DAVINCI_ASSIGN_OR_RETURN(const Tensor whole, optimizer_->Whole(slot, kind));
    if (!failed.ok() || visitor == nullptr) continue;
    const Tensor host = whole.to(at::kCPU).contiguous();
    for (const model::StoredPart& part : slot.parts) {
      const Tensor values = host.narrow(0, part.begin, part.rows);
      const auto sizes = values.sizes();
      failed = visitor({part.name,
                        {sizes.begin(), sizes.end()},
                        {values.const_data_ptr<float>(), static_cast<size_t>(values.numel())}});
      if (!failed.ok()) break;
    }
    if (!failed.ok() && communicator_ == nullptr) break;
  }
  return failed;
}

Status LearnerImpl::Visit(StateKind kind,
                          const std::function<Status(const StateTensor&)>& visitor) {
  return Guarded([&]() -> Status {
    if (options_.ranks != nullptr) {
      const char command = static_cast<char>('0' + static_cast<int>(kind));
      DAVINCI_RETURN_IF_ERROR(options_.ranks->Exchange({&command, 1}).status());
    }
    return VisitSlots(kind, visitor);
  });
}

Status LearnerImpl::AssistVisits() {
  if (options_.ranks == nullptr) return Status::Ok();
  return Guarded([&]() -> Status {
    for (;;) {
      DAVINCI_ASSIGN_OR_RETURN(const auto said, options_.ranks->Exchange(""));
      if (said[0].size() != 1) return Internal("a visit was expected");
      if (said[0][0] == kEndOfVisits) return Status::Ok();
      for (const StateKind kind : kStateKinds)
        if (said[0][0] == '0' + static_cast<int>(kind))
          DAVINCI_RETURN_IF_ERROR(VisitSlots(kind, nullptr));
    }
  });
}

Status LearnerImpl::EndVisits() {
  if (options_.ranks == nullptr) return Status::Ok();
  return options_.ranks->Exchange({&kEndOfVisits, 1}).status();
}

Status LearnerImpl::Set(StateKind kind, const StateTensor& tensor) {
  if (kind == StateKind::kGradients) return InvalidArgument("gradients are not set");
  return Guarded([&]() -> Status {
    for (Slot& slot : slots_)
      for (const model::StoredPart& part : slot.parts) {
        if (part.name != tensor.name) continue;
        const Tensor target = slot.compute.detach().narrow(0, part.begin, part.rows);
        if (target.sizes() != at::IntArrayRef(tensor.shape))
          return InvalidArgument(fmt::format("{}: [{}] in the file, [{}] in the model", tensor.name,
                                             fmt::join(tensor.shape, ", "),
                                             fmt::join(target.sizes(), ", ")));
        const auto count = static_cast<int64_t>(tensor.values.size());
        optimizer_->Write(&slot, kind, part.begin * (count / std::max<int64_t>(part.rows, 1)),
                          at::from_blob(const_cast<float*>(tensor.values.data()), {count},
                                        at::TensorOptions().dtype(at::kFloat)));
        return Status::Ok();
      }
    return InvalidArgument(fmt::format("{} is no tensor that is trained", tensor.name));
  });
}

void LearnerImpl::SetUpdates(int64_t updates, int64_t skipped) {
  optimizer_->updates = updates;
  optimizer_->skipped = skipped;
}

LearnerFacts LearnerImpl::Facts() {
  LearnerFacts facts;
  facts.device = device_.is_cpu() ? "cpu" : device_.str();
  facts.compute = dtype_ == at::kFloat ? "fp32" : "bf16";
  facts.kernels = ops_ != nullptr ? "davinci" : fmt::format("aten ({})", ops_missing_);
  facts.attention = device_.is_cpu() || dtype_ == at::kFloat       ? "sdpa"
                    : attention_ == model::AttentionKernel::kCudnn ? "cudnn"
                                                                   : "flash";
  facts.parameters = model::NumParameters(*weights_);
  for (const Slot& slot : slots_) facts.trained_parameters += slot.compute.numel();
  facts.gradient_bytes = gradient_bytes_;
  facts.updates = optimizer_->updates;
  facts.skipped_updates = optimizer_->skipped;
#ifdef DAVINCI_TORCH_CUDA
  if (!device_.is_cpu())
    facts.peak_bytes =
        c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index()).allocated_bytes[0].peak;
#endif
  return facts;
}

void LearnerImpl::ResetPeak() {
#ifdef DAVINCI_TORCH_CUDA
  if (!device_.is_cpu()) c10::cuda::CUDACachingAllocator::resetPeakStats(device_.index());
#endif
}

void LearnerImpl::Synchronize() {
#ifdef DAVINCI_TORCH_CUDA
  if (!device_.is_cpu()) c10::cuda::device_synchronize();
#endif
}

namespace {

Result<std::unique_ptr<Learner>> MakeLearner(const LearnerOptions& options) {
  auto learner = std::make_unique<LearnerImpl>(options);
  DAVINCI_RETURN_IF_ERROR(learner->Open());
  return std::unique_ptr<Learner>(std::move(learner));
}

}  // namespace
}  // namespace davinci::trainer

extern "C" const davinci::trainer::TrainerApi* davinci_trainer_library() {
  static const davinci::trainer::TrainerApi api{davinci::trainer::kTrainerAbi,
                                                davinci::trainer::MakeLearner};
  return &api;
}
