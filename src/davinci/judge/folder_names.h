// FolderNames: folders that differ from run to run, written as names in braces ("{folder1}").
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace davinci::judge {

class FolderNames {
 public:
  // `folder` is written as "{name}" from here on.
  void Add(std::string_view name, const std::string& folder);
  // Writes folders by their names.
  std::string Named(std::string text) const;
  // … and names as the folders that they stand for here.
  std::string Real(std::string text) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // "{name}", folder; longest first
};

}  // namespace davinci::judge
