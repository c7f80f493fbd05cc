// Meaning of PyTorch's functions, as data: synth/teacher/primitives.toml, functions.toml,
// signatures.toml and families.toml, and the functions that C++ kernels call, math.cpp.
// Immutable after loading, shared by threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/program/math_text.h"
#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

struct Signature {
  std::vector<std::string> parameters;
  std::map<std::string, PythonExpression> defaults;
};

struct Function : Signature {
  std::string def, is;                      // as the table says them
  std::map<std::string, std::string> when;  // parameter -> its Python text
  PythonExpression body;
};

struct Tables {
  std::map<std::string, Primitive, std::less<>> primitives;
  // Definitions with a condition come first.
  std::map<std::string, std::vector<Function>, std::less<>> functions;
  // Parameters of functions and constructors; those of `functions` are among them.
  std::map<std::string, Signature, std::less<>> signatures;
  CallKinds kinds;
  MathText math;
};

Result<Tables> LoadTables(const std::filesystem::path& folder);

}  // namespace davinci::teacher
