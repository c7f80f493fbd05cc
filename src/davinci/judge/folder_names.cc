#include "davinci/judge/folder_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace davinci::judge {
namespace {

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

}  // namespace

void FolderNames::Add(std::string_view name, const std::string& folder) {
  if (folder.size() < 2) return;
  names_.emplace_back(fmt::format("{{{}}}", name), folder);
  std::ranges::stable_sort(names_, std::ranges::greater(),
                           [](const auto& one) { return one.second.size(); });
}

std::string FolderNames::Named(std::string text) const {
  for (const auto& [name, folder] : names_) ReplaceAll(&text, folder, name);
  return text;
}

std::string FolderNames::Real(std::string text) const {
  for (const auto& [name, folder] : names_) ReplaceAll(&text, name, folder);
  return text;
}

}  // namespace davinci::judge
