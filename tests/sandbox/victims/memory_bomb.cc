// Allocates and touches memory up to argv[1] megabytes, then exits 0. Exit 3 when an allocation
// fails.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int, char** argv) {
  const long megabytes = atol(argv[1]);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is allocated is kept until the process ends
  for (long i = 0; i < megabytes; ++i) {
    void* block = malloc(1 << 20);
    if (block == nullptr) {
      fprintf(stderr, "virtual memory exhausted: Cannot allocate memory\n");
      return 3;
    }
    memset(block, 1, 1 << 20);
  }
  return 0;
}
