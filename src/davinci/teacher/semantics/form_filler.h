// The text of a graph's node: its spelling (synth/rendered_task.h) with names in the place of the
// placeholders. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/synth/rendered_task.h"
#include "davinci/teacher/program/program.h"

namespace davinci::teacher {

struct FormFiller {
  const Program& program;
  const synth::Node& node;
  const synth::NodeText& text;
  // Names for the evaluator: in_0 of an input, w_NAME of a weight, module_ of the module, dimid_7
  // of a size. Else Python text of forward, with {0}, {1} for the inputs.
  bool evaluate;

  std::string Fill(std::string_view form) const;
  std::string Input(size_t index) const;

 private:
  std::string Dim(DimId dim) const;
  std::string Dims(const std::vector<DimId>& dims) const;
  std::string Attr(const synth::AttrSpec& spec) const;
  std::string Weight(const std::string& name) const;
  std::string Value(const std::string& name) const;
};

// `form` with names in the places of {0}, {1}, …; a doubled brace is one brace of an imported text.
std::string Filled(const std::string& form, const std::vector<std::string>& names);

}  // namespace davinci::teacher
