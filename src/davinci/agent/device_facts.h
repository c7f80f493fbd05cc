// What a prompt says about the device candidates will run on.
//
// Zero or empty means unknown and is left out of the prompt: a wrong number misleads a model more
// than none. Facts are collected once per run, so that all prompts of a run agree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"
#include "davinci/gpu/device.h"

namespace davinci::agent {

struct DeviceFacts {
  Target target = Target::kCpu;
  std::string name;  // "NVIDIA H200", "AMD EPYC 9B14"
  // cuda
  int num_sms = 0;
  std::string compute_capability;  // "9.0"
  double bandwidth_gb_per_s = 0;   // best rate measured, not the data sheet's
  double fp32_tflops = 0;          // likewise
  int64_t shared_bytes_per_block = 0;
  // cpu
  int num_cores = 0;             // that candidates may use
  std::vector<std::string> isa;  // vector extensions: "avx2", "fma", "avx512f", …
  int64_t l1_data_bytes = 0;     // per core
  int64_t last_level_bytes = 0;  // shared; on cpu the L3, else the L2
  // both
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;  // cpu: per core
};

// The host as /proc and /sys below `root` describe it; whatever is missing there stays unknown.
// Call it at start-up. `num_cores` is what the judge will use.
DeviceFacts CpuFacts(int num_cores, const std::filesystem::path& root = "/");

// What NVML says of the GPU that judges.
DeviceFacts GpuFacts(const gpu::DeviceInfo& device);

// Fills what is unknown from the peaks that a judgement on the device measured
// (evidence.roofline.peaks). Only for cuda: what the judge measures on a CPU is a bound, not a rate
// that memory delivers.
void LearnFromEvaluation(const Evaluation& evaluation, DeviceFacts* facts);

// The paragraph for a prompt (device_cuda.md, device_cpu.md).
Result<std::string> DescribeDevice(const PromptSet& prompts, const DeviceFacts& facts);

}  // namespace davinci::agent
