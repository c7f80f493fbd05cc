#include "davinci/model/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace davinci::model {
namespace {

uint64_t Mix(uint64_t z) {  // the finaliser of SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

TokenId Largest(std::span<const float> values) {
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] > values[best] || std::isnan(values[best])) best = i;
  return static_cast<TokenId>(best);
}

// The `count` largest, best first, ties by id.
void SortLargest(const std::vector<float>& values, size_t count, std::vector<TokenId>* order) {
  order->resize(values.size());
  std::iota(order->begin(), order->end(), 0);
  const auto better = [&](TokenId a, TokenId b) {
    const float x = values[static_cast<size_t>(a)];
    const float y = values[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  if (count < values.size())
    std::nth_element(order->begin(), order->begin() + static_cast<int64_t>(count), order->end(),
                     better);
  order->resize(std::min(count, values.size()));
  std::sort(order->begin(), order->end(), better);
}

}  // namespace

float Noise(uint64_t seed, int64_t position) {
  const uint64_t bits = Mix(Mix(seed + 0x9e3779b97f4a7c15ull) ^
                            (static_cast<uint64_t>(position) + 1) * 0xd1b54a32d192ed03ull);
  return static_cast<float>(bits >> 40) * 0x1.0p-24F;
}

Step Draw(std::span<const float> logits, const Sampling& sampling, float noise,
          int num_alternatives, DrawScratch* scratch, std::span<const uint64_t> allowed) {
  if (!allowed.empty()) {
    // An allowed token is above every other, whatever its bits are.
    constexpr float kLeast = std::numeric_limits<float>::lowest();
    scratch->allowed.assign(logits.size(), -std::numeric_limits<float>::infinity());
    for (size_t i = 0; i < logits.size(); ++i)
      if (IsAllowed(allowed, i)) scratch->allowed[i] = logits[i] > kLeast ? logits[i] : kLeast;
    logits = scratch->allowed;
  }
  std::vector<float>& weights = scratch->weights;
  std::vector<TokenId>& order = scratch->order;
  const size_t size = logits.size();
  const bool greedy = sampling.temperature <= 0;
  const auto inverse = greedy ? 1.0F : static_cast<float>(1.0 / sampling.temperature);
  const TokenId best = Largest(logits);
  const float top = logits[static_cast<size_t>(best)];
  weights.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const float weight = std::exp((logits[i] - top) * inverse);
    weights[i] = weight >= 0 ? weight : 0;  // NaN: never drawn
  }
  if (!(weights[static_cast<size_t>(best)] > 0)) weights[static_cast<size_t>(best)] = 1;
  if (!greedy) {
    const bool limit_k = sampling.top_k > 0 && static_cast<size_t>(sampling.top_k) < size;
    const bool limit_p = sampling.top_p < 1;
    if (limit_k || limit_p) {
      // Most nuclei are small: look at more only where the mass is not yet there.
      size_t count = limit_k ? static_cast<size_t>(sampling.top_k) : std::min<size_t>(size, 256);
      double total = 0;
      if (!limit_k) total = std::accumulate(weights.begin(), weights.end(), 0.0);
      while (true) {
        SortLargest(weights, count, &order);
        if (limit_k) {
          total = 0;
          for (const TokenId id : order) total += weights[static_cast<size_t>(id)];
        }
        size_t keep = order.size();
        bool enough = true;
        if (limit_p) {
          double mass = 0;
          keep = 0;
          enough = false;
          while (keep < order.size() && !enough) {
            mass += weights[static_cast<size_t>(order[keep++])];
            enough = mass >= sampling.top_p * total;
          }
        }
        if (enough || limit_k || count >= size) {
          order.resize(std::max<size_t>(keep, 1));
          break;
        }
        count = std::min(size, count * 8);
      }
      std::vector<float> kept(order.size());
      for (size_t i = 0; i < order.size(); ++i) kept[i] = weights[static_cast<size_t>(order[i])];
      std::fill(weights.begin(), weights.end(), 0.0F);
      for (size_t i = 0; i < order.size(); ++i) weights[static_cast<size_t>(order[i])] = kept[i];
    }
    if (sampling.min_p > 0) {
      const auto least = static_cast<float>(sampling.min_p) * weights[static_cast<size_t>(best)];
      for (float& weight : weights)
        if (weight < least) weight = 0;
    }
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Step step;
  step.token = best;
  if (!greedy) {
    const double target = static_cast<double>(noise) * total;
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
      if (weights[i] <= 0) continue;
      sum += weights[i];
      step.token = static_cast<TokenId>(i);  // rounding: the last possible one
      if (sum > target) break;
    }
  }
  const auto log_total = std::log(total);
  const auto logprob = [&](TokenId id) {
    return static_cast<float>(std::log(static_cast<double>(weights[static_cast<size_t>(id)])) -
                              log_total);
  };
  step.logprob = logprob(step.token);
  if (num_alternatives > 0) {
    SortLargest(weights, static_cast<size_t>(num_alternatives), &order);
    for (const TokenId id : order)
      if (weights[static_cast<size_t>(id)] > 0) step.alternatives.emplace_back(id, logprob(id));
  }
  return step;
}

}  // namespace davinci::model
