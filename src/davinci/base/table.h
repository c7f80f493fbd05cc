// Plain tables for people: aligned columns in a terminal or a log file.
//
// Cells may hold text that comes from a hostile candidate (kernel names, error messages), so
// control bytes, escape sequences and bytes that are not UTF-8 are shown as '?': a table can never
// move the cursor or repaint a verdict.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace davinci {

enum class Align { kLeft, kRight };
enum class TextStyle { kPlain, kBold, kDim, kGood, kBad, kWarn };

// `text` without anything a terminal could act on; a line break becomes a space.
std::string Printable(std::string_view text);
// Columns that `text` takes in a terminal (East Asian wide characters take two).
size_t DisplayWidth(std::string_view text);
// At most `width` columns of `text`, ending in "…" when something was cut.
std::string Ellipsize(std::string_view text, size_t width);
// `text` in colour, or unchanged when `color` is false.
std::string Styled(std::string_view text, TextStyle style, bool color);
// Should stdout/stderr (file descriptor 1/2) be coloured: a terminal, TERM is not dumb, NO_COLOR is
// not set.
bool UseColor(int fd);
// Columns of the terminal behind `fd`, or `fallback` when it is none.
size_t TerminalWidth(int fd, size_t fallback = 120);

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  struct Cell {
    Cell(std::string t, TextStyle s = TextStyle::kPlain)
        : text(std::move(t)), style(s) {}                                        // NOLINT
    Cell(const char* t, TextStyle s = TextStyle::kPlain) : text(t), style(s) {}  // NOLINT
    std::string text;
    TextStyle style;
  };
  struct Options {
    bool color = false;
    size_t max_width =
        0;               // columns of a whole line; 0 = unlimited. The widest columns shrink first.
    std::string indent;  // before every line
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty, surplus cells are dropped.
  void AddRow(std::vector<Cell> cells);
  // A thin line between the rows before and after.
  void AddRule();

  size_t num_rows() const;
  // Title line, rule, rows; every line ends in '\n' and none in spaces.
  std::string Render(const Options& options) const;
  std::string Render() const { return Render(Options{}); }

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // an empty row is a rule
};

}  // namespace davinci
