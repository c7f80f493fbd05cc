// Forks without end, in every process. Prints nothing; never exits by itself.
#include <unistd.h>

int main() {
  for (;;) {
    if (fork() < 0) usleep(1000);
  }
}
