#include "davinci/teacher/templates/attention_call.h"

#include <fmt/format.h>

namespace davinci::teacher {

std::string AttentionCall::Option(const char* name, const std::string& otherwise) const {
  const auto found = value->options.find(name);
  return found == value->options.end() ? otherwise : found->second;
}

std::optional<AttentionCall> ReadAttention(const TemplateRequest& request, Rule stops) {
  const Program& program = *request.program;
  AttentionCall call;
  call.value = &program[request.value];
  const size_t rank = call.value->shape.size();
  if (rank != 3 && rank != 4) return std::nullopt;
  const std::vector<Id>& operands = call.value->operands;
  call.is_half = program.graph.precision != synth::Precision::kFp32;
  call.is_causal = call.value->options.contains("causal");
  call.stops = call.is_causal && request.rules.Contains(stops);
  call.is_masked = operands.size() > 3;
  call.chooses = call.is_masked && program[operands[3]].dtype == DType::kBool;
  call.groups = std::stol(call.Option("groups", "1"));
  call.tensors = {"q", "k", "v"};
  if (call.is_masked) call.tensors.emplace_back("mask");
  call.tensors.emplace_back("out");
  return call;
}

std::string AttentionArguments::Size(size_t tensor, int axis) const {
  return fmt::format("{}.shape[{}]", hosts[tensor], axis);
}

AttentionArguments ArgumentsOf(const AttentionCall& call, const TemplateRequest& request) {
  const std::string lift = call.value->shape.size() == 3 ? ".unsqueeze(1)" : "";
  const std::vector<Id>& operands = call.value->operands;
  AttentionArguments arguments;
  for (size_t i = 0; i < 3; ++i) arguments.hosts.push_back(request.host(operands[i]) + lift);
  if (call.is_masked)
    arguments.hosts.push_back(fmt::format("{}.expand({}, {}, {}, {})", request.host(operands[3]),
                                          arguments.Size(0, 0), arguments.Size(0, 1),
                                          arguments.Size(0, 2), arguments.Size(1, 2)));
  arguments.hosts.push_back(request.result + lift);
  for (const std::string& host : arguments.hosts) arguments.text += host + ", ";
  for (const std::string& host : arguments.hosts)
    arguments.text += fmt::format("*{}.stride(), ", host);
  return arguments;
}

}  // namespace davinci::teacher
