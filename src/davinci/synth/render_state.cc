#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::synth {

std::string FloatText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string CamelCase(std::string_view snake) {
  std::string camel;
  bool up = true;
  for (const char c : snake) {
    if (c == '_') {
      up = true;
      continue;
    }
    camel += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return camel;
}

std::string RenderState::ConstantName(DimId symbol) const {
  std::string name = symbol_names.at(symbol);
  if (style.Is("const_case", "upper"))
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string RenderState::Quoted(std::string_view text) const {
  const char quote = style.Is("quotes", "single") ? '\'' : '"';
  return quote + std::string(text) + quote;
}

std::string RenderState::ShapeText(const std::vector<DimId>& shape) const {
  std::string text;
  for (const DimId dim : shape) {
    if (!text.empty()) text += ", ";
    text += graph.dims.Python(dim, [&](DimId part) -> std::string {
      const auto found = symbol_names.find(part);
      return found == symbol_names.end() ? "" : found->second;
    });
  }
  return text;
}

}  // namespace davinci::synth
