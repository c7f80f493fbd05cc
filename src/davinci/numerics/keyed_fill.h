// Random inputs on the host: a keyed counter generator, so that the oracle draws megabytes in
// milliseconds.
//
// Philox4x32-10 (Salmon et al., SC'11, "Parallel random numbers: as easy as 1, 2, 3"): element i
// depends on (key, i) alone, hence the result does not depend on the number of threads, and without
// the key nothing can be foretold. torch's own generators run on one thread, from a state that can
// be guessed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace davinci::numerics {

// Uniform in [0, 1), multiples of 2^-24.
void FillUniform(float* out, size_t n, uint64_t key, int num_threads);

// Standard normal, by Box and Muller from 32-bit words: |value| up to 6.7.
void FillNormal(float* out, size_t n, uint64_t key, int num_threads);

// `to` = `from`, each moved by at most half of `eps` of itself, to either side; whole numbers,
// infinities and NaN stay as they are.
void NudgeFloats(const float* from, size_t n, double eps, uint64_t key, double* to,
                 int num_threads);

// The four words of block `counter`; exposed for the test against the published vectors.
void PhiloxBlock(uint64_t counter_low, uint64_t counter_high, uint64_t key, uint32_t out[4]);

}  // namespace davinci::numerics

extern "C" {
// The same for ctypes. num_threads <= 0: one.
__attribute__((visibility("default"))) void dv_fill_uniform(float* out, size_t n, uint64_t key,
                                                            int num_threads);
__attribute__((visibility("default"))) void dv_fill_normal(float* out, size_t n, uint64_t key,
                                                           int num_threads);
__attribute__((visibility("default"))) void dv_nudge_floats(const float* from, size_t n, double eps,
                                                            uint64_t key, double* to,
                                                            int num_threads);
}
