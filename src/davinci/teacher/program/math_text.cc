#include "davinci/teacher/program/math_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/files.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {

constexpr std::string_view kMark = "// ---- ";

Result<MathText> MathText::Load(const std::filesystem::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, size_t{1} << 20));
  MathText math;
  for (const std::string_view line : synth::Split(text, '\n')) {
    if (!line.starts_with(kMark)) {
      if (!math.sections_.empty() && !(line.empty() && math.sections_.back().text.empty()))
        math.sections_.back().text += std::string(line) + "\n";
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      return InvalidArgument(
          fmt::format("{}: a section is \"// ---- Name: needs\", not \"{}\"", file.string(), line));
    Section section;
    section.name = line.substr(kMark.size(), colon - kMark.size());
    for (const std::string_view need : synth::Words(line.substr(colon + 1)))
      section.needs.emplace_back(need);
    math.sections_.push_back(std::move(section));
  }
  for (Section& section : math.sections_)
    while (section.text.ends_with("\n\n")) section.text.pop_back();
  return math;
}

std::vector<std::string> MathText::CalledBy(const std::string& text) const {
  std::vector<std::string> names;
  for (const Section& section : sections_) {
    const size_t at = text.find(section.name + "(");
    if (at != std::string::npos &&
        (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))))
      names.push_back(section.name);
  }
  return names;
}

std::string MathText::Definitions(std::set<std::string> names) const {
  std::string all;
  // A section needs earlier ones only.
  for (auto section = sections_.rbegin(); section != sections_.rend(); ++section) {
    if (!names.contains(section->name)) continue;
    names.insert(section->needs.begin(), section->needs.end());
    all = section->text + (all.empty() ? "" : "\n") + all;
  }
  return all;
}

}  // namespace davinci::teacher
