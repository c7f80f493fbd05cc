#include "doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/table.h"

namespace davinci::app {
namespace {

constexpr size_t kNameColumns = 18;
constexpr size_t kIndentColumns = 4;  // blank, blank, mark, blank

struct Mark {
  std::string_view symbol;
  TextStyle style;
};

Mark MarkOf(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return {"✓", TextStyle::kGood};
    case CheckState::kWarn:
      return {"!", TextStyle::kWarn};
    case CheckState::kMissing:
      break;
  }
  return {"✗", TextStyle::kBad};
}

std::string Padded(std::string_view text, size_t columns) {
  std::string out(text);
  for (size_t width = DisplayWidth(text); width < columns; ++width) out += ' ';
  return out;
}

// Lines of at most `columns` (0: one line), broken at blanks; a longer word stays whole, because
// commands get copied.
std::vector<std::string> Wrap(std::string_view text, size_t columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    std::string& line = lines.back();
    if (columns > 0 && !line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > columns)
      lines.emplace_back(word);
    else
      line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool Works(const std::vector<Check>& checks, bool Check::*needed) {
  return std::none_of(checks.begin(), checks.end(), [&](const Check& check) {
    return check.*needed && check.state == CheckState::kMissing;
  });
}

}  // namespace

std::string_view CheckStateName(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kWarn:
      return "warn";
    case CheckState::kMissing:
      break;
  }
  return "missing";
}

bool DoctorReport::CpuWorks() const { return Works(checks, &Check::needed_for_cpu); }
bool DoctorReport::CudaWorks() const {
  return CpuWorks() && Works(checks, &Check::needed_for_cuda);
}

std::string RenderDoctor(const DoctorReport& report, bool color, size_t width) {
  const size_t left = kIndentColumns + kNameColumns + 1;
  const size_t room = width > left + 20 ? width - left : 0;
  const std::string indent(left, ' ');
  std::string text;
  std::string section;
  for (const Check& check : report.checks) {
    if (check.section != section) {
      section = check.section;
      text +=
          fmt::format("{}{}\n", text.empty() ? "" : "\n", Styled(section, TextStyle::kBold, color));
    }
    const Mark mark = MarkOf(check.state);
    std::string head = fmt::format("  {} {} ", Styled(mark.symbol, mark.style, color),
                                   Padded(Printable(check.name), kNameColumns));
    for (const std::string& line : Wrap(Printable(check.value), room)) {
      text += head + line + "\n";
      head = indent;
    }
    head = indent + "→ ";
    if (!check.remedy.empty())
      for (const std::string& line : Wrap(Printable(check.remedy), room > 2 ? room - 2 : 0)) {
        text += Styled(head + line, TextStyle::kDim, color) + "\n";
        head = indent + "  ";
      }
  }
  const auto answer = [&](std::string_view command, bool works, std::string_view otherwise,
                          CheckState state = CheckState::kMissing) {
    const Mark mark = MarkOf(works ? CheckState::kOk : state);
    text += fmt::format("  {} {}  {}\n", Styled(mark.symbol, mark.style, color), command,
                        works ? "works here" : otherwise);
  };
  text += fmt::format("\n{}\n", Styled("judging", TextStyle::kBold, color));
  answer("davinci judge --target cpu ", report.CpuWorks(),
         "cannot work: mend the lines marked ✗ above");
  if (report.ChecksCompileOnly())
    answer("davinci judge --target cuda", report.CudaWorks(),
           "checks candidates without a device: compiled, interpreted, never timed",
           CheckState::kWarn);
  else
    answer("davinci judge --target cuda", report.CudaWorks(),
           "cannot run and time kernels on this machine");
  return text;
}

nlohmann::json ToJson(const DoctorReport& report) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Check& check : report.checks)
    checks.push_back({{"section", check.section},
                      {"name", check.name},
                      {"state", CheckStateName(check.state)},
                      {"value", check.value},
                      {"remedy", check.remedy},
                      {"details", check.details}});
  return {{"schema", "davinci.doctor/1"},
          {"targets",
           {{"cpu", report.CpuWorks()},
            {"cuda", report.CudaWorks()},
            {"cuda_compile_only", report.ChecksCompileOnly()}}},
          {"checks", std::move(checks)}};
}

}  // namespace davinci::app
