// A kernel of a delta reply and its launches, read by their texts. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/python_grammar.h"
#include "davinci/agent/python_statements.h"

namespace davinci::agent {

// "@kernel\ndef f1(x, o, N): …", with the comment in front of it.
struct Kernel {
  std::string name;
  size_t begin = 0, end = 0;  // in the code
  std::vector<LogicalLine> lines;
  Parameters parameters;
  std::string problem;           // its text is no Python; or ""
  bool stores = false;           // perhaps
  std::set<std::string> stored;  // parameters that it perhaps stores to
};

// The kernels of `code`, which they look into. `functions`: names that may store what they get.
std::vector<Kernel> KernelsOf(std::string_view code, const std::set<std::string>& functions);

// The first name that a kernel reads and nothing in front of it or `known` defines, or "".
std::string UndefinedIn(const Kernel& kernel, const std::set<std::string>& known);

struct Argument {
  size_t begin = 0, end = 0;  // of its tokens, without a keyword
  std::string keyword = "";
  bool star = false;
};

// "f1[grid](x, o, N)"; looks into the statement's text.
struct Launch {
  std::string kernel;
  bool readable = false;  // it has this form
  bool grid = false;
  std::vector<Token> tokens;
  std::vector<Argument> arguments;
  std::string problem;  // its text is no Python; or ""
};

Launch LaunchOf(std::string_view text);

// Why a launch does not give a kernel its arguments, or "".
std::string CallProblem(const Launch& launch, const Kernel& kernel);

// The names that stand first in arguments whose parameters the kernel perhaps stores to.
std::set<std::string> WrittenBy(const Launch& launch, const Kernel& kernel);

}  // namespace davinci::agent
