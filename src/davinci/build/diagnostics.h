// Compiler output -> what a model or a person needs: the first error first, the user's own file
// names, a few kilobytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::build {

struct Diagnostic {
  std::string file;     // as printed by the compiler
  int line = 0;         // 0 = none
  std::string message;  // without "error:"
  size_t offset = 0;    // of its line in the output
};

// Errors of g++, clang++, nvcc (cudafe++, cicc), ptxas, NVRTC and ld, in order. Warnings and notes
// are left out.
std::vector<Diagnostic> ParseErrors(std::string_view output);

// Text for the user, at most `max_bytes`: from the first error on, ANSI codes and the paths in
// `hidden` (scratch folders, longest first) removed, cut in the middle when too long.
std::string ReadableErrors(std::string_view output, const std::vector<std::string>& hidden,
                           size_t max_bytes);

// What the source needs and this machine lacks, by the first error: a header or a library of CUDA,
// or a header that another one, not the source, includes. Empty: it is the source's own error.
// `cuda_include`: the toolkit's folder of headers; empty without one.
std::string MissingHere(const std::vector<Diagnostic>& errors, const std::string& cuda_include);

enum class Blame {
  kSource,  // the source is wrong; no other set of headers would help
  kUnsure,  // plausibly something that a leaner header set lacks
};

struct BlameContext {
  bool headers_are_real = false;  // slim stage: the types are LibTorch's own
  bool is_cuda = false;
  bool uses_torch_names_unqualified = false;  // `using namespace torch` and the like
  std::function<bool(const std::string& file)> is_user_file;
  std::function<bool(const std::string& name)> torch_mentions;
};

// Judges the first error. When in doubt kUnsure: the next stage costs seconds, a wrong accusation
// costs a verdict.
Blame WhoIsToBlame(const std::vector<Diagnostic>& errors, const BlameContext& context);

}  // namespace davinci::build
