#include "davinci/build/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "davinci/base/utf8.h"
#include "davinci/build/extension_commands.h"

namespace davinci::build {
namespace {

std::string StripAnsi(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && !std::isalpha(static_cast<unsigned char>(text[i]))) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

int ToInt(std::string_view s) {
  int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size() ? value : 0;
}

// "FILE:LINE:COL" or "FILE:LINE" or "FILE(LINE)" -> file and line.
bool SplitLocation(std::string_view text, std::string* file, int* line) {
  if (text.ends_with(')')) {
    const size_t open = text.rfind('(');
    if (open == std::string_view::npos) return false;
    *line = ToInt(text.substr(open + 1, text.size() - open - 2));
    *file = text.substr(0, open);
    return *line > 0;
  }
  std::vector<std::string_view> numbers;
  while (numbers.size() < 2) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || ToInt(text.substr(colon + 1)) == 0) break;
    numbers.push_back(text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  if (numbers.empty()) return false;
  *line = ToInt(numbers.back());
  *file = text;
  return true;
}

bool ParseLine(std::string_view line, Diagnostic* out) {
  // g++/clang: "f:3:5: error: m", "f:3:5: fatal error: m"; nvcc: "f(3): error: m", "f(3): error
  // #20: m", "f(3): catastrophic error: m"; ptxas: "ptxas error   : m"; tools: "g++: error: m",
  // "cc1plus: error: m", "collect2: error: m".
  static constexpr std::array<std::string_view, 5> kMarkers = {
      ": fatal error: ", ": error: ", ": catastrophic error: ", ": error #",
      ": internal compiler error: "};
  for (std::string_view marker : kMarkers) {
    const size_t at = line.find(marker);
    if (at == std::string_view::npos) continue;
    out->message = line.substr(at + marker.size());
    if (!SplitLocation(line.substr(0, at), &out->file, &out->line)) out->file = line.substr(0, at);
    return true;
  }
  if (line.starts_with("ptxas error") || line.starts_with("ptxas fatal")) {
    const size_t colon = line.find(':');
    out->message = colon == std::string_view::npos ? line : line.substr(colon + 1);
    return true;
  }
  const size_t undefined = line.find(": undefined reference to ");
  const size_t multiple = line.find(": multiple definition of ");
  const size_t library = line.find("cannot find -l");
  for (size_t at : {undefined, multiple}) {
    if (at == std::string_view::npos) continue;
    out->message = line.substr(at + 2);
    return true;
  }
  if (library != std::string_view::npos) {
    out->message = line.substr(library);
    return true;
  }
  return false;
}

std::vector<std::string> Quoted(const std::string& message) {
  std::vector<std::string> out;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kQuotes = {
      {{"‘", "’"}, {"\"", "\""}, {"'", "'"}}};
  for (const auto& [open, close] : kQuotes) {
    size_t at = 0;
    while ((at = message.find(open, at)) != std::string::npos) {
      const size_t begin = at + open.size();
      const size_t end = message.find(close, begin);
      if (end == std::string::npos) break;
      out.push_back(message.substr(begin, end - begin));
      at = end + close.size();
    }
    if (!out.empty()) break;
  }
  return out;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <size_t N>
bool ContainsAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view p) { return Contains(text, p); });
}

bool MentionsTorchTypes(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "at::", "c10::", "torch::", "caffe2::", "py::", "pybind11", "Tensor", "davinci"};
  return ContainsAny(text, kNames);
}

// As g++ and nvcc quote it: 'x' is not a member of 'torch', 'torch::fft' has not been declared.
bool MentionsTorchNamespace(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "'torch'", "'torch::",  "'at'",      "'at::",  "'c10'",
      "'c10::",  "\"torch\"", "\"torch::", "\"at\"", "\"at::"};
  return ContainsAny(text, kNames);
}

// The last component of a qualified name, without template arguments or parameters.
std::string LastName(std::string name) {
  const size_t cut = name.find_first_of("(<");
  if (cut != std::string::npos) name.resize(cut);
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

bool LooksLikeMacro(const std::string& name) {
  return name.size() > 3 && name.find('_') != std::string::npos &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c); });
}

// "x.h" of "x.h: No such file or directory" and "cannot open source file \"x.h\"".
std::string HeaderNotFound(const std::string& message) {
  if (const size_t at = message.find(": No such file"); at != std::string::npos)
    return message.substr(0, at);
  if (!Contains(message, "not open source file")) return "";
  const auto names = Quoted(message);
  return names.empty() ? "" : names.front();
}

// The header of CUDA or of one of its libraries that `name` (a header, a library, a function, a
// type) belongs to; empty for all other names.
std::string_view LibraryOf(std::string_view name) {
  struct Library {
    std::string_view prefix, header;
  };
  // The longer prefix first.
  static constexpr std::array kLibraries = std::to_array<Library>({
      {"cublasLt", "cublasLt.h"},
      {"cublasXt", "cublasXt.h"},
      {"cublas", "cublas_v2.h"},
      {"CUBLAS_", "cublas_v2.h"},
      {"cusparseLt", "cusparseLt.h"},
      {"cusparse", "cusparse.h"},
      {"CUSPARSE_", "cusparse.h"},
      {"cusolver", "cusolverDn.h"},
      {"CUSOLVER_", "cusolverDn.h"},
      {"curand", "curand_kernel.h"},
      {"CURAND_", "curand.h"},
      {"cufft", "cufft.h"},
      {"CUFFT_", "cufft.h"},
      {"cudnn", "cudnn.h"},
      {"CUDNN_", "cudnn.h"},
      {"cutensor", "cutensor.h"},
      {"nccl", "nccl.h"},
      {"nvToolsExt", "nvToolsExt.h"},
      {"nvtx3/", "nvtx3/nvtx3.hpp"},
      {"nvjpeg", "nvjpeg.h"},
      {"nvml.h", "nvml.h"},
      {"nvrtc.h", "nvrtc.h"},
      {"thrust/", "thrust/version.h"},
      {"cub/", "cub/cub.cuh"},
      {"cuda/", "cuda/std/version"},
      {"cuda.h", "cuda.h"},
      {"cuda_fp16.h", "cuda_fp16.h"},
      {"cuda_bf16.h", "cuda_bf16.h"},
      {"cuda_fp8.h", "cuda_fp8.h"},
      {"cuda_runtime", "cuda_runtime.h"},
      {"cuda_pipeline", "cuda_pipeline.h"},
      {"cooperative_groups", "cooperative_groups.h"},
      {"mma.h", "mma.h"},
  });
  for (const Library& library : kLibraries)
    if (name.starts_with(library.prefix)) return library.header;
  return "";
}

}  // namespace

std::vector<Diagnostic> ParseErrors(std::string_view output) {
  std::vector<Diagnostic> errors;
  const std::string text = StripAnsi(output);
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    Diagnostic d;
    d.offset = begin;
    if (ParseLine(std::string_view(text).substr(begin, end - begin), &d))
      errors.push_back(std::move(d));
    begin = end + 1;
  }
  // "collect2: error: ld returned 1 exit status" and the like only repeat that something failed.
  std::erase_if(errors, [&](const Diagnostic& d) {
    return errors.size() > 1 && d.line == 0 &&
           (d.file.ends_with("collect2") || Contains(d.message, "ld returned"));
  });
  return errors;
}

std::string ReadableErrors(std::string_view output, const std::vector<std::string>& hidden,
                           size_t max_bytes) {
  std::string text = StripAnsi(output);
  const auto errors = ParseErrors(text);
  if (!errors.empty()) text.erase(0, errors.front().offset);
  for (const std::string& path : hidden) {
    if (path.empty()) continue;
    for (size_t at = 0; (at = text.find(path, at)) != std::string::npos;)
      text.erase(at, path.size());
  }
  // Bytes that are not UTF-8 (a source may hold anything) would break the JSON outcome.
  std::string clean = ValidUtf8(text);
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  while (!clean.empty() && std::isspace(static_cast<unsigned char>(clean.back()))) clean.pop_back();
  return ElideMiddle(clean, max_bytes);
}

std::string MissingHere(const std::vector<Diagnostic>& errors, const std::string& cuda_include) {
  if (errors.empty()) return "";
  const Diagnostic& first = errors.front();
  static constexpr std::string_view kNoLibrary = "cannot find -l";
  if (first.message.starts_with(kNoLibrary)) {
    const std::string library = first.message.substr(
        kNoLibrary.size(),
        first.message.find_first_of(": ", kNoLibrary.size()) - kNoLibrary.size());
    return LibraryOf(library).empty() ? "" : "lib" + library;
  }
  if (const std::string header = HeaderNotFound(first.message); !header.empty()) {
    const bool is_included_by_a_header = first.line > 0 && !IsUserFile(first.file);
    return is_included_by_a_header || !LibraryOf(header).empty() ? header : "";
  }
  // A function or type of a library whose header is a stand-in.
  for (const std::string& name : Quoted(first.message)) {
    const std::string header(LibraryOf(LastName(name)));
    std::error_code error;
    const auto exists = [&](const std::filesystem::path& folder) {
      return std::filesystem::exists(folder / header, error);
    };
    if (!header.empty() && !exists("/usr/include") &&
        (cuda_include.empty() || !exists(cuda_include)))
      return header;
  }
  return "";
}

Blame WhoIsToBlame(const std::vector<Diagnostic>& errors, const BlameContext& context) {
  if (errors.empty()) return Blame::kUnsure;
  const Diagnostic& first = errors.front();
  const std::string& m = first.message;
  // An intrinsic of another processor; it is reported from inside the compiler's header.
  if (Contains(m, "target specific option mismatch")) return Blame::kSource;
  if (first.line > 0 && !context.is_user_file(first.file)) {
    // Inside a header: a torch one may be unhappy with the compat types; any other file was the
    // source's own choice.
    const bool torch_file = Contains(first.file, "/include/") || Contains(first.file, "davinci_");
    return torch_file || MentionsTorchTypes(m) ? Blame::kUnsure : Blame::kSource;
  }

  static constexpr std::array<std::string_view, 11> kUnknownName = {
      "not declared",          "is not a member of", "has no member",
      "does not name a",       "is undefined",       "No such file",
      "has not been declared", "not a template",     "cannot open source file",
      "is not a class",        "not a type name"};
  // The generated block names only the functions the request asked for.
  if (first.file == "bindings" && Contains(m, "not declared")) return Blame::kSource;
  if (ContainsAny(m, kUnknownName)) {
    if (Contains(m, "No such file") || Contains(m, "cannot open source file")) {
      return Contains(m, "torch") || Contains(m, "ATen") || Contains(m, "c10") ? Blame::kUnsure
                                                                               : Blame::kSource;
    }
    const auto names = Quoted(m);
    if (names.empty()) return Blame::kUnsure;
    // nvcc puts the scope first (class "at::Tensor" has no member "x"), g++ last; the short one is
    // the unknown name.
    const bool scope_first =
        Contains(m, "has no member \"") || (Contains(m, "has no member") && names.size() > 1);
    const std::string name = LastName(scope_first ? names.back() : names.front());
    const bool qualified = Contains(m, "member");
    if (qualified && Contains(m, "std"))
      return context.headers_are_real ? Blame::kSource : Blame::kUnsure;
    if (!context.torch_mentions(name)) return Blame::kSource;
    if (qualified || MentionsTorchNamespace(m))
      return MentionsTorchTypes(m) || MentionsTorchNamespace(m) ? Blame::kUnsure : Blame::kSource;
    if (LooksLikeMacro(name) || context.uses_torch_names_unqualified) return Blame::kUnsure;
    // A plain unknown name that LibTorch also happens to use somewhere ("idx"). Without `using
    // namespace` the source could only mean one of the C or C++ library's, which the real headers
    // bring along; checking that is cheap for g++ only.
    if (context.headers_are_real || context.is_cuda) return Blame::kSource;
    return Blame::kUnsure;
  }
  if (m.starts_with("expected ") || Contains(m, "missing terminating") || Contains(m, "stray ") ||
      Contains(m, "unterminated") || Contains(m, "redefinition of") ||
      Contains(m, "has already been declared") || m.starts_with("#error")) {
    return Blame::kSource;
  }
  if (Contains(m, "deleted function") && Contains(m, "torch::tensor")) return Blame::kUnsure;
  if (context.headers_are_real) return Blame::kSource;
  return MentionsTorchTypes(m) ? Blame::kUnsure : Blame::kSource;
}

}  // namespace davinci::build
