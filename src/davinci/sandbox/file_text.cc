#include "davinci/sandbox/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace davinci::sandbox {

std::string ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return text;
}

bool WriteSmallFile(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  errno = error;
  return n == static_cast<ssize_t>(text.size());
}

bool FindNumber(std::string_view text, std::string_view label, int* value) {
  const size_t at = text.find(label);
  if (at == std::string_view::npos) return false;
  size_t begin = at + label.size();
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), *value);
  return error == std::errc();
}

}  // namespace davinci::sandbox
