#include "davinci/base/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "davinci/base/utf8.h"

namespace davinci {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kRuleUnit = "─";
constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kNarrowest = 6;  // a column is not squeezed below this

// C1 controls, bidirectional overrides and invisible characters can make a line read as something
// it is not.
bool Deceptive(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

size_t Width(uint32_t c) {
  if (c >= 0x300 && c <= 0x36f) return 0;  // combining accents
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

std::string_view StyleCode(TextStyle style) {
  switch (style) {
    case TextStyle::kPlain:
      return "";
    case TextStyle::kBold:
      return "\x1b[1m";
    case TextStyle::kDim:
      return "\x1b[2m";
    case TextStyle::kGood:
      return "\x1b[32m";
    case TextStyle::kBad:
      return "\x1b[31m";
    case TextStyle::kWarn:
      return "\x1b[33m";
  }
  return "";
}

void TrimRight(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = DecodeUtf8(text);
    if (c.bytes == 0) {
      out.push_back('?');
      text.remove_prefix(1);
      continue;
    }
    if (c.value == '\n' || c.value == '\t') {
      out.push_back(' ');
    } else if (Deceptive(c.value)) {
      out.push_back('?');
    } else {
      out.append(text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = DecodeUtf8(text);
    width += c.bytes == 0 ? 1 : Width(c.value);
    text.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return width;
}

std::string Ellipsize(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const CodePoint c = DecodeUtf8(text);
    const size_t columns = c.bytes == 0 ? 1 : Width(c.value);
    if (used + columns > width - 1) break;
    used += columns;
    out.append(text.substr(0, std::max<size_t>(c.bytes, 1)));
    text.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return out.append(kEllipsis);
}

std::string Styled(std::string_view text, TextStyle style, bool color) {
  if (!color || style == TextStyle::kPlain) return std::string(text);
  return std::string(StyleCode(style)).append(text).append("\x1b[0m");
}

bool UseColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  const char* term = std::getenv("TERM");          // NOLINT(concurrency-mt-unsafe)
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return ::isatty(fd) == 1;
}

size_t TerminalWidth(int fd, size_t fallback) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return fallback;
  return size.ws_col;
}

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (Cell& cell : cells) cell.text = Printable(cell.text);
  rows_.push_back(std::move(cells));
}

void Table::AddRule() { rows_.emplace_back(); }

size_t Table::num_rows() const {
  return static_cast<size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const auto& row) { return !row.empty(); }));
}

std::string Table::Render(const Options& options) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) {
      if (!row.empty()) width = std::max(width, DisplayWidth(row[i].text));
    }
    widths.push_back(width);
  }
  const auto total = [&] {
    size_t sum = options.indent.size() + (widths.empty() ? 0 : kGap * (widths.size() - 1));
    for (size_t width : widths) sum += width;
    return sum;
  };
  while (options.max_width > 0 && total() > options.max_width) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (widest == widths.end() || *widest <= kNarrowest) break;
    --*widest;
  }

  std::string out;
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string text = options.indent;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string shown = Ellipsize(cells[i].text, widths[i]);
      const std::string blanks(widths[i] - DisplayWidth(shown), ' ');
      if (i > 0) text.append(kGap, ' ');
      if (columns_[i].align == Align::kRight) text += blanks;
      text += Styled(shown, shown.empty() ? TextStyle::kPlain : cells[i].style, options.color);
      if (columns_[i].align == Align::kLeft) text += blanks;
    }
    TrimRight(text);
    out += text + '\n';
  };
  const auto rule = [&] {
    std::string text;
    for (size_t i = options.indent.size(); i < total(); ++i) text += kRuleUnit;
    out += options.indent + Styled(text, TextStyle::kDim, options.color) + '\n';
  };

  std::vector<Cell> titles;
  for (const Column& column : columns_)
    titles.emplace_back(Printable(column.title), TextStyle::kBold);
  line(titles);
  rule();
  for (const auto& row : rows_) {
    if (row.empty()) {
      rule();
    } else {
      line(row);
    }
  }
  return out;
}

}  // namespace davinci
