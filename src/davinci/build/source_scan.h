// SourceScan: what a load_inline source needs, found by looking at its words, so that the compat
// headers include only that.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::build {

struct SourceScan {
  std::set<std::string> identifiers;
  std::vector<std::string> operator_headers;  // "ATen/ops/mm.h" the source includes itself
  // The first step of the ladder that can work: words or headers known to need more skip the steps
  // before.
  bool compat_possible = true;
  bool slim_possible = true;
  bool uses_torch_names_unqualified = false;
  // davinci_request/config.h: standard headers and DAVINCI_NEED_… switches.
  std::string config_header;
};

// `source` is everything of one request, concatenated. `compat_headers` are the files of
// torch_compat/include.
SourceScan ScanSource(std::string_view source, const std::set<std::string>& compat_headers);

// Does it name Python's API or pybind11's? Then torch/extension.h brings them along
// (DAVINCI_NEED_PYTHON); nvcc would read Python.h three times for nothing.
bool NeedsPython(std::string_view source);

}  // namespace davinci::build
