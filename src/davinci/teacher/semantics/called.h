// The functions of PyTorch that a node's text calls, by their names. What costs and rules ask of a
// node (its kind of work, whether it is a matrix product) is asked of these, for generated and
// imported graphs alike. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

// Kind of work of each function by its last name, and of each module: "conv2d" and "nn.Conv2d" ->
// "conv" (synth/teacher/families.toml).
using CallKinds = std::map<std::string, std::string, std::less<>>;
Result<CallKinds> LoadCallKinds(const std::filesystem::path& file);

// The names that a text calls, the outermost first: "softmax", "__matmul__" of `@`, "slice" of a
// subscript of numbers. `made_by` is the constructor's name ("nn.LSTM") of the module that the name
// module_ calls; any other submodule is "module". Spellings of one function have one name: softmin,
// trace, and outer for `x[:, None] * y` where x is one of the `vectors`.
std::vector<std::string> CalledFunctions(const PythonExpression& text, const std::string& made_by,
                                         const std::set<std::string>& vectors = {});
// The same of a text that is no expression we can parse: the name before its first bracket, or
// "comprehension".
std::vector<std::string> CalledFunctions(const std::string& text);

// "torch.nn.functional.relu" -> "relu"; "nn.ReLU" stays.
std::string ShortFunctionName(const std::string& dotted);
// True for the name of a function, `name` with dots; false for a method of a value.
bool IsFreeFunction(const PythonExpression& function, const std::string& name);

// Kind of the outermost function that is no view; "view" where all are; "other" for a name that no
// list has.
std::string KindOfCall(const std::vector<std::string>& called, const CallKinds& kinds);

// A product of two matrices, or of batches of them, that are names in the text.
struct CalledProduct {
  std::string left, right, bias;  // `bias`: ""
  bool left_transposed = false, right_transposed = false;
};
// `rank` gives the number of axes of a name's tensor. Nothing: the text is another call.
std::optional<CalledProduct> ProductOf(const PythonExpression& text,
                                       const std::map<std::string, size_t>& rank);

}  // namespace davinci::teacher
