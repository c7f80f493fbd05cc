// Never ends, in two processes, and ignores every signal that it may.
#include <signal.h>
#include <unistd.h>

int main() {
  for (int s = 1; s < NSIG; ++s) signal(s, SIG_IGN);
  fork();
  volatile bool forever = true;
  while (forever) {
  }
}
