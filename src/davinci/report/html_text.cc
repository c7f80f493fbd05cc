#include "davinci/report/html_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "davinci/base/duration.h"
#include "davinci/base/hash.h"
#include "davinci/base/utf8.h"
#include "davinci/data/shown_interval.h"
#include "davinci/report/html_style.h"

namespace davinci::report {
std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const size_t length = DecodeUtf8(text).bytes;
    const char c = text.front();
    if (length == 0 ||
        (length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' &&
         c != '\r') ||
        c == '\x7f') {
      escaped += kReplacementCharacter;
      text.remove_prefix(1);
      continue;
    }
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (c != '\r') {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return escaped;
}

std::string PageHead(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      EscapeHtml(title), kStyle);
}

std::string Card(std::string_view title, std::string_view value) {
  return fmt::format("<div class=\"card\"><span class=\"soft\">{}</span><b>{}</b></div>\n",
                     EscapeHtml(title), EscapeHtml(value));
}

std::string SettingsHtml(const std::vector<std::pair<std::string, std::string>>& settings) {
  if (settings.empty()) return "";
  std::string rows = "<div class=\"scroll\"><table>";
  for (const auto& [name, value] : settings)
    rows += fmt::format("<tr><td>{}</td><td><code>{}</code></td></tr>\n", EscapeHtml(name),
                        EscapeHtml(value));
  return "<h2>Settings</h2>\n" + Folded("Everything as resolved", rows + "</table></div>");
}

std::string FormatFigure(const Speedup& speedup) {
  const SpeedFigure figure = FigureOf(speedup);
  switch (figure.kind) {
    case SpeedFigure::Kind::kMedian:
      return fmt::format("{:.2f}×", figure.value);
    case SpeedFigure::Kind::kAtLeast:
      return fmt::format("≥ {:.2f}×", figure.value);
    case SpeedFigure::Kind::kAtMost:
      return fmt::format("≤ {:.2f}×", figure.value);
    case SpeedFigure::Kind::kNone:
      break;
  }
  return "not decided";
}

std::string FormatSpeedup(const Speedup& speedup) {
  const ShownInterval shown = Shown(speedup);
  const std::string figure = FormatFigure(speedup);
  if (IsUnbounded(shown)) return figure + " [unbounded]";
  const std::string high =
      std::isfinite(shown.high) ? fmt::format("{:.2f}", shown.high) : std::string("∞");
  return fmt::format("{} [{:.2f}, {}]", figure, shown.low, high);
}

std::string FormatSeconds(double seconds) { return DurationText(seconds); }

std::string FormatCount(int64_t count) {
  const std::string digits = std::to_string(count);
  const size_t first = digits.front() == '-' ? 1 : 0;
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string FormatUnixTime(double unix_s) {
  if (unix_s <= 0) return "";
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(unix_s)));
}

std::string ShortVerdict(const Evaluation& evaluation) {
  if (evaluation.speedup) return FormatFigure(*evaluation.speedup);
  return std::string(OutcomeName(evaluation.outcome));
}

std::string_view VerdictClass(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kOk:
      return evaluation.speedup && FindingOf(*evaluation.speedup) == SpeedFinding::kFaster ? "good"
                                                                                           : "even";
    case Outcome::kCompileOnly:
      return "even";
    case Outcome::kJudgeError:
      return "off";
    default:
      return "bad";
  }
}

std::string Folded(std::string_view summary, std::string_view body, bool open) {
  return fmt::format("<details{}><summary>{}</summary>{}</details>\n", open ? " open" : "",
                     EscapeHtml(summary), body);
}

std::string CodeBlock(std::string_view text, size_t max_bytes) {
  return fmt::format("<pre>{}</pre>\n", EscapeHtml(ElideMiddle(text, max_bytes)));
}

std::string Anchor(std::string_view prefix, std::string_view name) {
  return fmt::format("{}-{}", prefix, Sha256Hex(name).substr(0, 12));
}

}  // namespace davinci::report
