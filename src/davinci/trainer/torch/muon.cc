#include "davinci/trainer/torch/muon.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace davinci::trainer {

using at::Tensor;

namespace {

// Coefficients of the iteration X <- a X + (b A + c A A) X with A = X X^T.
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
constexpr int kIterations = 5;
constexpr double kLeastNorm = 1e-7;
// The root mean square of an update relative to the learning rate, as AdamW has it.
constexpr double kRootMeanSquare = 0.2;

// The matrices that a slot consists of, each with the others of its shape.
using Shapes = std::map<std::pair<int64_t, int64_t>, std::vector<Tensor>>;

void AddMatrices(const Slot& slot, const Tensor& whole, Shapes* shapes) {
  const Tensor all = whole.view(slot.compute.sizes());
  for (const model::StoredPart& part : slot.parts)
    (*shapes)[{part.rows, all.size(1)}].push_back(all.narrow(0, part.begin, part.rows));
}

}  // namespace

Tensor Orthogonalised(const Tensor& matrices) {
  const bool tall = matrices.size(1) > matrices.size(2);
  Tensor x = tall ? matrices.transpose(1, 2) : matrices;
  const Tensor norms = at::linalg_vector_norm(x, 2, at::IntArrayRef{1, 2}, /*keepdim=*/true);
  x = x / norms.clamp_min(kLeastNorm);
  for (int i = 0; i < kIterations; ++i) {
    const Tensor gram = at::bmm(x, x.transpose(1, 2));
    const Tensor polynomial = at::baddbmm(gram, gram, gram, kB, kC);
    x = at::baddbmm(x, polynomial, x, kA, 1);
  }
  return tall ? x.transpose(1, 2) : x;
}

Status Muon::Update(std::span<Slot* const> slots, double scale, double learning_rate) const {
  if (slots.empty()) return Status::Ok();
  std::vector<Tensor> gradients, momenta, masters;
  for (Slot* slot : slots) {
    if (!slot->first.defined()) slot->first = at::zeros_like(slot->master.detach());
    gradients.push_back(slot->gradient.to(at::kFloat).view(slot->first.sizes()));
    momenta.push_back(slot->first);
    masters.push_back(slot->master.detach());
  }
  if (scale != 1) gradients = at::_foreach_mul(gradients, scale);
  at::_foreach_lerp_(momenta, gradients, 1 - options_.momentum);
  const std::vector<Tensor> ahead =
      at::_foreach_lerp(gradients, momenta, options_.momentum);  // Nesterov's

  // Every rank gets the whole ones.
  std::vector<Tensor> directions;
  std::unordered_map<const Slot*, size_t> places;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor weights = slots[i]->compute.detach();
    directions.push_back(shards_.is_one() ? ahead[i].to(weights.scalar_type())
                                          : at::empty_like(weights));
    places[slots[i]] = i;
  }
  if (!shards_.is_one())
    DAVINCI_RETURN_IF_ERROR(shards_.GatherAll(
        slots, [&](const Slot& slot) { return ahead[places.at(&slot)]; },
        [&](const Slot& slot) { return directions[places.at(&slot)]; }));
  Shapes shapes;
  for (size_t i = 0; i < slots.size(); ++i) AddMatrices(*slots[i], directions[i], &shapes);
  for (auto& [shape, matrices] : shapes) {
    const double size =
        kRootMeanSquare * std::sqrt(static_cast<double>(std::max(shape.first, shape.second)));
    const std::vector<Tensor> made = Orthogonalised(at::stack(matrices)).mul_(size).unbind(0);
    at::_foreach_copy_(matrices, made);
  }
  std::vector<Tensor> own;
  for (size_t i = 0; i < slots.size(); ++i)
    own.push_back(shards_.Own(directions[i]).to(at::kFloat).view(masters[i].sizes()));
  if (options_.weight_decay != 0)
    at::_foreach_mul_(masters, 1 - learning_rate * options_.weight_decay);
  at::_foreach_add_(masters, own, -learning_rate);
  return Status::Ok();
}

}  // namespace davinci::trainer
