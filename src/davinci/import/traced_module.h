// What the tracer (python/davinci_worker/module_graph.py) says that a module computes. Outside
// input: the process that writes it runs the user's code, so everything is bounded and every number
// is checked before anything is made of it. Fuzzed.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/import/size_expression.h"

namespace davinci::import {

inline constexpr size_t kMostValues = 20'000;
inline constexpr size_t kMostTextBytes = 4'000;
inline constexpr size_t kMostSourceBytes = 4u << 20;

struct TracedValue {
  std::vector<int64_t> shape;         // where sizes are symbols: for their values
  std::vector<SizeExpression> sizes;  // of each axis; empty: all are numbers
  std::string dtype;                  // "float32"
};

// An input or a weight: a tensor with a name in Python.
struct TracedName {
  int id = -1;
  std::string text;  // "x", "batch['mask']", "self.conv.weight"
  bool contiguous = true;
  std::vector<int> order;  // of an input's axes in memory, outermost first; empty: their own
};

// One call of PyTorch.
struct TracedCall {
  struct Given {
    int id = -1;
    std::string item;  // behind the result's name: "", "[1]"
  };
  std::string text;  // Python, with {0}, {1}, … for `reads`
  std::string name;  // "conv2d", "__getitem__", "module"
  std::vector<int> reads;
  std::vector<Given> gives;
  bool view = false;
  bool effect = false;  // changes the module's state, gives nothing
  std::string place;    // "net.py:12", for people
  std::string module;   // the submodule's path
};

struct TracedModule {
  std::vector<TracedValue> values;
  std::vector<TracedName> inputs, weights;
  std::vector<TracedCall> calls;
  std::vector<int> outputs;
  std::string result;              // Python, with {0}, … for `outputs`
  std::string signature;           // of forward, without self
  std::vector<std::string> names;  // of its parameters
  std::string future, source;      // what a candidate keeps of the task's file
  std::vector<std::string> bound;  // names that the source binds
  bool training = false;
  std::string helpers;  // Python functions that the texts call
  // Python: is this call like the one that was traced (shapes, types, configuration)? And the call
  // of the module's own forward.
  std::string guard, fallback;
  struct Kept {
    std::string module, why;
  };
  std::vector<Kept> kept;  // submodules that stay one call
  // Sizes and texts name these. Without any, they hold for one shape alone.
  std::vector<TracedSymbol> symbols;
  std::vector<int> serves;  // shapes of the task, 0 is its own, that it holds for
};

// The guard without the module's own state: shapes, types and numbers of the arguments.
std::string ForArguments(const TracedModule& module);

// The module with other values of its symbols; nothing: one of its tensors would be too large.
std::optional<TracedModule> AtSizes(TracedModule module, const std::vector<int64_t>& values);

// kInvalidArgument: the tracer's own refusal, one line with the place; kInternal: JSON that no
// tracer of ours writes.
Result<TracedModule> ParseTracedModule(const nlohmann::json& json);

}  // namespace davinci::import
