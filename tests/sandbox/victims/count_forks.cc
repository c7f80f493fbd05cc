// Forks children that wait, as many as it can but at most argv[1]; prints how many there were.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int, char** argv) {
  const int wanted = atoi(argv[1]);
  int count = 0;
  for (; count < wanted; ++count) {
    const pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) {
      for (;;) pause();
    }
  }
  printf("%d\n", count);
  fflush(stdout);
  return 0;
}
