// Writes argv[1] megabytes to stdout and as many to stderr.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

int main(int, char** argv) {
  static char block[1 << 20];
  memset(block, 'x', sizeof(block));
  for (long i = 0; i < atol(argv[1]); ++i) {
    for (int fd : {1, 2}) {
      for (size_t done = 0; done < sizeof(block);) {
        const ssize_t n = write(fd, block + done, sizeof(block) - done);
        if (n <= 0) return 1;
        done += static_cast<size_t>(n);
      }
    }
  }
  return 0;
}
