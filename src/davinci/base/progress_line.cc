#include "davinci/base/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "davinci/base/table.h"

namespace davinci {
namespace {

constexpr char kErase[] = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(double plain_seconds, std::FILE* to)
    : plain_seconds_(plain_seconds), to_(to), live_(::isatty(::fileno(to)) != 0) {}

void ProgressLine::Show(std::string_view text) {
  if (live_) {
    shown_ = true;
    // A line that fills the last column wraps on some terminals.
    const size_t width = TerminalWidth(::fileno(to_)) - 1;
    fmt::print(to_, "{}{}", kErase, Ellipsize(Printable(text), width));
  } else if (since_plain_.Seconds() >= plain_seconds_) {
    since_plain_.Restart();
    fmt::print(to_, "{}\n", Printable(text));
  }
  std::fflush(to_);
}

void ProgressLine::Clear() {
  if (!shown_) return;
  shown_ = false;
  fmt::print(to_, "{}", kErase);
  std::fflush(to_);
}

}  // namespace davinci
