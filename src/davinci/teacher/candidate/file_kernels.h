// The kernels of one candidate's file: each once, whatever its name, under names of their own.
// Writers of several shapes of a module share one. Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/emit/emitter.h"
#include "davinci/teacher/program/math_text.h"

namespace davinci::teacher {

struct FileKernels {
  // "name", "name2", …: one that no other kernel has.
  std::string UniqueName(const std::string& name);
  // Definitions of Triton that several kernels use, once.
  void Define(const std::string& text);
  // The kernel's own definitions, and what its prelude has to hold; `with_source` is false where an
  // earlier kernel has the same text.
  void Add(const KernelText& text, Language language, bool with_source = true);
  // Python lines that call an earlier kernel which is the same but for names, those of its tensors
  // among them; empty: the kernel is new, and known from now on. `earlier` (may be null): what they
  // call.
  std::vector<std::string> CallOfKnown(const KernelText& text,
                                       std::vector<std::string>* earlier = nullptr);

  std::string kernels, bindings;
  std::set<std::string> helpers, names;
  // Kernels without their names, and the names of those that came first.
  std::map<std::string, std::vector<std::string>> known;
};

// Import lines that the kernels need. `direct`: they are launched without Triton's look-up.
std::string KernelImports(const FileKernels& file, Language language, bool direct);
// The kernels as text at module level; `lines` are those that may launch them.
std::string KernelSection(const FileKernels& file, Language language, const MathText& math,
                          bool direct, const std::vector<std::string>& lines);

}  // namespace davinci::teacher
