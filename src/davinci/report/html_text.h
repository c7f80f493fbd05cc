// Small pieces of HTML: numbers as readers want them, escaped text, folded blocks. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/data/evaluation.h"

namespace davinci::report {

// Text for element content and for quoted attributes. Bytes that are not UTF-8 and control
// characters other than tab and newline become U+FFFD.
std::string EscapeHtml(std::string_view text);

// "1.43×", "≥ 2.98×", "≤ 0.41×", "not decided" (data/shown_interval.h).
std::string FormatFigure(const Speedup& speedup);
std::string FormatSpeedup(const Speedup& speedup);  // "1.43× [1.40, 1.46]"
std::string FormatSeconds(double seconds);          // "0.8 s", "3 min 20 s", "2 h 5 min"
std::string FormatCount(int64_t count);             // "12,345"
std::string FormatUnixTime(double unix_s);          // "2025-06-07 08:09 UTC"; "" for 0

// A verdict in one or two words: FormatFigure() of its speedup, or the outcome's name.
std::string ShortVerdict(const Evaluation& evaluation);
// CSS class of a verdict: "good" (faster for sure), "even", "bad" (not correct), "off" (our
// failure).
std::string_view VerdictClass(const Evaluation& evaluation);

// <details> with an escaped summary; `body` is HTML.
std::string Folded(std::string_view summary, std::string_view body, bool open = false);
// <pre> with escaped text of at most `max_bytes` (the middle is left out).
std::string CodeBlock(std::string_view text, size_t max_bytes);
// What a page begins with, up to <body>: style, and a policy that forbids scripts and the network.
std::string PageHead(std::string_view title);
// A number on top of a page.
std::string Card(std::string_view title, std::string_view value);
// The resolved settings, folded; empty without any.
std::string SettingsHtml(const std::vector<std::pair<std::string, std::string>>& settings);
// An element id made of anything.
std::string Anchor(std::string_view prefix, std::string_view name);

}  // namespace davinci::report
