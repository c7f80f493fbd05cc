#include "davinci/sandbox/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace davinci::sandbox {
namespace {

struct CapabilitySets {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
};

bool ReadSets(CapabilitySets* sets) { return syscall(SYS_capget, &sets->header, sets->data) == 0; }

}  // namespace

bool HasAdminCapability() {
  CapabilitySets sets;
  return ReadSets(&sets) && (sets.data[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
}

Status DropCapabilities() {
  // Needs CAP_SETPCAP; a process without it has nothing that these two steps would take away.
  (void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
  for (int capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EINVAL) break;
  }
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  CapabilitySets none;
  if (syscall(SYS_capset, &none.header, none.data) != 0) return FromErrno(errno, "capset");
  CapabilitySets now;
  if (!ReadSets(&now)) return FromErrno(errno, "capget");
  for (const __user_cap_data_struct& half : now.data) {
    if (half.effective != 0 || half.permitted != 0 || half.inheritable != 0) {
      return Internal("capabilities remain after dropping them");
    }
  }
  return Status::Ok();
}

Status SetNoNewPrivs() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FromErrno(errno, "no_new_privs");
  return Status::Ok();
}

}  // namespace davinci::sandbox
