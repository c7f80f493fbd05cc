#include "davinci/base/progress_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace davinci {
namespace {

// A terminal of 20 columns, or a pipe, and what was written to it.
class Screen {
 public:
  explicit Screen(bool terminal) {
    int ends[2];
    if (terminal) {
      ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
      ::grantpt(ends[0]);
      ::unlockpt(ends[0]);
      ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY);
      const winsize size{.ws_row = 5, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
      ::ioctl(ends[1], TIOCSWINSZ, &size);
    } else if (::pipe(ends) != 0) {
      std::abort();
    }
    reader_ = ends[0];
    file_ = ::fdopen(ends[1], "w");
  }
  ~Screen() {
    std::fclose(file_);
    ::close(reader_);
  }
  std::FILE* file() { return file_; }
  // Returns what was written since the last call. A terminal hands bytes on when it has time, so
  // this writes a byte of its own and reads up to that.
  std::string Written() {
    constexpr char kEnd = '\x1d';
    std::fputc(kEnd, file_);
    std::fflush(file_);
    std::string text;
    while (!text.ends_with(kEnd)) {
      char bytes[4096];
      const ssize_t size = ::read(reader_, bytes, sizeof bytes);
      if (size <= 0) std::abort();
      text.append(bytes, static_cast<size_t>(size));
    }
    text.pop_back();
    return text;
  }

 private:
  int reader_ = -1;
  std::FILE* file_ = nullptr;
};

TEST(ProgressLine, RepaintsOneLineOfATerminalAndErasesItInTheEnd) {
  Screen screen(/*terminal=*/true);
  {
    ProgressLine line(ProgressLine::kNeverPlain, screen.file());
    EXPECT_TRUE(line.live());
    line.Show("1 of 2");
    line.Show("2 of 2");
    EXPECT_EQ(screen.Written(), "\r\033[K1 of 2\r\033[K2 of 2");
  }
  EXPECT_EQ(screen.Written(), "\r\033[K");
}

TEST(ProgressLine, FitsIntoTheTerminal) {
  Screen screen(/*terminal=*/true);
  ProgressLine line(ProgressLine::kNeverPlain, screen.file());
  line.Show("a line of more than twenty columns");
  EXPECT_EQ(screen.Written(), "\r\033[Ka line of more tha…");
}

TEST(ProgressLine, ShowsNoControlBytes) {
  Screen screen(/*terminal=*/true);
  ProgressLine line(ProgressLine::kNeverPlain, screen.file());
  line.Show("a\033[2Jb");
  EXPECT_EQ(screen.Written().find("\033[2J"), std::string::npos);
}

TEST(ProgressLine, ErasesNothingWhereNothingWasShown) {
  Screen screen(/*terminal=*/true);
  ProgressLine line(ProgressLine::kNeverPlain, screen.file());
  line.Clear();
  EXPECT_EQ(screen.Written(), "");
}

TEST(ProgressLine, IsSilentWithoutATerminal) {
  Screen screen(/*terminal=*/false);
  ProgressLine line(ProgressLine::kNeverPlain, screen.file());
  EXPECT_FALSE(line.live());
  line.Show("1 of 2");
  line.Clear();
  EXPECT_EQ(screen.Written(), "");
}

TEST(ProgressLine, WritesALineWhenItsTimeHasPassed) {
  constexpr double kSeconds = 0.2;
  Screen screen(/*terminal=*/false);
  std::string written;
  double longest = kSeconds;
  // On a busy machine what follows at once may follow later.
  for (int i = 0; i < 50 && longest >= kSeconds; ++i) {
    Stopwatch watch;
    ProgressLine line(kSeconds, screen.file());
    line.Show("at once");
    longest = watch.Seconds();
    ::usleep(250'000);
    watch.Restart();
    line.Show("later");
    line.Show("again at once");
    longest = std::max(longest, watch.Seconds());
    written = screen.Written();
  }
  EXPECT_EQ(written, "later\n");
}

}  // namespace
}  // namespace davinci
