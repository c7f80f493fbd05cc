#include "davinci/agent/device_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/number.h"

namespace davinci::agent {
namespace {

namespace fs = std::filesystem;

// Vector extensions worth naming, weakest first, as /proc/cpuinfo spells them.
constexpr std::array kVectorExtensions = {
    "sse4_2",   "avx",      "f16c",        "fma",         "avx2",        "avx_vnni", "avx512f",
    "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
    "amx_int8", "neon",     "asimd",       "sve",         "sve2"};

// Files of /proc have no size, so they are read without a limit.
std::string Text(const fs::path& path) {
  auto text = ReadFile(path);
  return text.ok() ? *text : std::string();
}

std::string AfterColon(std::string_view text, std::string_view key) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const size_t key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    if (key_end + 1 != key.size()) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// A number at the front of a text, and what follows it. The number is 0 where no digit is there,
// and where it does not fit.
std::pair<int64_t, std::string_view> LeadingNumber(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return {WholeNumber<int64_t>(text.substr(0, end)).value_or(0), text.substr(end)};
}

// "32K", "1024K", "36M"
int64_t CacheBytes(std::string_view text) {
  const auto [number, unit] = LeadingNumber(text);
  return number * (unit.starts_with('K') ? 1024 : unit.starts_with('M') ? 1024 * 1024 : 1);
}

std::string Line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "50 MiB", "139 GiB"
std::string Bytes(int64_t bytes) {
  if (bytes <= 0) return "";
  if (bytes < 1 << 20) return fmt::format("{} KiB", bytes >> 10);
  if (bytes < int64_t{1} << 30)
    return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.0f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string Count(int number) { return number > 0 ? std::to_string(number) : ""; }

}  // namespace

DeviceFacts CpuFacts(int num_cores, const fs::path& root) {
  DeviceFacts facts;
  facts.target = Target::kCpu;
  facts.num_cores = num_cores;
  const std::string cpuinfo = Text(root / "proc/cpuinfo");
  facts.name = AfterColon(cpuinfo, "model name");
  std::string flags = AfterColon(cpuinfo, "flags");
  if (flags.empty()) flags = AfterColon(cpuinfo, "Features");  // Arm
  std::istringstream words(flags);
  const std::set<std::string> present{std::istream_iterator<std::string>(words), {}};
  for (const char* extension : kVectorExtensions)
    if (present.contains(extension)) facts.isa.emplace_back(extension);
  const std::string memory = AfterColon(Text(root / "proc/meminfo"), "MemTotal");
  facts.memory_bytes = 1024 * LeadingNumber(memory).first;
  for (int index = 0; index < 8; ++index) {
    const fs::path cache = root / fmt::format("sys/devices/system/cpu/cpu0/cache/index{}", index);
    const std::string level = Line(Text(cache / "level"));
    const std::string type = Line(Text(cache / "type"));
    const int64_t bytes = CacheBytes(Text(cache / "size"));
    if (level == "1" && type == "Data") facts.l1_data_bytes = bytes;
    if (level == "2") facts.l2_bytes = bytes;
    if (level == "3") facts.last_level_bytes = bytes;
  }
  return facts;
}

DeviceFacts GpuFacts(const gpu::DeviceInfo& device) {
  DeviceFacts facts;
  facts.target = Target::kCuda;
  facts.name = device.name;
  facts.compute_capability = fmt::format("{}.{}", device.compute_major, device.compute_minor);
  facts.memory_bytes = static_cast<int64_t>(device.memory_total_bytes);
  return facts;
}

void LearnFromEvaluation(const Evaluation& evaluation, DeviceFacts* facts) {
  if (facts->target != Target::kCuda) return;
  const auto roofline = evaluation.evidence.find("roofline");
  if (roofline == evaluation.evidence.end() || !roofline->is_object()) return;
  const auto peaks = roofline->find("peaks");
  if (peaks == roofline->end() || !peaks->is_object()) return;
  const auto number = [&](const char* key) {
    const auto found = peaks->find(key);
    return found != peaks->end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto fill = [](auto* fact, double value) {
    if (*fact == 0) *fact = static_cast<std::remove_pointer_t<decltype(fact)>>(value);
  };
  fill(&facts->bandwidth_gb_per_s,
       std::max({number("read_gb_per_s"), number("copy_gb_per_s"), number("write_gb_per_s")}));
  fill(&facts->fp32_tflops, number("fp32_tflops"));
  fill(&facts->l2_bytes, number("l2_bytes"));
  fill(&facts->num_sms, number("multiprocessors"));
  fill(&facts->memory_bytes, number("memory_total_bytes"));
  fill(&facts->shared_bytes_per_block, number("max_shared_bytes_per_block"));
  if (const auto name = peaks->find("device");
      facts->name.empty() && name != peaks->end() && name->is_string())
    facts->name = name->get<std::string>();
  if (const auto version = peaks->find("compute_capability");
      facts->compute_capability.empty() && version != peaks->end() && version->is_array() &&
      version->size() == 2 && (*version)[0].is_number_integer() &&
      (*version)[1].is_number_integer())
    facts->compute_capability =
        fmt::format("{}.{}", (*version)[0].get<int>(), (*version)[1].get<int>());
}

Result<std::string> DescribeDevice(const PromptSet& prompts, const DeviceFacts& facts) {
  if (facts.target == Target::kCuda)
    return prompts.Render(
        "device_cuda",
        {{"name", facts.name},
         {"compute_capability", facts.compute_capability},
         {"num_sms", Count(facts.num_sms)},
         {"memory", Bytes(facts.memory_bytes)},
         {"l2", Bytes(facts.l2_bytes)},
         {"shared", Bytes(facts.shared_bytes_per_block)},
         {"bandwidth",
          facts.bandwidth_gb_per_s > 0 ? fmt::format("{:.0f} GB/s", facts.bandwidth_gb_per_s) : ""},
         {"fp32", facts.fp32_tflops > 0 ? fmt::format("{:.0f} TFLOP/s", facts.fp32_tflops) : ""}});
  return prompts.Render("device_cpu", {{"name", facts.name},
                                       {"num_cores", Count(facts.num_cores)},
                                       {"isa", fmt::format("{}", fmt::join(facts.isa, ", "))},
                                       {"l1", Bytes(facts.l1_data_bytes)},
                                       {"l2", Bytes(facts.l2_bytes)},
                                       {"l3", Bytes(facts.last_level_bytes)},
                                       {"memory", Bytes(facts.memory_bytes)}});
}

}  // namespace davinci::agent
