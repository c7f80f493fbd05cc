#include "davinci/trainer/torch/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace davinci::trainer {

using at::Tensor;

namespace {

// Tensors travel together up to so many elements: a call costs some ten microseconds, and 32 MB of
// fp32 take longer than that on any link.
constexpr int64_t kBucketElements = int64_t{8} << 20;

Tensor Flat(const Tensor& tensor) { return tensor.detach().view({-1}); }

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

Optimizer::Share Optimizer::ShareOf(int64_t num_elements) const {
  if (ranks_ == nullptr) return {0, num_elements, num_elements};
  const int64_t chunk = (num_elements + ranks_->size() - 1) / ranks_->size();
  const int64_t begin = std::min(ranks_->rank() * chunk, num_elements);
  return {begin, std::min(chunk, num_elements - begin), chunk};
}

void Optimizer::Adopt(Slot* slot) const {
  const Share share = ShareOf(slot->compute.numel());
  const Tensor own =
      ranks_ == nullptr ? slot->compute : Flat(slot->compute).narrow(0, share.begin, share.size);
  slot->master = own.scalar_type() == at::kFloat ? own : own.detach().to(at::kFloat);
}

std::vector<Optimizer::Bucket> Optimizer::BucketsOf(std::span<Slot* const> slots) const {
  std::vector<Bucket> buckets;
  for (Slot* slot : slots) {
    const int64_t chunk = ShareOf(slot->compute.numel()).chunk;
    const bool fits =
        !buckets.empty() && (buckets.back().chunk + chunk) * ranks_->size() <= kBucketElements &&
        buckets.back().slots.front()->compute.scalar_type() == slot->compute.scalar_type();
    if (!fits) buckets.emplace_back();
    Bucket& bucket = buckets.back();
    bucket.slots.push_back(slot);
    bucket.chunk += chunk;
  }
  return buckets;
}

bool Optimizer::IsWhole(const Bucket& bucket) const {
  return bucket.slots.size() == 1 &&
         bucket.chunk * ranks_->size() == bucket.slots.front()->compute.numel();
}

std::vector<Tensor> Optimizer::PartsOf(const Bucket& bucket, const Tensor& all,
                                       const std::function<Tensor(const Slot&)>& flat,
                                       std::vector<Tensor>* parts) const {
  std::vector<Tensor> places;
  int64_t offset = 0;
  for (const Slot* slot : bucket.slots) {
    const int64_t count = slot->compute.numel();
    const int64_t chunk = ShareOf(count).chunk;
    const Tensor whole = flat(*slot);
    for (int64_t rank = 0; whole.defined() && rank < ranks_->size(); ++rank) {
      const int64_t size = std::min(chunk, count - rank * chunk);
      if (size <= 0) break;
      places.push_back(all.narrow(0, rank * bucket.chunk + offset, size));
      parts->push_back(whole.narrow(0, rank * chunk, size));
    }
    offset += chunk;
  }
  return places;
}

Status Optimizer::ReduceScatter(std::span<Slot* const> slots) const {
  for (const Bucket& bucket : BucketsOf(slots)) {
    const auto fp32 = bucket.slots.front()->master.options().dtype(at::kFloat);
    Tensor from;
    if (IsWhole(bucket) && bucket.slots.front()->gradient.defined()) {
      from = Flat(bucket.slots.front()->gradient).to(at::kFloat);
    } else {
      // A tensor without gradients counts as zeros.
      from = at::zeros({bucket.chunk * ranks_->size()}, fp32);
      std::vector<Tensor> gradients;
      const auto places = PartsOf(
          bucket, from,
          [](const Slot& slot) { return slot.gradient.defined() ? Flat(slot.gradient) : Tensor(); },
          &gradients);
      if (!places.empty()) at::_foreach_copy_(places, gradients);
    }
    const Tensor to = at::empty({bucket.chunk}, fp32);
    DAVINCI_RETURN_IF_ERROR(ranks_->ReduceScatter(from.const_data_ptr(), to.mutable_data_ptr(),
                                                  bucket.chunk, comm::Element::kFloat32));
    int64_t offset = 0;
    for (Slot* slot : bucket.slots) {
      const Share share = ShareOf(slot->compute.numel());
      slot->gradient = to.narrow(0, offset, share.size);
      offset += share.chunk;
    }
  }
  return Status::Ok();
}

Status Optimizer::GatherWeights(std::span<Slot* const> slots) const {
  for (const Bucket& bucket : BucketsOf(slots)) {
    if (IsWhole(bucket)) {
      const Slot& slot = *bucket.slots.front();
      DAVINCI_RETURN_IF_ERROR(Gather(slot.master, slot.compute.detach()));
      continue;
    }
    const auto options = bucket.slots.front()->compute.options().requires_grad(false);
    const Tensor own = at::empty({bucket.chunk}, options);
    std::vector<Tensor> places, masters;
    int64_t offset = 0;
    for (const Slot* slot : bucket.slots) {
      const Share share = ShareOf(slot->compute.numel());
      if (share.size > 0) {
        places.push_back(own.narrow(0, offset, share.size));
        masters.push_back(slot->master.detach());
      }
      offset += share.chunk;
    }
    if (!places.empty()) at::_foreach_copy_(places, masters);
    const Tensor all = at::empty({bucket.chunk * ranks_->size()}, options);
    DAVINCI_RETURN_IF_ERROR(ranks_->AllGather(own.const_data_ptr(), all.mutable_data_ptr(),
                                              bucket.chunk * own.element_size()));
    std::vector<Tensor> weights;
    const auto parts = PartsOf(
        bucket, all, [](const Slot& slot) { return Flat(slot.compute); }, &weights);
    at::_foreach_copy_(weights, parts);
  }
  return Status::Ok();
}

Status Optimizer::SumSquares(const Tensor& squares, bool any) const {
  if (ranks_ == nullptr) return Status::Ok();
  // Of how many ranks have gradients, too.
  const Tensor sums = at::full({2}, any ? 1.0 : 0.0, squares.options());
  sums.narrow(0, 0, 1).copy_(squares);
  DAVINCI_RETURN_IF_ERROR(ranks_->AllReduce(sums.mutable_data_ptr(), 2, comm::Element::kFloat64));
  if (sums[1].item<double>() == 0) return InvalidArgument("an update without gradients");
  squares.copy_(sums.narrow(0, 0, 1));
  return Status::Ok();
}

Status Optimizer::Gather(const Tensor& share, const Tensor& whole) const {
  const int64_t count = whole.numel();
  const Share own = ShareOf(count);
  const int64_t padded_size = own.chunk * ranks_->size();
  const Tensor to = padded_size == count ? Flat(whole) : at::empty({padded_size}, whole.options());
  const Tensor place = to.narrow(0, ranks_->rank() * own.chunk, own.chunk);
  if (place.const_data_ptr() != share.const_data_ptr()) place.narrow(0, 0, own.size).copy_(share);
  DAVINCI_RETURN_IF_ERROR(ranks_->AllGather(place.const_data_ptr(), to.mutable_data_ptr(),
                                            own.chunk * whole.element_size()));
  if (padded_size != count) Flat(whole).copy_(to.narrow(0, 0, count));
  return Status::Ok();
}

Status Optimizer::Reduce(std::span<Slot* const> slots) {
  if (!shards_gradients_ || slots.empty()) return Status::Ok();
  const c10::AutoGradMode no_gradients(false);
  for (const Slot* slot : slots) reduced_any_ = reduced_any_ || slot->gradient.defined();
  DAVINCI_RETURN_IF_ERROR(ReduceScatter(slots));
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
  DAVINCI_RETURN_IF_ERROR(SumSquares(squares, any));
  DAVINCI_RETURN_IF_ERROR(fused_->Update(squares, learning_rate, updates + 1));
  // Read behind the launch: the device does not wait for the host.
  return std::sqrt(squares.item<double>());
}

Result<double> Optimizer::StepWithAten(std::span<Slot* const> slots, bool any,
                                       double learning_rate) {
  std::vector<Tensor> gradients;
  for (const Slot* slot : slots) gradients.push_back(slot->gradient);
  double norm = 0;
  if (ranks_ == nullptr) {
    norm = at::stack(at::_foreach_norm(gradients, 2)).norm().item<double>();
  } else {
    const Tensor squares =
        at::stack(at::_foreach_norm(gradients, 2)).to(at::kDouble).square().sum().view({1});
    DAVINCI_RETURN_IF_ERROR(SumSquares(squares, any));
    norm = squares.sqrt().item<double>();
  }
  if (!std::isfinite(norm)) return norm;
  if (options_.clip_norm > 0 && norm > options_.clip_norm)
    at::_foreach_mul_(gradients, options_.clip_norm / (norm + 1e-6));
  const Tensor steps = at::full({}, static_cast<double>(updates + 1), gradients.front().options());
  for (const bool decays : {true, false}) {
    std::vector<Tensor> weights, slopes, first, second, at_step;
    for (Slot* slot : slots) {
      if (slot->decays != decays || slot->master.numel() == 0) continue;
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
  if (ranks_ == nullptr)
    for (Slot* slot : slots)
      if (!slot->compute.is_same(slot->master)) slot->compute.detach().copy_(slot->master);
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
  } else if (ranks_ != nullptr) {
    DAVINCI_RETURN_IF_ERROR(ReduceScatter(moved));
  }
  std::erase_if(moved, [](const Slot* slot) { return !slot->gradient.defined(); });
  if (moved.empty()) return InvalidArgument("an update without gradients");
  Update update;
  DAVINCI_ASSIGN_OR_RETURN(update.gradient_norm, fused_ != nullptr
                                                     ? StepWithKernels(moved, any, learning_rate)
                                                     : StepWithAten(moved, any, learning_rate));
  update.applied = std::isfinite(update.gradient_norm);
  ++(update.applied ? updates : skipped);
  if (update.applied && ranks_ != nullptr) DAVINCI_RETURN_IF_ERROR(GatherWeights(moved));
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
  if (ranks_ == nullptr && own.defined()) return own.detach().to(at::kFloat);
  const Tensor whole = at::zeros(slot.compute.sizes(),
                                 slot.compute.options().dtype(at::kFloat).requires_grad(false));
  if (ranks_ == nullptr) return whole;
  if (kind == StateKind::kGradients && !shards_gradients_) {
    if (own.defined()) whole.copy_(own);
    DAVINCI_RETURN_IF_ERROR(
        ranks_->AllReduce(whole.mutable_data_ptr(), whole.numel(), comm::Element::kFloat32));
    return whole;
  }
  // A share without elements has no moments, one without a pass no gradients.
  DAVINCI_RETURN_IF_ERROR(Gather(own.defined() ? own : at::zeros_like(slot.master), whole));
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
  const Share share = ShareOf(slot->compute.numel());
  const int64_t from = std::max(begin, share.begin);
  const int64_t count = std::min(end, share.begin + share.size) - from;
  if (count > 0)
    Flat(*to).narrow(0, from - share.begin, count).copy_(values.narrow(0, from - begin, count));
}

}  // namespace davinci::trainer
