// Kernels of a delta reply that cannot work, by what their text alone says: the module's own calls
// take their places (plain_forward.h), so that one of them does not cost the whole reply.
//
//   a kernel      whose text is no Python; that reads a name before anything defines it; that
//                 stores nothing
//   its launches  with another number of arguments; with a name that nothing makes, or a path that
//                 the plain forward does not know; that need what only kernels left out compute
//
// A kernel goes with all its launches, and one of either sort is enough. Nothing is run. When in
// doubt a kernel stays: none that works may go. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "davinci/agent/plain_code.h"
#include "davinci/agent/python_statements.h"

namespace davinci::agent {

// What LeftOut::kernel says of forward's replay as a graph.
inline constexpr std::string_view kReplay = "@replay";

struct LeftOut {
  std::string kernel;  // its name; kReplay; "": a line between kernels
  std::string why;     // "t10 is not defined"

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

// Names that a reply has without making them.
struct KnownNames {
  std::set<std::string> in_kernels;  // of the prelude
  std::set<std::string> in_forward;  // of the task's file and its sizes, further ones
};

// A reply without its unsound kernels.
struct SoundKernels {
  std::vector<LeftOut> left_out;
  std::vector<std::string> launched;  // that stay and could be left out, too; in forward's order
  size_t unsound = 0;                 // kernels and lines that cannot work, those that stay as well
};

// Takes out of `reply`, whose launches stand in its body, the kernels that are `wrong` for another
// reason and what cannot work. Where no launch would be left, nothing goes, so that the reply's
// error is seen, and no kernel is said to be launched. `@replay` goes where forward has a parameter
// that is no tensor.
SoundKernels TakeUnsoundKernels(const PlainForward& plain, const KnownNames& known,
                                const std::vector<LeftOut>& wrong, Forward* reply);

// [{"kernel": "f3", "why": "t10 is not defined"}], as records have it; what has another form is no
// list.
nlohmann::json ToJson(const std::vector<LeftOut>& left_out);
std::vector<LeftOut> LeftOutFromJson(const nlohmann::json& list);

// "f3 was left out: t10 is not defined. PyTorch computes its steps." a line, or "".
std::string LeftOutText(const std::vector<LeftOut>& left_out);

}  // namespace davinci::agent
