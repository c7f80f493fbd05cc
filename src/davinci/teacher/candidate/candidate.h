// The teacher's answer to one task in one language.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "davinci/data/reply_form.h"
#include "davinci/teacher/program/program.h"
#include "davinci/teacher/rules/rules.h"
#include "davinci/teacher/semantics/step_names.h"

namespace davinci::teacher {

// The work of one call, on any machine.
struct Work {
  double bytes = 0;  // read and written
  double flops = 0;  // of products, convolutions and attention
  int own_launches = 0;
  int torch_launches = 0;
};

// A further shape of an imported module.
struct ShapeKernels {
  int own_kernels = 0;
  std::string why = {};  // there are none: its calls go to the module's own forward
};

// A size that the candidate reads of its inputs.
struct SymbolicSize {
  std::string place;  // "x.shape[0]"
  int64_t least = 0, most = 0;
};

struct Candidate {
  // With <entry>New: a Python file, or a delta reply (agent/delta_reply.h).
  std::string source;
  RuleSet rules;                     // that the text shows
  std::set<std::string> skills;      // theirs
  int own_kernels = 0;               // regions
  std::vector<LeftOperator> left;    // operators left to PyTorch
  bool prefers_vendor = false;       // PyTorch's own kernels are expected to be as fast
  Work work, eager;                  // of the candidate, and of the task as it is
  std::vector<ShapeKernels> shapes;  // behind the task's own, in order
  std::vector<SymbolicSize> symbols = {};
};

// Returns whether the names and texts of a candidate are as short as they can be.
inline bool IsBrief(ReplyForm form, Language language) {
  return form == ReplyForm::kDelta && language == Language::kTriton;
}

// The form of a candidate. Where `steps` are given, a brief one has their names and says of each
// kernel which steps it takes; they outlive the call. A form alone has names of its own.
struct AnswerForm {
  AnswerForm(ReplyForm form, const Steps* names = nullptr)  // NOLINT(google-explicit-constructor)
      : reply(form), steps(names) {}
  ReplyForm reply;
  const Steps* steps;
};

// Why a candidate has no kernel of its own: "every call stays PyTorch's", and what is not known.
std::string EveryCallStays(const std::vector<LeftOperator>& left);

}  // namespace davinci::teacher
