// Opens the file argv[1] for reading; exit 0 if that works, else the errno.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(int, char** argv) {
  const int fd = open(argv[1], O_RDONLY);
  char byte;
  return fd >= 0 && read(fd, &byte, 1) >= 0 ? 0 : errno;
}
