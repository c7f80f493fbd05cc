// How people write the same graph differently. A style is a distribution over the options of every
// axis; words are the names and sentences. Both are read from styles.toml and words.toml
// (docs/synth.md has the axes). Immutable, shared by threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/base/status.h"

namespace davinci::synth {

using OptionWeights = std::vector<std::pair<std::string, double>>;

struct Style {
  std::string name;
  double weight = 1;
  bool held_out = false;
  std::map<std::string, OptionWeights> axes;  // every axis
};

struct StyleBook {
  std::vector<Style> styles;
  std::map<std::string, std::vector<std::string>> words;
};

// One option per axis.
class StyleChoice {
 public:
  StyleChoice(const Style& style, SplitMix64* rng);
  const std::string& operator[](const std::string& axis) const { return chosen_.at(axis); }
  bool Is(const std::string& axis, std::string_view option) const {
    return chosen_.at(axis) == option;
  }

 private:
  std::map<std::string, std::string> chosen_;
};

// The axes and options that the renderer knows.
const std::map<std::string, std::vector<std::string>>& StyleAxes();

Result<StyleBook> LoadStyles(const std::filesystem::path& folder);

}  // namespace davinci::synth
