#include "davinci/trainer/learner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "davinci/comm/agree.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/model/library_abi.h"
#include "davinci/trainer/estimate.h"

namespace davinci::trainer {

namespace {

Result<const TrainerApi*> LoadApi() {
  DAVINCI_ASSIGN_OR_RETURN(void* symbol, model::ModelLibrarySymbol(kTrainerSymbol));
  const TrainerApi* api = reinterpret_cast<const TrainerApi* (*)()>(symbol)();
  if (api->abi != kTrainerAbi)
    return FailedPrecondition("libdavinci_model.so is of another build; build davinci again");
  return api;
}

// Of the machine, or of the largest GPU that is visible; 0: unknown.
int64_t MemoryOf(const std::string& device) {
  if (device == "cpu")
    return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  int64_t most = 0;
  for (const gpu::DeviceInfo& info : gpu::VisibleDevices(*gpu::DeviceMonitor::Create()))
    most = std::max(most, static_cast<int64_t>(info.memory_total_bytes));
  return most;
}

// What is kept from update to update must fit: weights, masters, moments and bf16 gradients.
Status CheckMemory(const LearnerOptions& options) {
  DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(options.model_dir));
  const bool bf16 = options.compute == Compute::kBfloat16 ||
                    (options.compute == Compute::kAuto && options.device != "cpu");
  const int ranks = options.ranks == nullptr ? 1 : options.ranks->world().size;
  const int here =
      options.ranks != nullptr && options.device == "cpu" ? options.ranks->world().local_size : 1;
  const CostEstimate cost = EstimateMemory(config, options, bf16, /*rows=*/1, ranks);
  const int64_t needed = here * (cost.weight_bytes + cost.moment_bytes + cost.gradient_bytes / 2);
  const int64_t memory = MemoryOf(options.device);
  if (memory == 0 || needed <= memory) return Status::Ok();
  return ResourceExhausted(fmt::format(
      "weights, gradients and moments of {} need {} GiB, {} has {} GiB; train LoRA (lora.rank), "
      "or on more ranks with optimizer.zero_stage = 2",
      options.model_dir, needed >> 30, options.device == "cpu" ? "the machine" : "the device",
      memory >> 30));
}

}  // namespace

Result<std::unique_ptr<Learner>> OpenLearner(const LearnerOptions& options) {
  const Result<const TrainerApi*> api = LoadApi();
  DAVINCI_RETURN_IF_ERROR(
      comm::Agree(options.ranks, api.ok() ? CheckMemory(options) : api.status()));
  return (*api)->make_learner(options);
}

}  // namespace davinci::trainer
