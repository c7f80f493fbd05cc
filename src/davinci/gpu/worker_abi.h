// The device's side of the worker as C functions for ctypes; linked into libdavinci_worker.so.
// Semantics: device_ops.h, ipc_memory.h, activity.h, driver_api.h.
//
// Functions returning int: 0 done (a wrong candidate included: look at dv_result.passed), -1 the
// call was wrong or not possible here, -2 out of memory, -3 the device or the context is lost (a
// crashed kernel: only a new process helps). dv_cuda_last_error() then says why (per thread, valid
// until the next failing call on that thread).
//
// One device per process. Call dv_cuda_init once, then anything from any thread; dv_cuda_init
// before torch touches CUDA is allowed. Kernels are compiled (or read from the cache) at the first
// function that needs them, marked [K]. Pointers are device addresses as integers, sizes are in
// elements unless named bytes, `stream` is a stream handle
// (torch.cuda.current_stream().cuda_stream; 0 = legacy default stream). Unless marked [async] a
// function returns when its work on `stream` is done. dv_profile, dv_tolerance, dtype: as in
// numerics/worker_abi.h. No function throws.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "davinci/numerics/worker_abi.h"

#define DV_CUDA_EXPORT __attribute__((visibility("default")))

extern "C" {

// Rises with every incompatible change of this file.
DV_CUDA_EXPORT int dv_cuda_abi_version(void);
DV_CUDA_EXPORT const char* dv_cuda_last_error(void);

// `ordinal` as in torch.cuda. library_directories: colon-separated folders that may hold libnvrtc
// and libcupti (such as <site-packages>/nvidia/cu13/lib); NULL or "" for none. cache_directory: for
// compiled kernels; NULL or "" for none. Repeating the call with the same ordinal is fine, another
// ordinal fails.
DV_CUDA_EXPORT int dv_cuda_init(int ordinal, const char* library_directories,
                                const char* cache_directory);
// [K] Compiles and loads the kernels now instead of at first use.
DV_CUDA_EXPORT int dv_cuda_prepare(void);
// JSON:
// {"name","uuid","driver_library","cuda_driver_version","compute_capability":[9,0],"multiprocessors","l2_bytes",
// "memory_total_bytes","memory_free_bytes","memory_bus_width_bits","max_shared_bytes_per_block","max_persisting_l2_bytes",
// "context_was_active","kernels":null or
// {"architecture","from_cache","compile_ms","nvrtc_version"}}. Fails with -1 when `capacity` is too
// small; *needed is then the size to offer, the ending zero included (may be NULL).
DV_CUDA_EXPORT int dv_cuda_driver_info(char* json, size_t capacity, size_t* needed);

// Waits for everything this process has on the device, all streams. The way a crashed kernel is
// noticed.
DV_CUDA_EXPORT int dv_cuda_sync(void);
DV_CUDA_EXPORT int dv_cuda_stream_sync(uint64_t stream);
// cuCtxSetLimit/GetLimit: 0 stack bytes, 2 malloc heap bytes, 6 persisting L2 bytes.
DV_CUDA_EXPORT int dv_cuda_set_limit(int limit, uint64_t value);
DV_CUDA_EXPORT int dv_cuda_get_limit(int limit, uint64_t* value);

// handle64: 64 bytes, of the allocation that contains `pointer`.
DV_CUDA_EXPORT int dv_cuda_ipc_export(uint64_t pointer, unsigned char* handle64,
                                      uint64_t* offset_bytes, uint64_t* allocation_bytes);
// *base: start of the allocation here, *allocation_bytes its true size (check the sender's offset
// against it).
DV_CUDA_EXPORT int dv_cuda_ipc_open(const unsigned char* handle64, uint64_t* base,
                                    uint64_t* allocation_bytes);
DV_CUDA_EXPORT int dv_cuda_ipc_close(uint64_t base);

// Memory of its own, for what is shared with another process: sharing gives away the whole
// allocation. `num_bytes` is rounded up by the caller to whole blocks of 2 MiB.
DV_CUDA_EXPORT int dv_cuda_malloc(uint64_t num_bytes, uint64_t* pointer);
DV_CUDA_EXPORT int dv_cuda_free(uint64_t pointer);

// [K][async] A kernel that keeps the device from other contexts until the word (mapped host memory)
// is `value`, `max_ns` at most.
DV_CUDA_EXPORT int dv_cuda_hold(uint64_t word, uint32_t value, uint64_t max_ns, uint64_t stream);

// [K][async] Writes 2 x L2 of keyed noise; leave_clean: reads it back, so that nothing dirty is
// left to write.
DV_CUDA_EXPORT int dv_cuda_flush_l2(uint64_t key, int leave_clean, uint64_t stream);
DV_CUDA_EXPORT int dv_cuda_persisting_reset(void);
// [K][async] Keyed signalling NaNs for floats, keyed bits for integers, bytes >= 128 for bool.
DV_CUDA_EXPORT int dv_cuda_poison(uint64_t pointer, uint64_t n, int dtype, uint64_t key,
                                  uint64_t stream);
// [K] How many elements still hold their pattern; *first_index is meaningful when *num_poisoned >
// 0.
DV_CUDA_EXPORT int dv_cuda_poison_count(uint64_t pointer, uint64_t n, int dtype, uint64_t key,
                                        uint64_t stream, uint64_t* num_poisoned,
                                        uint64_t* first_index);
// [K] Equal to dv_checksum of the same bytes in host memory. Any alignment; 16 is fastest.
DV_CUDA_EXPORT int dv_cuda_checksum(uint64_t pointer, uint64_t num_bytes, uint64_t key,
                                    uint64_t stream, uint64_t* checksum);
// [K] bits[j] = element at dv_cuda_sample_position(key, j, n), zero-extended; at most 131072
// samples.
DV_CUDA_EXPORT int dv_cuda_sample(uint64_t pointer, uint64_t n, int element_bytes, uint64_t key,
                                  uint64_t num_samples, uint64_t stream, uint64_t* bits);
// [K][async] As dv_cuda_checksum, dv_cuda_sample and dv_cuda_accepts; what they find stays in
// device memory, so that many are read back at once: one word, num_samples words, one word (0 or
// 1). `tolerance`: a dv_tolerance in device memory. dv_cuda_queue_accepts: n > 0, no fp64.
DV_CUDA_EXPORT int dv_cuda_queue_checksum(uint64_t pointer, uint64_t num_bytes, uint64_t key,
                                          uint64_t stream, uint64_t checksum);
DV_CUDA_EXPORT int dv_cuda_queue_sample(uint64_t pointer, uint64_t n, int element_bytes,
                                        uint64_t key, uint64_t num_samples, uint64_t stream,
                                        uint64_t bits);
DV_CUDA_EXPORT int dv_cuda_queue_accepts(uint64_t baseline, uint64_t candidate, int dtype,
                                         uint64_t n, uint64_t tolerance, uint64_t stream,
                                         uint64_t accepted);
// Host arithmetic, no device needed.
DV_CUDA_EXPORT uint64_t dv_cuda_sample_position(uint64_t key, uint64_t j, uint64_t n);
// The bits dv_cuda_poison writes at `index`, zero-extended.
DV_CUDA_EXPORT uint64_t dv_cuda_poison_pattern(int dtype, uint64_t key, uint64_t index);

// [K] As dv_profile_accumulate; truth fp64, dont_care: device pointer to n bytes or 0; profile:
// dv_profile in host memory.
DV_CUDA_EXPORT int dv_cuda_profile_accumulate(uint64_t truth, uint64_t honest, int honest_dtype,
                                              int output_dtype, uint64_t n, void* profile,
                                              uint64_t dont_care, uint64_t stream);
// [K] to[i] = from[i] in fp64, moved by a keyed share of it, up to eps / 2; infinities and NaN
// stay.
DV_CUDA_EXPORT int dv_cuda_nudge(uint64_t from, int dtype, uint64_t n, double eps, uint64_t key,
                                 uint64_t to, uint64_t stream);
// [K] out: n floats of the distribution `kind`: 0 signed, 1 positive, 2 magnitudes, 3 milder
// magnitudes (kernels/keyed.h).
DV_CUDA_EXPORT int dv_cuda_stress(uint64_t out, uint64_t n, int kind, uint64_t key,
                                  uint64_t stream);
// [K] As dv_compare: tolerance: dv_tolerance in host memory. Same verdict and same counts as the
// host's; rms_ratio may differ in its last digits because sums are taken in another order.
DV_CUDA_EXPORT int dv_cuda_compare(uint64_t truth, uint64_t candidate, int dtype, uint64_t n,
                                   const void* tolerance, uint64_t dont_care,
                                   double max_unverified_fraction, uint64_t stream,
                                   dv_result* result);
// [K] As dv_compare_direct.
DV_CUDA_EXPORT int dv_cuda_compare_direct(uint64_t baseline, uint64_t candidate, int dtype,
                                          uint64_t n, const void* tolerance,
                                          double max_unverified_fraction, uint64_t stream,
                                          dv_result* result);
// [K] As dv_accepts.
DV_CUDA_EXPORT int dv_cuda_accepts(uint64_t baseline, uint64_t candidate, int dtype, uint64_t n,
                                   const void* tolerance, uint64_t stream, int* accepted);
// [K] As dv_compare_integers (truth_dtype 8, int64) and dv_compare_integers_direct (truth_dtype =
// dtype, no variants). honest: num_honest (at most 4) device pointers, or NULL with 0.
DV_CUDA_EXPORT int dv_cuda_compare_integers(uint64_t truth, int truth_dtype, const uint64_t* honest,
                                            int num_honest, uint64_t candidate, int dtype,
                                            uint64_t n, double max_wrong_fraction, uint64_t stream,
                                            dv_result* result);

// Loads CUPTI without recording, so that a later start is quick and needs no new thread or file in
// a sandbox.
DV_CUDA_EXPORT int dv_cuda_activity_prepare(void);
DV_CUDA_EXPORT int dv_cuda_activity_start(void);
// Synchronises the context, stops, and writes the JSON of activity.h. When `capacity` is too small:
// -1 and *needed; the text is kept, call dv_cuda_activity_result with a buffer of that size.
DV_CUDA_EXPORT int dv_cuda_activity_stop(char* json, size_t capacity, size_t* needed);
// The JSON of the last stop once more.
DV_CUDA_EXPORT int dv_cuda_activity_result(char* json, size_t capacity, size_t* needed);

// [K] JSON:
// {"copy_gb_per_s","copy_gb_per_s_median","read_gb_per_s","write_gb_per_s","fp32_tflops","empty_kernel_us"}.
// Takes 2 x copy_bytes of device memory meanwhile; copy_bytes 0: 1 GiB, repeats 0: 10.
DV_CUDA_EXPORT int dv_cuda_peaks(uint64_t copy_bytes, int repeats, uint64_t stream, char* json,
                                 size_t capacity, size_t* needed);
}
