#include "davinci/model/torch/cuda_sampler.h"

#include <cmath>
#include <limits>
#include <vector>

#include "davinci/model/draw.h"

namespace davinci::model {
namespace {

using at::Tensor;

// Rows whose restrictions look at no more than so many tokens need no full sort.
constexpr int64_t kSmallTopK = 128;

// From logits that are already scaled and restricted.
Drawn DrawFrom(const Tensor& scaled, const Tensor& noise, const Tensor& greedy) {
  const Tensor probabilities = at::softmax(scaled, -1);
  const Tensor sums = at::cumsum(probabilities, -1);
  const Tensor target = (noise * sums.select(1, sums.size(1) - 1)).unsqueeze(1);
  const Tensor drawn = at::searchsorted(sums, target, /*out_int32=*/false, /*right=*/true)
                           .clamp_max(sums.size(1) - 1);
  const Tensor best = at::argmax(scaled, -1, /*keepdim=*/true);
  const Tensor token = at::where(greedy.unsqueeze(1), best, drawn);
  return {token.squeeze(1), probabilities.gather(1, token).squeeze(1).log()};
}

// -inf where top_k, top_p and min_p take a token away. Ties at an edge stay. `width`: how many of
// the likeliest have to be looked at. k, p and m: columns, [rows, 1].
Tensor Restrict(const Tensor& scaled, const Tensor& k, const Tensor& p, const Tensor& m,
                int64_t width) {
  const int64_t vocab = scaled.size(1);
  const auto sorted_pair =
      width < vocab ? at::topk(scaled, width) : at::sort(scaled, -1, /*descending=*/true);
  const Tensor sorted = std::get<0>(sorted_pair);
  const Tensor rank = at::arange(width, k.options()).unsqueeze(0);
  const Tensor in_k = rank < k;
  const float none = -std::numeric_limits<float>::infinity();
  const Tensor shares = at::softmax(sorted.masked_fill(in_k.logical_not(), none), -1);
  // A token stays while the mass before it is short of top_p.
  const Tensor before = at::cumsum(shares, -1) - shares;
  const Tensor kept = in_k.logical_and((before < p).logical_or(p >= 1)).logical_or(rank == 0);
  const Tensor edge =
      sorted.masked_fill(kept.logical_not(), std::numeric_limits<float>::infinity()).amin(1, true);
  const Tensor unlimited = (k >= vocab).logical_and(p >= 1);
  const Tensor least = sorted.narrow(1, 0, 1) + m.log();  // min_p 0: -inf
  const Tensor limit = at::maximum(edge.masked_fill(unlimited, none), least);
  return scaled.masked_fill(scaled < limit, none);
}

// -inf in rows `filtered` where a filter takes a token away.
Tensor Filtered(const Tensor& scaled, std::span<const DrawRow> rows,
                const std::vector<int64_t>& filtered) {
  const int64_t vocab = scaled.size(1);
  const auto count = static_cast<int64_t>(filtered.size());
  const Tensor taken = at::empty({count, vocab}, at::kBool);
  auto* flag = taken.data_ptr<bool>();
  for (const int64_t row : filtered)
    for (int64_t id = 0; id < vocab; ++id)
      *flag++ = !IsAllowed(rows[static_cast<size_t>(row)].allowed, static_cast<size_t>(id));
  const Tensor places = at::tensor(filtered, at::kLong).to(scaled.device());
  return scaled.index_copy(0, places,
                           scaled.index_select(0, places).masked_fill(
                               taken.to(scaled.device()), -std::numeric_limits<float>::infinity()));
}

}  // namespace

// One launch. `inverse_temperature`: what each row's logits are multiplied by.
void CudaSampler::Launch(const Tensor& logits, const Tensor& inverse_temperature) const {
  CheckLaunch(
      kernels_->Draw(stream_, logits.data_ptr(), logits.scalar_type() != at::kFloat, logits.size(0),
                     logits.size(1), inverse_temperature.const_data_ptr<float>(),
                     inputs_.noise.const_data_ptr<float>(), inputs_.greedy.const_data_ptr<bool>(),
                     drawn_.tokens.data_ptr<int64_t>(), drawn_.logprobs.data_ptr<float>()));
}

void CudaSampler::DrawUnrestricted(const Tensor& logits) const {
  if (kernels_ != nullptr)
    Launch(logits, inputs_.inverse_temperature);
  else
    DrawScaled(logits * inputs_.inverse_temperature.narrow(0, 0, logits.size(0)).unsqueeze(1));
}

void CudaSampler::DrawScaled(const Tensor& scaled) const {
  const int64_t rows = scaled.size(0);
  if (kernels_ != nullptr) {
    Launch(scaled.contiguous(), at::ones({rows}, inputs_.noise.options()));
    return;
  }
  const Drawn drawn =
      DrawFrom(scaled, inputs_.noise.narrow(0, 0, rows), inputs_.greedy.narrow(0, 0, rows));
  const Drawn into = drawn_.First(rows);
  into.tokens.copy_(drawn.tokens);
  into.logprobs.copy_(drawn.logprobs);
}

CudaSampler::Alternatives CudaSampler::Finish(const Tensor& logits, std::span<const DrawRow> rows,
                                              bool drawn) const {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t vocab = logits.size(1);
  bool restricted = false;
  bool small = true;
  int wanted = 0;
  std::vector<int64_t> filtered;
  for (const DrawRow& row : rows) {
    if (!row.allowed.empty()) filtered.push_back(&row - rows.data());
    const Sampling& s = *row.sampling;
    const bool limit_k = s.top_k > 0 && s.top_k < vocab;
    const bool limits = s.temperature > 0 && (limit_k || s.top_p < 1 || s.min_p > 0);
    restricted = restricted || limits;
    if (limits && s.top_p < 1 && (!limit_k || s.top_k > kSmallTopK)) small = false;
    if (limits && limit_k && s.top_k > kSmallTopK) small = false;
    wanted = std::max(wanted, row.num_alternatives);
  }
  const auto column = [&](const Tensor& x) { return x.narrow(0, 0, count).unsqueeze(1); };
  Tensor scaled;
  if (restricted || !drawn || wanted > 0 || !filtered.empty())
    scaled = logits.to(at::kFloat) * column(inputs_.inverse_temperature);
  if (!filtered.empty()) scaled = Filtered(scaled, rows, filtered);
  if (restricted)
    scaled = Restrict(scaled, column(inputs_.top_k), column(inputs_.top_p), column(inputs_.min_p),
                      small ? std::min(kSmallTopK, vocab) : vocab);
  if (restricted || !drawn || !filtered.empty()) DrawScaled(scaled);
  Alternatives alternatives;
  if (wanted > 0)
    std::tie(alternatives.logprobs, alternatives.ids) =
        at::topk(at::log_softmax(scaled, -1), std::min<int64_t>(wanted, vocab));
  return alternatives;
}

}  // namespace davinci::model
