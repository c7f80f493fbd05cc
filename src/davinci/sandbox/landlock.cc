#include "davinci/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace davinci::sandbox {
namespace {

// Distribution headers lag behind the kernel, so the newer parts of the interface are spelled out.
struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;  // ABI 4
  uint64_t scoped;              // ABI 6
};
constexpr uint64_t kFsTruncate = 1ULL << 14;        // ABI 3
constexpr uint64_t kFsIoctlDev = 1ULL << 15;        // ABI 5
constexpr uint64_t kNetBindTcp = 1ULL << 0;         // ABI 4
constexpr uint64_t kNetConnectTcp = 1ULL << 1;      // ABI 4
constexpr uint64_t kScopeAbstractUnix = 1ULL << 0;  // ABI 6
constexpr uint64_t kScopeSignal = 1ULL << 1;        // ABI 6

constexpr uint64_t kFsAbi1 = (1ULL << 13) - 1;
constexpr uint64_t kFsRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kFsDeviceNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
// Rights that make sense for something that is not a directory; the kernel refuses the others
// there.
constexpr uint64_t kFsFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                             LANDLOCK_ACCESS_FS_READ_FILE | kFsTruncate | kFsIoctlDev;

uint64_t HandledFs(int abi) {
  uint64_t handled = kFsAbi1;
  if (abi >= 2) handled |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) handled |= kFsTruncate;
  if (abi >= 5) handled |= kFsIoctlDev;
  return handled;
}

uint64_t RightsFor(const PathRule& rule, bool allow_exec) {
  uint64_t rights = kFsRead;
  if (allow_exec && rule.access != PathAccess::kDevice) rights |= LANDLOCK_ACCESS_FS_EXECUTE;
  if (rule.access == PathAccess::kReadWrite) {
    rights |= (kFsAbi1 & ~kFsDeviceNodes & ~LANDLOCK_ACCESS_FS_EXECUTE) | LANDLOCK_ACCESS_FS_REFER |
              kFsTruncate;
  }
  if (rule.access == PathAccess::kDevice) rights |= LANDLOCK_ACCESS_FS_WRITE_FILE | kFsIoctlDev;
  if (!rule.is_directory) rights &= kFsFile;
  return rights;
}

}  // namespace

int LandlockAbi() {
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Result<int> RestrictWithLandlock(const LandlockRules& rules) {
  const int abi = LandlockAbi();
  if (abi == 0) return FailedPrecondition("Landlock is not available in this kernel");

  RulesetAttr attr = {};
  attr.handled_access_fs = HandledFs(abi);
  if (abi >= 4 && !rules.allow_network) attr.handled_access_net = kNetBindTcp | kNetConnectTcp;
  if (abi >= 6) attr.scoped = kScopeAbstractUnix | kScopeSignal;
  const size_t attr_size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attr, attr_size, 0));
  if (ruleset < 0) return FromErrno(errno, "landlock_create_ruleset");

  Status status;
  for (const PathRule& rule : rules.paths) {
    const int fd = open(rule.real.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    // A name may have become something else inside the private root (an empty directory under a
    // tmpfs, say).
    struct stat info;
    PathRule now = rule;
    if (fstat(fd, &info) == 0) now.is_directory = S_ISDIR(info.st_mode);
    landlock_path_beneath_attr beneath = {};
    beneath.allowed_access = RightsFor(now, rules.allow_exec) & attr.handled_access_fs;
    beneath.parent_fd = fd;
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
      status = FromErrno(errno, "landlock_add_rule " + rule.real);
    }
    close(fd);
    if (!status.ok()) break;
  }
  if (status.ok() && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
    status = FromErrno(errno, "landlock_restrict_self");
  }
  close(ruleset);
  if (!status.ok()) return status;
  return std::min(abi, 7);
}

}  // namespace davinci::sandbox
