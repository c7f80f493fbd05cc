#include "davinci/trainer/torch/shards.h"

#include <algorithm>
#include <utility>

namespace davinci::trainer {

using at::Tensor;

namespace {

// Tensors travel together up to so many elements: a call costs some ten microseconds, and 32 MB of
// fp32 take longer than that on any link.
constexpr int64_t kBucketElements = int64_t{8} << 20;

}  // namespace

Tensor Flat(const Tensor& tensor) { return tensor.detach().view({-1}); }

Shards::Share Shards::ShareOf(int64_t num_elements) const {
  if (ranks_ == nullptr) return {0, num_elements, num_elements};
  const int64_t chunk = (num_elements + ranks_->size() - 1) / ranks_->size();
  const int64_t begin = std::min(ranks_->rank() * chunk, num_elements);
  return {begin, std::min(chunk, num_elements - begin), chunk};
}

std::vector<Shards::Bucket> Shards::BucketsOf(std::span<Slot* const> slots) const {
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

bool Shards::IsWhole(const Bucket& bucket) const {
  return bucket.slots.size() == 1 &&
         bucket.chunk * ranks_->size() == bucket.slots.front()->compute.numel();
}

std::vector<Tensor> Shards::PartsOf(const Bucket& bucket, const Tensor& all, const TensorOf& flat,
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

Tensor Shards::Own(const Tensor& whole) const {
  if (ranks_ == nullptr) return whole;
  const Share share = ShareOf(whole.numel());
  return Flat(whole).narrow(0, share.begin, share.size);
}

Status Shards::Sum(const Tensor& whole) const {
  if (ranks_ == nullptr) return Status::Ok();
  return ranks_->AllReduce(whole.mutable_data_ptr(), whole.numel(), comm::Element::kFloat32);
}

Status Shards::ReduceScatter(std::span<Slot* const> slots) const {
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

Status Shards::GatherAll(std::span<Slot* const> slots, const TensorOf& share,
                         const TensorOf& whole) const {
  for (const Bucket& bucket : BucketsOf(slots)) {
    if (IsWhole(bucket)) {
      const Slot& slot = *bucket.slots.front();
      DAVINCI_RETURN_IF_ERROR(Gather(share(slot), whole(slot)));
      continue;
    }
    const auto options = whole(*bucket.slots.front()).options().requires_grad(false);
    const Tensor own = at::empty({bucket.chunk}, options);
    std::vector<Tensor> places, shares;
    int64_t offset = 0;
    for (const Slot* slot : bucket.slots) {
      const Share place = ShareOf(slot->compute.numel());
      if (place.size > 0) {
        places.push_back(own.narrow(0, offset, place.size));
        shares.push_back(share(*slot));
      }
      offset += place.chunk;
    }
    if (!places.empty()) at::_foreach_copy_(places, shares);
    const Tensor all = at::empty({bucket.chunk * ranks_->size()}, options);
    DAVINCI_RETURN_IF_ERROR(ranks_->AllGather(own.const_data_ptr(), all.mutable_data_ptr(),
                                              bucket.chunk * own.element_size()));
    std::vector<Tensor> wholes;
    const auto parts = PartsOf(
        bucket, all, [&](const Slot& slot) { return Flat(whole(slot)); }, &wholes);
    at::_foreach_copy_(wholes, parts);
  }
  return Status::Ok();
}

Status Shards::SumSquares(const Tensor& squares, bool any) const {
  if (ranks_ == nullptr) return Status::Ok();
  // The second element counts the ranks that have gradients.
  const Tensor sums = at::full({2}, any ? 1.0 : 0.0, squares.options());
  sums.narrow(0, 0, 1).copy_(squares);
  DAVINCI_RETURN_IF_ERROR(ranks_->AllReduce(sums.mutable_data_ptr(), 2, comm::Element::kFloat64));
  if (sums[1].item<double>() == 0) return InvalidArgument("an update without gradients");
  squares.copy_(sums.narrow(0, 0, 1));
  return Status::Ok();
}

Status Shards::Gather(const Tensor& share, const Tensor& whole) const {
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

}  // namespace davinci::trainer
