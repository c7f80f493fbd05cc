#include "davinci/trainer/torch/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace davinci::trainer {

using at::Tensor;

namespace {

Tensor* Of(Slot* slot, StateKind kind) {
  switch (kind) {
    case StateKind::kWeights:
      return &slot->master;
    case StateKind::kGradients:
      return &slot->gradient;
    case StateKind::kFirstMoments:
      return &slot->first;
    case StateKind::kSecondMoments:
      return &slot->second;
  }
  return nullptr;
}

}  // namespace

void Optimizer::Adopt(Slot* slot) const {
  const Tensor own = shards_.Own(slot->compute);
  slot->master = own.scalar_type() == at::kFloat ? own : own.detach().to(at::kFloat);
}

Status Optimizer::Reduce(std::span<Slot* const> slots) {
  if (!shards_gradients_ || slots.empty()) return Status::Ok();
  const c10::AutoGradMode no_gradients(false);
  for (const Slot* slot : slots) reduced_any_ = reduced_any_ || slot->gradient.defined();
  DAVINCI_RETURN_IF_ERROR(shards_.ReduceScatter(slots));
  for (Slot* slot : slots) {
    if (slot->reduced.defined())
      slot->reduced.add_(slot->gradient);
    else
      slot->reduced = slot->gradient;
    slot->gradient = Tensor();
  }
  return Status::Ok();
}

Result<double> Optimizer::StepWithKernels(std::span<Slot* const> slots, bool any,
                                          double learning_rate) {
  DAVINCI_ASSIGN_OR_RETURN(const Tensor squares, fused_->Squares(slots));
  DAVINCI_RETURN_IF_ERROR(shards_.SumSquares(squares, any));
  DAVINCI_RETURN_IF_ERROR(fused_->Update(squares, learning_rate, updates + 1));
  // Read behind the launch: the device does not wait for the host.
  const double norm = std::sqrt(squares.item<double>());
  if (std::isfinite(norm)) DAVINCI_RETURN_IF_ERROR(StepMuon(slots, ClipScale(norm), learning_rate));
  return norm;
}

double Optimizer::ClipScale(double norm) const {
  return options_.clip_norm > 0 && norm > options_.clip_norm ? options_.clip_norm / (norm + 1e-6)
                                                             : 1;
}

Status Optimizer::StepMuon(std::span<Slot* const> slots, double scale, double learning_rate) const {
  std::vector<Slot*> matrices;
  for (Slot* slot : slots)
    if (slot->muon) matrices.push_back(slot);
  DAVINCI_RETURN_IF_ERROR(muon_.Update(matrices, scale, learning_rate));
  if (shards_.is_one())
    for (Slot* slot : matrices)
      if (!slot->compute.is_same(slot->master)) slot->compute.detach().copy_(slot->master);
  return Status::Ok();
}

Result<double> Optimizer::StepWithAten(std::span<Slot* const> slots, bool any,
                                       double learning_rate) {
  std::vector<Tensor> gradients;
  for (const Slot* slot : slots) gradients.push_back(slot->gradient);
  double norm = 0;
  if (shards_.is_one()) {
    norm = at::stack(at::_foreach_norm(gradients, 2)).norm().item<double>();
  } else {
    const Tensor squares =
        at::stack(at::_foreach_norm(gradients, 2)).to(at::kDouble).square().sum().view({1});
    DAVINCI_RETURN_IF_ERROR(shards_.SumSquares(squares, any));
    norm = squares.sqrt().item<double>();
  }
  if (!std::isfinite(norm)) return norm;
  if (const double scale = ClipScale(norm); scale != 1) at::_foreach_mul_(gradients, scale);
  const Tensor steps = at::full({}, static_cast<double>(updates + 1), gradients.front().options());
  for (const bool decays : {true, false}) {
    std::vector<Tensor> weights, slopes, first, second, at_step;
    for (Slot* slot : slots) {
      if (slot->muon || slot->decays != decays || slot->master.numel() == 0) continue;
      if (!slot->first.defined()) slot->first = at::zeros_like(slot->master.detach());
      if (!slot->second.defined()) slot->second = at::zeros_like(slot->master.detach());
      weights.push_back(slot->master.detach());
      slopes.push_back(slot->gradient);
      first.push_back(slot->first);
      second.push_back(slot->second);
      at_step.push_back(steps);
    }
    if (weights.empty()) continue;
    at::_fused_adamw_(weights, slopes, first, second, {}, at_step, learning_rate, options_.beta1,
                      options_.beta2, decays ? options_.weight_decay : 0.0, options_.epsilon,
                      /*amsgrad=*/false, /*maximize=*/false);
  }
  if (shards_.is_one())
    for (Slot* slot : slots)
      if (!slot->muon && !slot->compute.is_same(slot->master))
        slot->compute.detach().copy_(slot->master);
  DAVINCI_RETURN_IF_ERROR(StepMuon(slots, /*scale=*/1, learning_rate));
  return norm;
}

Result<Update> Optimizer::Step(std::vector<Slot>& slots, double learning_rate) {
  const c10::AutoGradMode no_gradients(false);
  bool any = reduced_any_;
  std::vector<Slot*> moved;
  for (Slot& slot : slots) {
    any = any || slot.gradient.defined();
    moved.push_back(&slot);
  }
  reduced_any_ = false;
  if (shards_gradients_) {
    for (Slot* slot : moved) slot->gradient = std::exchange(slot->reduced, Tensor());
  } else if (!shards_.is_one()) {
    DAVINCI_RETURN_IF_ERROR(shards_.ReduceScatter(moved));
  }
  std::erase_if(moved, [](const Slot* slot) { return !slot->gradient.defined(); });
  std::ranges::stable_partition(moved, [](const Slot* slot) { return !slot->muon; });
  if (moved.empty()) return InvalidArgument("an update without gradients");
  Update update;
  DAVINCI_ASSIGN_OR_RETURN(update.gradient_norm, fused_ != nullptr
                                                     ? StepWithKernels(moved, any, learning_rate)
                                                     : StepWithAten(moved, any, learning_rate));
  update.applied = std::isfinite(update.gradient_norm);
  ++(update.applied ? updates : skipped);
  if (update.applied && !shards_.is_one())
    DAVINCI_RETURN_IF_ERROR(shards_.GatherAll(
        moved, [](const Slot& slot) { return slot.master.detach(); },
        [](const Slot& slot) { return slot.compute.detach(); }));
  for (Slot* slot : moved) slot->gradient = Tensor();
  return update;
}

Result<Tensor> Optimizer::Whole(const Slot& slot, StateKind kind) const {
  const c10::AutoGradMode no_gradients(false);
  const Tensor& own = kind == StateKind::kGradients && shards_gradients_
                          ? slot.reduced
                          : *Of(const_cast<Slot*>(&slot), kind);
  if (kind == StateKind::kWeights && slot.compute.scalar_type() == at::kFloat)
    return slot.compute.detach();
  if (shards_.is_one() && own.defined()) return own.detach().to(at::kFloat);
  const Tensor whole = at::zeros(slot.compute.sizes(),
                                 slot.compute.options().dtype(at::kFloat).requires_grad(false));
  if (shards_.is_one()) return whole;
  if (kind == StateKind::kGradients && !shards_gradients_) {
    if (own.defined()) whole.copy_(own);
    DAVINCI_RETURN_IF_ERROR(shards_.Sum(whole));
    return whole;
  }
  // A share without elements has no moments, one without a pass no gradients.
  DAVINCI_RETURN_IF_ERROR(shards_.Gather(own.defined() ? own : at::zeros_like(slot.master), whole));
  return whole;
}

void Optimizer::Write(Slot* slot, StateKind kind, int64_t begin, const Tensor& values) const {
  const c10::AutoGradMode no_gradients(false);
  const int64_t end = begin + values.numel();
  if (kind == StateKind::kWeights) {
    Flat(slot->compute).narrow(0, begin, values.numel()).copy_(values);
    if (slot->compute.scalar_type() == at::kFloat) return;
  }
  Tensor* to = Of(slot, kind);
  if (!to->defined()) *to = at::zeros_like(slot->master.detach());
  const Shards::Share share = shards_.ShareOf(slot->compute.numel());
  const int64_t from = std::max(begin, share.begin);
  const int64_t count = std::min(end, share.begin + share.size) - from;
  if (count > 0)
    Flat(*to).narrow(0, from - share.begin, count).copy_(values.narrow(0, from - begin, count));
}

}  // namespace davinci::trainer
