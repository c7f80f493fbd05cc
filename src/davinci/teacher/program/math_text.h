// The functions that C++ kernels call, as sections of a text: "// ---- Name: what it needs". A
// kernel's file gets the sections it calls and those they need, in the order of the text.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::teacher {

class MathText {
 public:
  static Result<MathText> Load(const std::filesystem::path& file);

  // Names of sections that `text` calls.
  std::vector<std::string> CalledBy(const std::string& text) const;
  // Definitions of the named sections and of all that they need.
  std::string Definitions(std::set<std::string> names) const;

 private:
  struct Section {
    std::string name;
    std::vector<std::string> needs;
    std::string text;
  };
  std::vector<Section> sections_;
};

}  // namespace davinci::teacher
