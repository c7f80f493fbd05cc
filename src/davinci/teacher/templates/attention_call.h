// AttentionCall is a call of attention as its kernel in any language sees it, AttentionArguments
// are those of the launch.
// Internal to templates/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

struct AttentionCall {
  const TensorValue* value = nullptr;  // of the program
  bool is_half = false;                // fp16 or bf16
  bool is_causal = false;
  bool stops = false;                // the kernel reads no key behind the diagonal
  bool is_masked = false;            // by a mask or an additive bias
  bool chooses = false;              // the mask is true or false
  int64_t groups = 1;                // heads of queries for each of keys
  std::vector<std::string> tensors;  // that the kernel reads and writes: q, k, v, mask, out

  // Python or numbers as text; kernel_templates.h names them.
  std::string Option(const char* name, const std::string& otherwise) const;
};

// `stops`: the rule by which a kernel stops at the diagonal. Nothing for other tensors than of
// three or four axes.
std::optional<AttentionCall> ReadAttention(const TemplateRequest& request, Rule stops);

// All of it is Python text.
struct AttentionArguments {
  std::vector<std::string> hosts;  // the tensors, with four axes each
  std::string text;                // these and their strides, each with a comma behind it

  std::string Size(size_t tensor, int axis) const;
};
AttentionArguments ArgumentsOf(const AttentionCall& call, const TemplateRequest& request);

}  // namespace davinci::teacher
