#include "davinci/trainer/torch/fused_adamw.h"

#include <cstring>

namespace davinci::trainer {

using at::Tensor;
using model::TrainKernels;

namespace {

int64_t Address(const Tensor& tensor) {
  return tensor.defined() ? reinterpret_cast<int64_t>(tensor.data_ptr()) : 0;
}

// The slot's moments exist.
TrainKernels::UpdateSlot EntryOf(const Slot& slot) {
  TrainKernels::UpdateSlot entry;
  entry.gradient = Address(slot.gradient);
  entry.master = Address(slot.master);
  entry.first = Address(slot.first);
  entry.second = Address(slot.second);
  // With several ranks masters are a share, and weights are gathered.
  if (slot.compute.scalar_type() == at::kBFloat16 && slot.master.numel() == slot.compute.numel())
    entry.weights = Address(slot.compute);
  entry.count = slot.master.numel();
  entry.flags = (slot.decays ? TrainKernels::kDecays : 0) |
                (slot.gradient.scalar_type() == at::kBFloat16 ? TrainKernels::kHalf : 0);
  if ((entry.gradient | entry.master | entry.first | entry.second | entry.weights) % 16 == 0)
    entry.flags |= TrainKernels::kDense;
  return entry;
}

}  // namespace

Result<Tensor> FusedAdamW::Squares(std::span<Slot* const> slots) {
  std::vector<int64_t> counts;
  for (Slot* slot : slots) {
    if (!slot->first.defined()) slot->first = at::zeros_like(slot->master.detach());
    if (!slot->second.defined() && !slot->muon)
      slot->second = at::zeros_like(slot->master.detach());
    counts.push_back(slot->master.numel());
  }
  const at::Device device = slots.front()->master.device();
  if (counts != counts_) {
    std::vector<int32_t> blocks;
    updated_ = 0;
    for (size_t i = 0; i < counts.size(); ++i)
      for (int64_t begin = 0; begin < counts[i]; begin += TrainKernels::kUpdateChunk) {
        blocks.push_back(static_cast<int32_t>(i));
        blocks.push_back(static_cast<int32_t>(begin / TrainKernels::kUpdateChunk));
        if (!slots[i]->muon) ++updated_;
      }
    blocks_ = at::tensor(blocks, at::kInt).to(device).view({-1, 2});
    counts_ = std::move(counts);
  }
  const Tensor table = at::empty(
      {std::ssize(slots), TrainKernels::kSlotWords},
      at::TensorOptions().dtype(at::kLong).pinned_memory(/*pinned_memory=*/device.is_cuda()));
  for (size_t i = 0; i < slots.size(); ++i) {
    const TrainKernels::UpdateSlot entry = EntryOf(*slots[i]);
    std::memcpy(table.mutable_data_ptr<int64_t>() + i * TrainKernels::kSlotWords, &entry,
                sizeof(entry));
  }
  table_ = table.to(device, /*non_blocking=*/true);
  const auto on_device = at::TensorOptions().device(device);
  const Tensor parts = at::empty({blocks_.size(0)}, on_device.dtype(at::kFloat));
  Tensor total = at::zeros({1}, on_device.dtype(at::kDouble));
  if (blocks_.size(0) == 0) return total;  // of shares without elements
  DAVINCI_RETURN_IF_ERROR(ops_.kernels().Squares(
      ops_.stream(), table_.const_data_ptr<int64_t>(), blocks_.const_data_ptr<int32_t>(),
      blocks_.size(0), parts.mutable_data_ptr<float>(), total.mutable_data_ptr<double>()));
  return total;
}

Status FusedAdamW::Update(const Tensor& squares, double learning_rate, int64_t step) {
  if (updated_ == 0) return Status::Ok();
  TrainKernels::AdamStep settings;
  settings.clip_norm = options_.clip_norm;
  settings.beta1 = options_.beta1;
  settings.beta2 = options_.beta2;
  settings.epsilon = options_.epsilon;
  settings.weight_decay = options_.weight_decay;
  settings.learning_rate = learning_rate;
  settings.step = step;
  return ops_.kernels().AdamW(ops_.stream(), table_.const_data_ptr<int64_t>(),
                              blocks_.const_data_ptr<int32_t>(), updated_,
                              squares.const_data_ptr<double>(), settings);
}

}  // namespace davinci::trainer
