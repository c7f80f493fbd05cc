// Loads a "kernel module": without any innocent use, so it ends the process. Harmless outside: the
// arguments are nonsense.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() { return syscall(SYS_init_module, nullptr, 0, nullptr) < 0 ? errno : 0; }
