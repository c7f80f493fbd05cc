// kernels/train.cu on the host (host_threads.h), against the formulas in fp64.
#include "davinci/model/train_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "davinci/gpu/nvrtc.h"
#include "davinci/model/host_threads.h"

namespace davinci::model {
namespace train_on_host {

using namespace host_threads;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define dv_silu_mul dv_silu_mul_of_training  // decode_kernels_test.cc has it, too
#include "davinci/model/kernels/common.cu"
#include "davinci/model/kernels/train.cu"
#pragma GCC diagnostic pop
#undef __shared__

using Doubles = std::vector<double>;

// bf16 values: `exact` are what the kernels see.
struct Matrix {
  std::vector<Bf16> bits;
  Doubles exact;
  const uint4* words() const { return reinterpret_cast<const uint4*>(bits.data()); }
};
Matrix Random(int64_t count, unsigned seed, double scale = 1, double mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, scale);
  Matrix made;
  for (int64_t i = 0; i < count; ++i) {
    made.bits.push_back(Narrow(static_cast<float>(normal(random))));
    made.exact.push_back(Widen(made.bits.back()));
  }
  return made;
}
std::vector<Bf16> Bits(size_t count) { return std::vector<Bf16>(count, 0x7fc0); }  // NaN
uint4* Words(std::vector<Bf16>& bits) { return reinterpret_cast<uint4*>(bits.data()); }

// Of bf16 results: half a unit in the last place, and sums in fp32.
void ExpectClose(const std::vector<Bf16>& got, const Doubles& wanted, const char* what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(Widen(got[i]), wanted[i], 2e-5 + std::abs(wanted[i]) / 250) << what << " " << i;
}

// d loss / d x by central differences, where loss = sum of slope * f(x).
Doubles Gradient(Doubles x, const Doubles& slope, const std::function<Doubles(const Doubles&)>& f) {
  const auto loss = [&] {
    const Doubles y = f(x);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += slope[i] * y[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  Doubles gradient;
  for (double& value : x) {
    const double before = value;
    value = before + kStep;
    const double above = loss();
    value = before - kStep;
    gradient.push_back((above - loss()) / (2 * kStep));
    value = before;
  }
  return gradient;
}

Doubles NormOf(const Doubles& x, const Doubles& weight, double eps) {
  Doubles y = x;
  const size_t width = weight.size();
  for (size_t r = 0; r < x.size() / width; ++r) {
    double squares = 0;
    for (size_t i = 0; i < width; ++i) squares += x[r * width + i] * x[r * width + i];
    for (size_t i = 0; i < width; ++i)
      y[r * width + i] *= weight[i] / std::sqrt(squares / static_cast<double>(width) + eps);
  }
  return y;
}

TEST(TrainKernels, TheNormAndItsGradientFollowTheFormula) {
  const double eps = 1e-3;
  for (const int width : {8, 64, 264})
    for (const bool residual : {false, true}) {
      const unsigned rows = 7, blocks = 3, threads = width <= 256 ? 32 : 64;
      const int64_t size = int64_t{rows} * width;
      const Matrix x = Random(size, 1, 0.5), weight = Random(width, 2, 0.3, 1),
                   d_out = Random(size, 3), d_sum = Random(size, 4);
      std::vector<Bf16> out = Bits(x.bits.size()), d_x = out, d_weight = Bits(weight.bits.size());
      std::vector<float> parts(static_cast<size_t>(width) * blocks, NAN);
      Launch({blocks, 1, 1}, threads,
             [&] { dv_train_norm(x.words(), weight.words(), Words(out), rows, width / 8, eps); });
      ExpectClose(out, NormOf(x.exact, weight.exact, eps), "norm");
      Launch({blocks, 1, 1}, threads, [&] {
        dv_train_norm_back(x.words(), weight.words(), d_out.words(),
                           residual ? d_sum.words() : nullptr, Words(d_x), parts.data(), rows,
                           width / 8, eps);
      });
      Doubles wanted = Gradient(x.exact, d_out.exact,
                                [&](const Doubles& at) { return NormOf(at, weight.exact, eps); });
      for (size_t i = 0; i < wanted.size() && residual; ++i) wanted[i] += d_sum.exact[i];
      ExpectClose(d_x, wanted, "d x");
      const auto columns = static_cast<unsigned>(width);
      Launch({(columns + 31) / 32, 1, 1}, 1024,
             [&] { dv_train_sum(parts.data(), d_weight.data(), blocks, width); });
      ExpectClose(d_weight,
                  Gradient(weight.exact, d_out.exact,
                           [&](const Doubles& at) { return NormOf(x.exact, at, eps); }),
                  "d weight");
    }
}

struct HeadsCase {
  int heads, kv_heads, dim, lanes, at_once;
  unsigned threads;
  bool norms;
};

TEST(TrainKernels, HeadsAndTheirGradientFollowTheFormula) {
  const double eps = 1e-3;
  for (const HeadsCase c : {HeadsCase{3, 1, 32, 2, 6, 64, true},
                            {2, 1, 48, 4, 2, 32, true},
                            {4, 2, 16, 1, 4, 32, false},
                            {2, 2, 64, 4, 1, 32, true}}) {
    const int rows = 5, blocks = 2;
    const int64_t dim = c.dim, all = c.heads + 2 * c.kv_heads, turned = c.heads + c.kv_heads;
    const Matrix qkv = Random(rows * all * dim, 5), q_norm = Random(c.dim, 6, 0.3, 1),
                 k_norm = Random(c.dim, 7, 0.3, 1);
    std::mt19937 random(8);
    std::vector<float> table(static_cast<size_t>(9 * c.dim));
    for (float& value : table) value = std::uniform_real_distribution<float>(-1, 1)(random);
    const long long positions[] = {8, 0, 5, 2, 2};
    // [rows, heads + kv_heads, dim]
    const auto forward = [&](const Doubles& x, const Doubles& q_weight, const Doubles& k_weight) {
      Doubles y;
      for (int r = 0; r < rows; ++r)
        for (int h = 0; h < turned; ++h) {
          const auto begin = x.begin() + (r * all + h) * c.dim;
          Doubles head(begin, begin + c.dim);
          if (c.norms) head = NormOf(head, h < c.heads ? q_weight : k_weight, eps);
          const size_t half = static_cast<size_t>(c.dim) / 2;
          const float* const turn = table.data() + positions[r] * c.dim;
          for (size_t i = 0; i < head.size(); ++i) {
            const size_t pair = i < half ? i : i - half;
            const double other = i < half ? -head[pair + half] : head[pair];
            y.push_back(head[i] * turn[pair] + other * turn[half + pair]);
          }
        }
      return y;
    };
    const Bf16* const q_bits = c.norms ? q_norm.bits.data() : nullptr;
    const Bf16* const k_bits = c.norms ? k_norm.bits.data() : nullptr;
    std::vector<Bf16> out = Bits(static_cast<size_t>(rows * turned * c.dim));
    // Of the same grid as the gradient's, whose rows have more heads.
    Launch({blocks, 1, 1}, c.threads, [&] {
      dv_train_heads(qkv.bits.data(), all * c.dim, out.data(), turned * c.dim, q_bits, k_bits, eps,
                     table.data(), positions, rows, c.heads, c.kv_heads, c.dim, c.lanes, c.at_once);
    });
    ExpectClose(out, forward(qkv.exact, q_norm.exact, k_norm.exact), "heads");
    std::vector<Bf16> in_place = qkv.bits;
    Launch({blocks, 1, 1}, c.threads, [&] {
      dv_train_heads(in_place.data(), all * c.dim, in_place.data(), all * c.dim, q_bits, k_bits,
                     eps, table.data(), positions, rows, c.heads, c.kv_heads, c.dim, c.lanes,
                     c.at_once);
    });
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < all * c.dim; ++i) {
        const auto at = static_cast<size_t>(r * all * c.dim + i);
        ASSERT_EQ(in_place[at], i < turned * c.dim
                                    ? out[static_cast<size_t>(r * turned * c.dim + i)]
                                    : qkv.bits[at]);
      }

    const Matrix d_q = Random(dim * c.heads * rows, 9), d_k = Random(dim * c.kv_heads * rows, 10),
                 d_v = Random(dim * c.kv_heads * rows, 11);
    std::vector<Bf16> d_qkv = Bits(qkv.bits.size()), d_norms = Bits(static_cast<size_t>(2 * dim));
    std::vector<float> parts(static_cast<size_t>(blocks * 2 * c.dim), NAN);
    Launch({blocks, 1, 1}, c.threads, [&] {
      dv_train_heads_back(qkv.bits.data(), d_q.bits.data(), d_k.bits.data(), d_v.bits.data(),
                          d_qkv.data(), q_bits, k_bits, eps, table.data(), positions,
                          c.norms ? parts.data() : nullptr, rows, c.heads, c.kv_heads, c.dim,
                          c.lanes, c.at_once);
    });
    Doubles slope;
    const auto append = [&](const Matrix& from, int r, int heads) {
      const auto begin = from.exact.begin() + dim * heads * r;
      slope.insert(slope.end(), begin, begin + dim * heads);
    };
    for (int r = 0; r < rows; ++r) {
      append(d_q, r, c.heads);
      append(d_k, r, c.kv_heads);
    }
    Doubles wanted = Gradient(
        qkv.exact, slope, [&](const Doubles& x) { return forward(x, q_norm.exact, k_norm.exact); });
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < c.kv_heads * c.dim; ++i)
        wanted[static_cast<size_t>((r * all + turned) * c.dim + i)] =
            d_v.exact[static_cast<size_t>(dim * c.kv_heads * r + i)];
    ExpectClose(d_qkv, wanted, "d qkv");
    if (!c.norms) continue;
    Launch({(static_cast<unsigned>(2 * c.dim) + 31) / 32, 1, 1}, 1024,
           [&] { dv_train_sum(parts.data(), d_norms.data(), blocks, 2 * c.dim); });
    Doubles d_weights = Gradient(q_norm.exact, slope, [&](const Doubles& weight) {
      return forward(qkv.exact, weight, k_norm.exact);
    });
    const Doubles of_k = Gradient(k_norm.exact, slope, [&](const Doubles& weight) {
      return forward(qkv.exact, q_norm.exact, weight);
    });
    d_weights.insert(d_weights.end(), of_k.begin(), of_k.end());
    ExpectClose(d_norms, d_weights, "d norms");
  }
}

TEST(TrainKernels, TheGradientOfTheGateFollowsTheFormula) {
  const int rows = 5, width = 24;
  const Matrix both = Random(2 * width * rows, 12, 3), d_out = Random(width * rows, 13);
  std::vector<Bf16> d_both = Bits(both.bits.size());
  Launch({1, 1, 1}, 256, [&] {
    dv_train_silu_back(both.words(), d_out.words(), Words(d_both), rows * width / 8, width / 8);
  });
  ExpectClose(d_both,
              Gradient(both.exact, d_out.exact,
                       [&](const Doubles& x) {
                         Doubles y;
                         for (int r = 0; r < rows; ++r)
                           for (int i = 0; i < width; ++i) {
                             const size_t at =
                                 static_cast<size_t>(r) * 2 * width + static_cast<size_t>(i);
                             const double gate = x[at];
                             y.push_back(gate / (1 + std::exp(-gate)) * x[at + width]);
                           }
                         return y;
                       }),
              "d both");
}

TEST(TrainKernels, ScoresAndTheirDerivativesFollowTheFormula) {
  for (const int vocab : {8, 64, 1000, 4096})
    for (const double temperature : {1.0, 0.7}) {
      const int rows = 4;
      const auto size = static_cast<size_t>(vocab);
      Matrix logits = Random(int64_t{rows} * vocab, 14, 4);
      logits.bits[3] = Narrow(60.0F);  // a token that is all but certain
      logits.exact[3] = 60;
      const long long expected[] = {3, 0, vocab - 1, vocab / 2};
      const float slopes[] = {-0.5F, 0.25F, 0, 2};
      const auto inverse = static_cast<float>(1 / temperature);
      std::vector<float> log_probs(rows), log_sums(rows), entropies(rows);
      std::vector<Bf16> alone = logits.bits, together = logits.bits;
      const unsigned threads = vocab < 1024 ? 32 : 128;
      Launch({rows, 1, 1}, threads, [&] {
        dv_train_score(Words(alone), vocab / 8, inverse, expected, nullptr, log_probs.data(),
                       log_sums.data(), entropies.data());
      });
      EXPECT_EQ(alone, logits.bits);
      Launch({rows, 1, 1}, threads, [&] {
        dv_train_score_back(Words(alone), vocab / 8, inverse, expected, slopes, log_sums.data());
      });
      Doubles wanted(logits.exact.size());
      for (size_t r = 0; r < rows; ++r) {
        double sum = 0, entropy = 0;
        const double* const row = logits.exact.data() + r * size;
        for (size_t i = 0; i < size; ++i) sum += std::exp(row[i] / temperature);
        for (size_t i = 0; i < size; ++i) {
          const double log_p = row[i] / temperature - std::log(sum);
          entropy -= std::exp(log_p) * log_p;
          wanted[r * size + i] = slopes[r] / temperature *
                                 ((static_cast<long long>(i) == expected[r]) - std::exp(log_p));
        }
        const double log_p = row[expected[r]] / temperature - std::log(sum);
        EXPECT_NEAR(log_probs[r], log_p, 2e-5) << vocab;
        EXPECT_NEAR(entropies[r], entropy, 2e-5) << vocab;
      }
      ExpectClose(alone, wanted, "d logits");
      std::vector<float> again(rows);
      Launch({rows, 1, 1}, threads, [&] {
        dv_train_score(Words(together), vocab / 8, inverse, expected, slopes, again.data(),
                       log_sums.data(), nullptr);
      });
      EXPECT_EQ(together, alone);  // the same bits in one launch
      EXPECT_EQ(again, log_probs);
    }
}

TEST(TrainKernels, ALogitThatIsNoNumberIsSeen) {
  std::vector<Bf16> logits(64, 0);
  logits[40] = 0x7fc0;
  const long long expected[] = {1};
  float log_prob = 0, log_sum = 0;
  Launch({1, 1, 1}, 32, [&] {
    dv_train_score(Words(logits), 8, 1, expected, nullptr, &log_prob, &log_sum, nullptr);
  });
  EXPECT_TRUE(std::isnan(log_prob));
}

// Tensors of an update, as they lie in memory; `at` shifts the addresses so that they are not
// dense.
struct UpdateTensor {
  bool half, decays, rounds;
  size_t count, at;
  std::vector<float> gradient, master, first, second;
  std::vector<Bf16> half_gradient, weights;
  Doubles exact_gradient, exact_master, exact_first, exact_second;
};

TEST(TrainKernels, TheUpdateClipsDecaysAndRoundsAsTheFormulaSays) {
  const double clip = 0.5, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, decay = 0.1, rate = 0.01;
  const int step = 3;
  std::vector<UpdateTensor> tensors = {
      {true, true, true, 16384 + 4000, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}},
      {false, false, false, 37, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}},
      {false, true, true, 700, 1, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}};
  std::mt19937 random(20);
  std::normal_distribution<float> normal(0, 1);
  std::vector<TrainKernels::UpdateSlot> slots;
  std::vector<unsigned> blocks;
  double squares = 0;
  for (UpdateTensor& t : tensors) {
    const size_t size = t.count + t.at;
    for (size_t i = 0; i < size; ++i) {
      t.gradient.push_back(0.01F * normal(random));
      t.half_gradient.push_back(Narrow(t.gradient.back()));
      t.exact_gradient.push_back(t.half ? Widen(t.half_gradient.back()) : t.gradient.back());
      t.master.push_back(normal(random));
      t.first.push_back(0.01F * normal(random));
      t.second.push_back(1e-4F * std::abs(normal(random)));
      if (i >= t.at) squares += t.exact_gradient.back() * t.exact_gradient.back();
    }
    t.exact_master.assign(t.master.begin(), t.master.end());
    t.exact_first.assign(t.first.begin(), t.first.end());
    t.exact_second.assign(t.second.begin(), t.second.end());
    t.weights = Bits(size);
    const auto address = [](const auto& of, size_t at) {
      return reinterpret_cast<int64_t>(of.data() + at);
    };
    for (size_t chunk = 0; chunk * TrainKernels::kUpdateChunk < t.count; ++chunk) {
      blocks.push_back(static_cast<unsigned>(slots.size()));
      blocks.push_back(static_cast<unsigned>(chunk));
    }
    slots.push_back({t.half ? address(t.half_gradient, t.at) : address(t.gradient, t.at),
                     address(t.master, t.at), address(t.first, t.at), address(t.second, t.at),
                     t.rounds ? address(t.weights, t.at) : 0, static_cast<int64_t>(t.count),
                     (t.decays ? TrainKernels::kDecays : 0) | (t.half ? TrainKernels::kHalf : 0) |
                         (t.at == 0 ? TrainKernels::kDense : 0)});
  }
  const auto num_blocks = static_cast<unsigned>(blocks.size() / 2);
  const auto* const table = reinterpret_cast<const long long*>(slots.data());
  std::vector<float> parts(num_blocks, NAN);
  double total = NAN;
  Launch({num_blocks, 1, 1}, 256, [&] { dv_train_squares(table, blocks.data(), parts.data()); });
  Launch({1, 1, 1}, 1024, [&] { dv_train_total(parts.data(), num_blocks, &total); });
  EXPECT_NEAR(total, squares, 1e-5 * squares);
  const auto update = [&](double of) {
    Launch({num_blocks, 1, 1}, 256, [&] {
      dv_train_adamw(table, blocks.data(), &of, clip, beta1, beta2, eps, rate * decay,
                     static_cast<float>(rate / (1 - std::pow(beta1, step))),
                     static_cast<float>(std::sqrt(1 - std::pow(beta2, step))));
    });
  };
  const std::vector<UpdateTensor> before = tensors;
  update(INFINITY);
  update(NAN);
  for (size_t k = 0; k < tensors.size(); ++k) EXPECT_EQ(tensors[k].master, before[k].master);
  ASSERT_GT(std::sqrt(squares), clip);
  update(total);
  for (size_t k = 0; k < tensors.size(); ++k) {
    const UpdateTensor& t = tensors[k];
    for (size_t i = 0; i < t.count + t.at; ++i) {
      if (i < t.at) {
        ASSERT_EQ(t.master[i], before[k].master[i]);
        continue;
      }
      const double g = t.exact_gradient[i] * clip / std::sqrt(squares);
      const double first = beta1 * t.exact_first[i] + (1 - beta1) * g;
      const double second = beta2 * t.exact_second[i] + (1 - beta2) * g * g;
      const double master = t.exact_master[i] * (1 - (t.decays ? rate * decay : 0)) -
                            rate * first / (1 - std::pow(beta1, step)) /
                                (std::sqrt(second / (1 - std::pow(beta2, step))) + eps);
      ASSERT_NEAR(t.first[i], first, 1e-7) << k << " " << i;
      ASSERT_NEAR(t.second[i], second, 1e-9) << k << " " << i;
      ASSERT_NEAR(t.master[i], master, 1e-6) << k << " " << i;
      ASSERT_EQ(t.weights[i], t.rounds ? Narrow(t.master[i]) : 0x7fc0) << k << " " << i;
    }
  }
}

TEST(TrainKernels, ShapesOfTheModelsAreDone) {
  for (const auto& [heads, kv, dim] : std::vector<std::array<int, 3>>{
           {8, 4, 64}, {9, 3, 64}, {16, 8, 128}, {32, 8, 128}, {40, 8, 128}})
    EXPECT_TRUE(TrainKernels::CanHeads({heads, kv, dim, 1e-6F})) << heads;
  EXPECT_FALSE(TrainKernels::CanHeads({4, 2, 20, 1e-6F}));
  for (const int width : {512, 576, 2048, 2560, 5120}) EXPECT_TRUE(TrainKernels::CanNorm(width));
  EXPECT_FALSE(TrainKernels::CanNorm(84));
  EXPECT_FALSE(TrainKernels::CanNorm(8192));
}

TEST(TrainKernels, CompileWithoutHeadersForTraining) {
  const char* directory = std::getenv("DAVINCI_NVRTC_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::vector<std::string> directories(directory == nullptr ? 0 : 1,
                                             directory == nullptr ? "" : directory);
  const auto nvrtc = gpu::Nvrtc::Load(directories);
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().ToString();
  const auto output = nvrtc->Compile(TrainKernels::Source(), "train.cu", "sm_90",
                                     std::vector<std::string>{"--std=c++17"});
  ASSERT_TRUE(output.ok()) << output.status().ToString();
  EXPECT_TRUE(output->ok) << output->log;
  EXPECT_NE(output->cubin.find("dv_train_score_back"), std::string::npos);
}

}  // namespace train_on_host
}  // namespace davinci::model
