// Ends in the way argv[1] says: segv, abort, exit7, hang_after_close (closes its output, then
// sleeps).
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int, char** argv) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the crash that is asked for
  if (strcmp(argv[1], "segv") == 0) *static_cast<volatile int*>(nullptr) = 1;
  if (strcmp(argv[1], "abort") == 0) abort();
  if (strcmp(argv[1], "exit7") == 0) return 7;
  if (strcmp(argv[1], "hang_after_close") == 0) {
    close(1);
    close(2);
    for (;;) pause();
  }
  return 0;
}
