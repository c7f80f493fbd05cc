#include "davinci/skill/examples.h"

#include <algorithm>

namespace davinci::skill {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// The languages that a line "### a, b" names; empty when it is no such heading.
std::vector<Language> HeadingLanguages(std::string_view line) {
  if (!line.starts_with("### ")) return {};
  line.remove_prefix(4);
  std::vector<Language> languages;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    const auto language = ParseLanguage(Trim(line.substr(begin, end - begin)));
    if (!language || !TargetOf(*language)) return {};
    languages.push_back(*language);
    begin = end + 1;
  }
  return languages;
}

// A piece of a content: everything that is for all, or the example of some languages.
struct Piece {
  std::vector<Language> languages;
  std::string_view text;
};

std::vector<Piece> Split(std::string_view content) {
  std::vector<Piece> pieces = {{}};
  size_t piece_begin = 0;
  bool in_fence = false;
  bool in_example = false;
  const auto start = [&](size_t at, std::vector<Language> languages) {
    pieces.back().text = content.substr(piece_begin, at - piece_begin);
    pieces.push_back({std::move(languages), {}});
    piece_begin = at;
  };
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line = content.substr(begin, end - begin);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      in_fence = !in_fence;
    } else if (!in_fence && line.starts_with("## ")) {
      if (!pieces.back().languages.empty()) start(begin, {});
      in_example = Trim(line) == "## Example";
    } else if (!in_fence && in_example) {
      if (auto languages = HeadingLanguages(line); !languages.empty())
        start(begin, std::move(languages));
    }
    begin = end + 1;
  }
  pieces.back().text = content.substr(std::min(piece_begin, content.size()));
  return pieces;
}

template <typename Matches>
bool KeepMatching(const std::vector<Piece>& pieces, Matches matches, std::string* kept) {
  const auto wanted = [&](const Piece& piece) {
    return std::any_of(piece.languages.begin(), piece.languages.end(), matches);
  };
  if (std::none_of(pieces.begin(), pieces.end(), wanted)) return false;
  kept->clear();
  for (const Piece& piece : pieces)
    if (piece.languages.empty() || wanted(piece)) *kept += piece.text;
  return true;
}

}  // namespace

std::optional<Target> TargetOf(Language language) {
  switch (language) {
    case Language::kTriton:
    case Language::kCuda:
    case Language::kCudaInline:
      return Target::kCuda;
    case Language::kCpp:
      return Target::kCpu;
    case Language::kAuto:
    case Language::kPython:
      return std::nullopt;
  }
  return std::nullopt;
}

bool SameFamily(Language a, Language b) {
  const auto family = [](Language l) { return l == Language::kCudaInline ? Language::kCuda : l; };
  return family(a) == family(b);
}

std::vector<Language> ExampleLanguages(std::string_view content) {
  std::vector<Language> languages;
  for (const Piece& piece : Split(content))
    for (const Language language : piece.languages)
      if (std::find(languages.begin(), languages.end(), language) == languages.end())
        languages.push_back(language);
  return languages;
}

std::string ContentFor(std::string_view content, Language language) {
  const std::vector<Piece> pieces = Split(content);
  std::string kept;
  if (language == Language::kAuto) return std::string(content);
  if (KeepMatching(
          pieces, [&](Language one) { return one == language; }, &kept) ||
      KeepMatching(
          pieces, [&](Language one) { return SameFamily(one, language); }, &kept) ||
      KeepMatching(
          pieces, [&](Language one) { return TargetOf(one) == TargetOf(language); }, &kept))
    return kept;
  return std::string(content);
}

}  // namespace davinci::skill
