#include "davinci/build/source_scan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <utility>

#include "davinci/build/torch_headers.h"

namespace davinci::build {
namespace {

// Standard headers that LibTorch's bring along and sources therefore use without including them.
struct HeaderUse {
  const char* header;
  std::vector<const char*> words;
};

const std::vector<HeaderUse>& StandardHeaders() {
  static const std::vector<HeaderUse> uses = {
      {"algorithm",
       {"sort",     "stable_sort", "max",          "min",         "clamp",       "fill",
        "fill_n",   "copy",        "copy_n",       "transform",   "max_element", "min_element",
        "minmax",   "reverse",     "find",         "find_if",     "any_of",      "all_of",
        "none_of",  "count_if",    "partial_sort", "nth_element", "lower_bound", "upper_bound",
        "for_each", "swap_ranges", "generate",     "rotate",      "unique",      "remove_if",
        "equal",    "partition",   "iter_swap",    "count",       "replace",     "binary_search",
        "merge",    "push_heap",   "pop_heap",     "make_heap",   "sort_heap"}},
      {"array", {"array", "to_array"}},
      {"atomic",
       {"atomic", "atomic_ref", "memory_order_relaxed", "atomic_thread_fence", "atomic_flag"}},
      {"bit", {"bit_cast", "popcount", "countl_zero", "countr_zero", "has_single_bit", "bit_ceil"}},
      {"cassert", {"assert"}},
      {"cfloat", {"FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN", "DBL_EPSILON"}},
      {"chrono", {"chrono"}},
      {"climits", {"INT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX", "LLONG_MAX", "CHAR_BIT"}},
      {"cmath",
       {"exp",    "expf",     "exp2",     "exp2f",  "log",   "logf",      "log1p",     "log1pf",
        "log2",   "log2f",    "expm1",    "expm1f", "sqrt",  "sqrtf",     "pow",       "powf",
        "tanh",   "tanhf",    "sinh",     "cosh",   "sin",   "sinf",      "cos",       "cosf",
        "tan",    "atan",     "atan2",    "erf",    "erff",  "erfc",      "fabs",      "fabsf",
        "abs",    "floor",    "floorf",   "ceil",   "ceilf", "round",     "roundf",    "rint",
        "rintf",  "fmax",     "fmaxf",    "fmin",   "fminf", "fma",       "fmaf",      "isnan",
        "isinf",  "isfinite", "INFINITY", "NAN",    "M_PI",  "M_SQRT2",   "M_SQRT1_2", "M_2_SQRTPI",
        "hypot",  "lgamma",   "tgamma",   "cbrt",   "fmod",  "trunc",     "nearbyint", "copysign",
        "ldexp",  "frexp",    "lrint",    "asin",   "acos",  "HUGE_VALF", "HUGE_VAL",  "signbit",
        "lround", "llround",  "nextafter"}},
      {"complex", {"complex"}},
      {"condition_variable", {"condition_variable"}},
      {"cstdio", {"printf", "fprintf", "stderr", "stdout", "snprintf", "puts", "fflush"}},
      {"cstdlib",
       {"malloc", "free", "calloc", "aligned_alloc", "posix_memalign", "abort", "exit", "getenv",
        "rand", "srand", "abs", "atoi", "strtol"}},
      {"cstring", {"memcpy", "memset", "memcmp", "memmove", "strcmp", "strlen", "strncmp"}},
      {"deque", {"deque"}},
      {"functional",
       {"function", "plus", "multiplies", "greater", "less", "hash", "bind", "ref", "cref",
        "invoke", "minus"}},
      {"future", {"async", "future", "promise", "launch"}},
      {"iomanip", {"setprecision", "setw", "setfill"}},
      {"iostream", {"cout", "cerr", "endl", "clog", "cin"}},
      {"iterator",
       {"back_inserter", "make_move_iterator", "distance", "advance", "next", "prev", "inserter"}},
      {"limits", {"numeric_limits"}},
      {"list", {"list"}},
      {"map", {"map", "multimap"}},
      {"memory",
       {"unique_ptr", "shared_ptr", "make_unique", "make_shared", "weak_ptr", "addressof",
        "assume_aligned"}},
      {"mutex", {"mutex", "lock_guard", "unique_lock", "scoped_lock", "once_flag", "call_once"}},
      {"numeric",
       {"accumulate", "iota", "inner_product", "partial_sum", "reduce", "inclusive_scan",
        "exclusive_scan", "gcd", "lcm"}},
      {"queue", {"queue", "priority_queue"}},
      {"random",
       {"mt19937", "mt19937_64", "uniform_real_distribution", "normal_distribution",
        "random_device", "uniform_int_distribution", "bernoulli_distribution"}},
      {"set", {"set", "multiset"}},
      {"sstream", {"stringstream", "ostringstream", "istringstream"}},
      {"stack", {"stack"}},
      {"stdexcept",
       {"runtime_error", "invalid_argument", "out_of_range", "logic_error", "domain_error",
        "length_error"}},
      {"thread", {"thread", "this_thread", "jthread"}},
      {"typeinfo", {"typeid", "type_info"}},
      {"unordered_map", {"unordered_map"}},
      {"unordered_set", {"unordered_set"}},
      {"variant", {"variant", "visit", "monostate", "get_if"}},
      {"omp.h",
       {"omp_get_thread_num", "omp_get_max_threads", "omp_get_num_threads", "omp_set_num_threads",
        "omp_get_wtime", "omp_in_parallel", "omp_get_num_procs"}},
  };
  return uses;
}

// Real headers that are light and sit well on top of the compat ones.
constexpr std::array<std::string_view, 13> kLightRealHeaders = {
    "c10/util/Half.h",       "c10/util/BFloat16.h",        "c10/util/irange.h",
    "c10/macros/Macros.h",   "c10/macros/Export.h",        "ATen/Dispatch.h",
    "ATen/Parallel.h",       "ATen/core/TensorAccessor.h", "ATen/OpMathType.h",
    "ATen/AccumulateType.h", "c10/cuda/CUDAMathCompat.h",  "c10/util/Deprecated.h",
    "c10/cuda/CUDAMacros.h"};

// Words that the compat headers cannot serve: the slim step can, or only the full one.
constexpr std::array<std::string_view, 19> kNeedsRealTypes = {
    "TensorIterator", "TensorIteratorConfig",
    "Generator",      "complex",
    "Storage",        "storage",
    "SymInt",         "sym_sizes",
    "GradMode",       "NoGradGuard",
    "InferenceMode",  "AutoGradMode",
    "TensorIndex",    "Slice",
    "index_put_",     "MaybeOwned",
    "List",           "intrusive_ptr",
    "TensorBase"};
constexpr std::array<std::string_view, 14> kNeedsFullHeaders = {"TORCH_LIBRARY",
                                                                "TORCH_LIBRARY_IMPL",
                                                                "TORCH_LIBRARY_FRAGMENT",
                                                                "autograd",
                                                                "jit",
                                                                "class_",
                                                                "array_t",
                                                                "requires_grad",
                                                                "requires_grad_",
                                                                "backward",
                                                                "call_guard",
                                                                "STABLE_TORCH_LIBRARY",
                                                                "TensorDataContainer",
                                                                "enum_"};

bool HasAny(const std::set<std::string>& ids, auto const& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view n) { return ids.contains(std::string(n)); });
}

// Includes, using-directives and qualified names, line by line. True: "using namespace std".
bool ScanLines(std::string_view source, const std::set<std::string>& compat_headers,
               SourceScan* scan) {
  const std::string text(source);

  // std::regex recurses per character on long inputs; lines are handled one at a time and long ones
  // cannot be includes.
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  static const std::regex kUsing(R"(using\s+namespace\s+(torch|at|c10)\b)");
  static const std::regex kPybind(R"(\b(?:py|pybind11)\s*::\s*([A-Za-z_]\w*))");
  static const std::regex kNn(R"(\btorch\s*::\s*nn\b)");
  bool std_everything = false;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (end - begin < 400) {
      const std::string line = text.substr(begin, end - begin);
      std::smatch match;
      if (std::regex_search(line, match, kInclude)) {
        const std::string header = match[1];
        const bool torch_header = header.starts_with("torch/") || header.starts_with("ATen/") ||
                                  header.starts_with("c10/") || header.starts_with("caffe2/") ||
                                  header.starts_with("pybind11/");
        if (header.starts_with("ATen/ops/")) {
          scan->operator_headers.push_back(header);
        } else if (torch_header && !compat_headers.contains(header) &&
                   !header.starts_with("torch/headeronly/") &&
                   std::find(kLightRealHeaders.begin(), kLightRealHeaders.end(), header) ==
                       kLightRealHeaders.end()) {
          scan->compat_possible = false;
        }
      }
      if (std::regex_search(line, kUsing)) scan->uses_torch_names_unqualified = true;
      if (std::regex_search(line, kNn)) scan->slim_possible = false;
      if (line.find("using namespace std") != std::string::npos) std_everything = true;
      for (auto it = std::sregex_iterator(line.begin(), line.end(), kPybind);
           it != std::sregex_iterator(); ++it) {
        const std::string name = (*it)[1];
        static const std::set<std::string> kKnown = {
            "arg", "none", "module_", "module", "gil_scoped_release", "literals"};
        if (!kKnown.contains(name)) scan->slim_possible = false;
      }
    }
    begin = end + 1;
  }
  return std_everything;
}

// The standard headers that the identifiers need.
std::string StandardIncludes(const std::set<std::string>& ids, bool std_everything) {
  std::string out;
  for (const HeaderUse& use : StandardHeaders()) {
    if (std::string_view(use.header) == "omp.h") continue;
    const bool used = std::any_of(use.words.begin(), use.words.end(),
                                  [&](const char* w) { return ids.contains(w); });
    if (used || (std_everything && std::string_view(use.header) != "complex"))
      out += std::string("#include <") + use.header + ">\n";
  }
  const auto& omp = StandardHeaders().back();
  if (std::any_of(omp.words.begin(), omp.words.end(),
                  [&](const char* w) { return ids.contains(w); })) {
    // As with LibTorch's ParallelOpenMP.h: only when the compiler was given -fopenmp.
    out += "#ifdef _OPENMP\n#include <omp.h>\n#endif\n";
  }
  return out;
}

// Which parts of the compat headers are needed; some dispatches rule these headers out.
void AddNeeds(SourceScan* scan) {
  const std::set<std::string>& ids = scan->identifiers;
  std::string& out = scan->config_header;
  auto need = [&](const char* what, bool yes) {
    if (yes) out += std::string("#define DAVINCI_NEED_") + what + "\n";
  };
  auto mentions = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return ids.contains(w); });
  };
  auto has_prefix = [&](std::string_view prefix) {
    const auto it = ids.lower_bound(std::string(prefix));
    return it != ids.end() && it->starts_with(prefix);
  };
  const bool dispatch = has_prefix("AT_DISPATCH") || has_prefix("AT_PRIVATE_CASE");
  bool half_dispatch = false;
  for (auto it = ids.lower_bound("AT_DISPATCH"); it != ids.end() && it->starts_with("AT_DISPATCH");
       ++it) {
    if (it->find("HALF") != std::string::npos || it->find("REDUCED") != std::string::npos)
      half_dispatch = true;
    // Their switch names complex types, which need the real headers.
    if (it->find("COMPLEX") != std::string::npos || it->find("QINT") != std::string::npos ||
        it->find("_V2") != std::string::npos) {
      scan->compat_possible = false;
    }
  }
  need("DISPATCH", dispatch);
  need("FLOAT16",
       half_dispatch || mentions({"Half", "BFloat16", "kHalf", "kBFloat16", "kFloat16", "kF16"}));
  need("FLOAT8", mentions({"Float8_e4m3fn", "Float8_e5m2"}));
  need("ACCESSOR",
       mentions({"accessor", "packed_accessor32", "packed_accessor64", "generic_packed_accessor",
                 "TensorAccessor", "PackedTensorAccessor32", "PackedTensorAccessor64",
                 "RestrictPtrTraits", "PackedTensorAccessor"}));
  need("PARALLEL", mentions({"parallel_for", "parallel_reduce", "get_num_threads",
                             "set_num_threads", "get_thread_num", "in_parallel_region", "divup"}));
  need("CUBLAS", mentions({"getCurrentCUDABlasHandle", "TORCH_CUDABLAS_CHECK", "cublasHandle_t"}));
  need("IRANGE", mentions({"irange"}));
}

}  // namespace

SourceScan ScanSource(std::string_view source, const std::set<std::string>& compat_headers) {
  SourceScan scan;
  scan.identifiers = Identifiers(source);
  const auto& ids = scan.identifiers;
  const bool std_everything = ScanLines(source, compat_headers, &scan);
  if (HasAny(ids, kNeedsRealTypes)) scan.compat_possible = false;
  if (HasAny(ids, kNeedsFullHeaders)) scan.slim_possible = false;
  if (!scan.slim_possible) scan.compat_possible = false;

  scan.config_header = "#pragma once\n" + StandardIncludes(ids, std_everything);
  AddNeeds(&scan);
  return scan;
}

bool NeedsPython(std::string_view source) {
  const std::set<std::string> ids = Identifiers(source);
  return std::any_of(ids.begin(), ids.end(), [](const std::string& id) {
    return id == "py" || id == "pybind11" || id.starts_with("PYBIND11") || id.starts_with("Py");
  });
}

}  // namespace davinci::build
