#include "davinci/judge/machine/vendor_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

namespace davinci::judge {
namespace {

// Mapping in around a fault brings 64 KiB; a library call runs far more code than that.
constexpr int64_t kExecutedBytes = int64_t{128} << 10;

constexpr std::array<std::string_view, 16> kFamilies = {
    "openblas", "mkl",      "blis",  "atlas",    "armpl",    "flexiblas", "dnnl", "cublas",
    "cudnn",    "cusparse", "cufft", "cusolver", "cutensor", "cutlass",   "nccl", "cblas"};

// The family's name begins the library's, or one of its words: libcublasLt.so.13,
// libscipy_openblas64_-3d1c.so.
std::string_view Family(std::string_view file_name) {
  if (!file_name.starts_with("lib")) return {};
  const std::string_view name = file_name.substr(3, file_name.find(".so") - 3);
  for (const std::string_view family : kFamilies)
    for (size_t at = name.find(family); at != std::string_view::npos;
         at = name.find(family, at + 1))
      if (at == 0 || name[at - 1] == '_') return family;
  return {};
}

}  // namespace

std::map<std::string, int64_t> ResidentCode(std::string_view smaps) {
  std::map<std::string, int64_t> resident;
  std::string current;  // file name of the executable mapping whose fields follow
  while (!smaps.empty()) {
    const size_t end = std::min(smaps.find('\n'), smaps.size());
    const std::string_view line = smaps.substr(0, end);
    smaps.remove_prefix(std::min(end + 1, smaps.size()));
    const size_t space = line.find(' ');
    const size_t dash = line.find('-');
    if (dash < space && space + 5 < line.size()) {  // "7f00-7f01 r-xp offset dev inode   /path"
      const size_t slash = line.rfind('/');
      const bool executable = line[space + 3] == 'x';
      current =
          executable && slash != std::string_view::npos ? std::string(line.substr(slash + 1)) : "";
    } else if (!current.empty() && line.starts_with("Rss:")) {
      const size_t digit = line.find_first_of("0123456789");
      int64_t kilobytes = 0;
      if (digit != std::string_view::npos)
        std::from_chars(line.data() + digit, line.data() + line.size(), kilobytes);
      resident[current] += kilobytes << 10;
    }
  }
  return resident;
}

bool IsVendorLibrary(std::string_view file_name) { return !Family(file_name).empty(); }

std::vector<std::string> ExecutedVendorLibraries(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps", pid));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::set<std::string> families;
  for (const auto& [name, bytes] : ResidentCode(text))
    if (bytes >= kExecutedBytes && IsVendorLibrary(name)) families.emplace(Family(name));
  return {families.begin(), families.end()};
}

}  // namespace davinci::judge
