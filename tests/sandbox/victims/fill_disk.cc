// Writes files of one megabyte into the directory argv[1], argv[2] of them. Exit 0, or the errno of
// the first failure.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

int main(int, char** argv) {
  static char block[1 << 20];
  memset(block, 1, sizeof(block));
  for (long i = 0; i < atol(argv[2]); ++i) {
    const std::string path = std::string(argv[1]) + "/" + std::to_string(i);
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
    if (fd < 0) return errno;
    for (size_t done = 0; done < sizeof(block);) {
      const ssize_t n = write(fd, block + done, sizeof(block) - done);
      if (n < 0) return errno;
      done += static_cast<size_t>(n);
    }
    close(fd);
    usleep(1000);
  }
  return 0;
}
