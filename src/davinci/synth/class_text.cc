// A class that has been written as Python text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::synth {

std::string ClassWriter::Text(const std::string& name, const std::string& summary) {
  const bool hints = s_->style.Is("hints", "full");
  const bool function = g_.scopes[static_cast<size_t>(scope_)].pattern == "function";
  const std::string& docstring = s_->style["docstring"];
  std::string text;
  std::vector<std::string> inputs;
  for (const std::string& read : read_names_)
    inputs.push_back(hints ? read + ": torch.Tensor" : read);
  if (function) {
    text =
        fmt::format("def {}({}){}:\n", name, Join(inputs, ", "), hints ? " -> torch.Tensor" : "");
    for (const std::string& line : forward_) text += "    " + line + "\n";
    return text + "    return " + return_text_ + "\n";
  }
  text = fmt::format("class {}(nn.Module):\n", name);
  const std::string quotes =
      s_->style.Is("quotes", "single") && s_->rng.Below(2) ? "'''" : "\"\"\"";
  if (!summary.empty() && docstring != "none")
    text += fmt::format(
        "    {0}{1}{0}\n\n", quotes,
        docstring == "line" || s_->Chance(0.5) ? summary : "\n    " + summary + "\n    ");
  std::vector<std::string> parameters = {"self"};
  const bool defaults =
      scope_ == 0 && s_->style.Is("init_default", "yes") && s_->style.Is("sizes", "literal");
  for (const ClassArgument& argument : arguments_) {
    std::string parameter = argument.name;
    const bool real =
        argument.dim == kNoDim && argument.literal.find_first_of(".e") != std::string::npos;
    if (hints) parameter += real ? ": float" : ": int";
    if (defaults) {
      parameter += hints ? " = " : "=";
      parameter += argument.dim != kNoDim ? std::to_string(g_.dims.At(argument.dim, s_->literal))
                                          : argument.literal;
    }
    parameters.push_back(parameter);
  }
  if (scope_ == 0 && s_->style.Is("unused", "yes") && s_->Chance(0.4))
    parameters.push_back(s_->Word("unused_arguments"));
  std::string init;
  const bool super_named = s_->style.Is("super", "named");
  init += fmt::format("    def __init__({}){}:\n", Join(parameters, ", "),
                      hints && s_->Chance(0.5) ? " -> None" : "");
  if (docstring == "full" && scope_ == 0 && !arguments_.empty() && !summary.empty()) {
    init += fmt::format("        {0}\n        Args:\n", quotes);
    for (const ClassArgument& argument : arguments_)
      init += fmt::format("            {} ({}): {}.\n", argument.name,
                          argument.dim == kNoDim && argument.literal.find('.') != std::string::npos
                              ? "float"
                              : "int",
                          argument.text);
    init += fmt::format("        {0}\n", quotes);
  }
  init += super_named ? fmt::format("        super({}, self).__init__()\n", name)
                      : "        super().__init__()\n";
  for (const std::string& line : init_) init += "        " + line + "\n";
  if (scope_ == 0 && s_->graph.precision != Precision::kFp32 && s_->has_state) {
    const bool half = s_->graph.precision == Precision::kFp16;
    init += s_->Chance(0.5)
                ? fmt::format("        self.to(torch.{})\n", half ? "float16" : "bfloat16")
                : fmt::format("        self.{}()\n", half ? "half" : "bfloat16");
  }
  // People leave an empty constructor away, sometimes.
  const bool keep_init = !init_.empty() || parameters.size() > 1 || s_->Chance(0.7);
  if (keep_init) text += init + "\n";
  std::vector<std::string> forward_inputs = inputs;
  forward_inputs.insert(forward_inputs.begin(), "self");
  const std::string result = results_.size() == 1                             ? "torch.Tensor"
                             : s_->style.Is("returns", "dict") && scope_ == 0 ? "dict"
                             : s_->style.Is("returns", "list") && scope_ == 0 ? "list"
                                                                              : "tuple";
  text += fmt::format("    def forward({}){}:\n", Join(forward_inputs, ", "),
                      hints ? " -> " + result : "");
  if ((docstring == "args" || docstring == "full") && scope_ == 0 && !summary.empty()) {
    text += fmt::format("        {0}{1}\n\n        Args:\n", quotes, s_->Word("forward_docstring"));
    for (size_t i = 0; i < reads_.size(); ++i) {
      const Value& value = g_.values[static_cast<size_t>(reads_[i])];
      text +=
          fmt::format("            {} (torch.Tensor): {} of shape ({}).\n", read_names_[i],
                      s_->grammar.kinds.find(value.kind)->second.text, s_->ShapeText(value.shape));
    }
    text += "\n        Returns:\n";
    if (results_.size() == 1)
      text += fmt::format("            torch.Tensor: output of shape ({}).\n",
                          s_->ShapeText(g_.values[static_cast<size_t>(results_[0])].shape));
    else
      text += fmt::format("            {} tensors.\n", results_.size());
    text += fmt::format("        {0}\n", quotes);
  }
  for (const std::string& line : forward_) text += "        " + line + "\n";
  text += "        return " + return_text_ + "\n";
  return text;
}

}  // namespace davinci::synth
