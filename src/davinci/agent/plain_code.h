// PlainForward has what a delta reply may leave out of its forward (plain_forward.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace davinci::agent {

// The end of a line that counts the batches of a batch norm.
inline constexpr std::string_view kCountsBatches = ".num_batches_tracked.add_(1)";

// A task's forward() with every call left to PyTorch, in the names of its steps.
struct PlainForward {
  std::string code;  // a delta reply without kernels; "": not known
  // Letters of sizes and short names of modules stand for these texts:
  // {"B", "x.shape[1]"}, {"m1", "self.layers[0]"}.
  std::vector<std::pair<std::string, std::string>> names;
  std::set<std::string> inputs =
      {};  // tensors among its arguments, whose memory may have any order
  struct Tensor {
    std::string type;   // "", which is the task's floating point type; "int", "bool"
    std::string shape;  // "A, B * 2"
  };
  std::map<std::string, Tensor> tensors = {};  // arguments, weights and steps, by name
  // The first line of a forward whose numbers are those of one shape: "if not (x.shape == (4, 8)):
  // return super().forward(x)". "": they are those of all shapes.
  std::string one_shape = {};
  // A candidate has this in the place of the task's file where that reads files which candidates
  // may not read (task::Task::data), as a live module's does; "": it has the file itself.
  std::string file = {};
};

}  // namespace davinci::agent
