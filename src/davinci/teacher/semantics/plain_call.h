// One spelling for a call of PyTorch, whatever its author wrote: functions and methods have their
// last name, arguments their parameters' names and order (synth/teacher/signatures.toml), what is
// the default is left out, axes count from the end, arithmetic has its signs, and the weights of a
// layer are the layer. Pure.
//
//   x.mul(y)  torch.multiply(x, y)                         x * y
//   F.softmax(x, 1)  x.softmax(dim=-1)                     softmax(x)
//   F.linear(x, self.fc.weight, self.fc.bias)              linear(x, self.fc)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "davinci/teacher/semantics/python_expression.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// Number of axes of a tensor that an expression names; nothing: not known.
using RankOf = std::function<std::optional<size_t>(const PythonExpression&)>;

// `name`: without torch., F., …; of a method its receiver is the first argument. Layers' weights
// are names as "self.fc.weight".
PythonExpression PlainCall(const Tables& tables, std::string name,
                           std::vector<PythonExpression> arguments,
                           std::vector<PythonExpression::Keyword> keywords, const RankOf& rank);

// The function that a layer's forward calls, "layer_norm" of "nn.LayerNorm"; "": it has none here.
std::string FunctionOfLayer(const std::string& constructor);

// Arguments of that function behind the inputs, from the constructor's call of a layer at `path`.
std::vector<PythonExpression::Keyword> ArgumentsOfLayer(const Tables& tables,
                                                        const PythonExpression& constructor,
                                                        const std::string& path, bool training);

}  // namespace davinci::teacher
