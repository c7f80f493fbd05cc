// Creates or opens the file argv[1] for writing and writes argv[2]; exit 0 if that works, else the
// errno.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int, char** argv) {
  const int fd = open(argv[1], O_WRONLY | O_CREAT, 0644);
  return fd >= 0 && write(fd, argv[2], strlen(argv[2])) >= 0 ? 0 : errno;
}
