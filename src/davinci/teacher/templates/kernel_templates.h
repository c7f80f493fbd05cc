// Kernels whose algorithm regions cannot express, written out: attention with an online softmax,
// the largest elements of rows, sums into places that an index names. A value of the program names
// its template and options (TensorValue::kernel); its PyTorch text stays the answer without the
// rule.
//
// | template  | operands            | options                                                     |
// |-----------|---------------------|-------------------------------------------------------------|
// | attention | q, k, v, mask or    | causal, scale (Python), groups of query heads per key head, |
// |           | additive bias       | fill (for masked scores), keep (1: where the mask is true), |
// |           |                     | unseen (zeros for a query that sees no key; otherwise NaN)  |
// | top_k     | rows                | k                                                           |
// | scatter   | x, index, source    | reduce: sum, mean, amax, amin; along rows of two axes       |
// | index_add | x, index, source    |                                                             |
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "davinci/teacher/emit/emitter.h"

namespace davinci::teacher {

struct TemplateRequest {
  Program* program;
  Id value;
  std::string name;                     // of the kernel
  std::string result;                   // Python name that gets the output
  std::function<std::string(Id)> host;  // Python name of an operand
  const RuleSet& rules;
};

// Nothing: the template is not for these sizes or this language.
std::optional<KernelText> EmitTemplate(const TemplateRequest& request, Language language);

// One file per template and language.
std::optional<KernelText> EmitAttentionTriton(const TemplateRequest& request);
std::optional<KernelText> EmitAttentionCpp(const TemplateRequest& request);

// Makes attention of its parts, where the program computes it by product, softmax and product:
// scores = q k^T times a number, masked or with a bias, softmax along the keys, times v. Weights
// that anything else reads stay.
void RecognizeAttention(Program* program);

}  // namespace davinci::teacher
