// Advisory lock on an open file, held by one process at a time.
#pragma once

#include "davinci/base/status.h"

namespace davinci {

// True: the caller holds the exclusive flock() of the open file behind `fd` until it is closed.
// False: another process has held it for all of `patience_s`. The patience is for a holder that was
// killed: its lock lasts until the last child that it had just forked is gone as well.
Result<bool> TryLockFile(int fd, double patience_s = 2);

}  // namespace davinci
