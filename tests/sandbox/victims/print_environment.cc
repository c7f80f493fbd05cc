// Prints the environment, the working directory and the open descriptors beyond standard ones.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char** environ;

int main() {
  for (char** entry = environ; *entry != nullptr; ++entry) printf("%s\n", *entry);
  char directory[4096];
  printf("cwd=%s\n", getcwd(directory, sizeof(directory)));
  for (int fd = 3; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) printf("fd=%d\n", fd);
  }
}
