// Leaves a daemon behind (own session, two forks) that keeps stdout open and touches the file
// argv[1] after a second; itself ends at once. Prints the daemon's process id.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int, char** argv) {
  int fds[2];
  if (pipe(fds) != 0) return 1;
  const pid_t first = fork();
  if (first == 0) {
    setsid();
    for (int s = 1; s < NSIG; ++s) signal(s, SIG_IGN);
    if (fork() == 0) {
      const pid_t self = getpid();
      (void)!write(fds[1], &self, sizeof(self));
      sleep(1);
      close(open(argv[1], O_CREAT | O_WRONLY, 0644));
      for (;;) pause();
    }
    _exit(0);
  }
  pid_t daemon = 0;
  (void)!read(fds[0], &daemon, sizeof(daemon));
  waitpid(first, nullptr, 0);
  printf("%d\n", daemon);
  return 0;
}
