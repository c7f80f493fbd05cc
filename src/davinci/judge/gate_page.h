// GatePage: the words behind which a runner's timed calls on a device wait
// (python/davinci_worker/gate.py).
//
//   ready     the runner: it waits
//   open      the oracle's stream: inputs are there. The clock starts.
//   resident  the runner's stream: the device has turned to this process
//   done      the runner's stream: everything of the call queued on it is done. The clock stops.
//
// Each word holds the number of the call. A runner's page is shared with a hostile process: what it
// writes there may make its call longer, and shorter only as far as the oracle's own look at the
// device allows (examination_gated.cc). So the clock starts by a page that only the oracle and the
// supervisor have, on which "open" is written as well. One page per runner and one per oracle, used
// by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::judge {

class GatePage {
 public:
  static Result<std::unique_ptr<GatePage>> Create();
  ~GatePage();
  GatePage(const GatePage&) = delete;
  GatePage& operator=(const GatePage&) = delete;

  int fd() const { return fd_.get(); }
  // The number of the next call of either runner, never 0: from the oracle's page.
  uint32_t NextNumber();
  void BeginCall(uint32_t number) { call_ = number; }

  struct Times {
    int64_t opened_ns = 0;  // monotonic; 0: not seen
    int64_t done_ns = 0;
  };
  // Waits, at first without sleeping, until the call is done, or has sent something (`readable`,
  // which costs a system call), or `timeout_seconds` are over. `clock`: the oracle's page.
  Times Watch(const GatePage& clock, double timeout_seconds,
              const std::function<bool()>& readable) const;
  // The call is over, however it ended: nobody waits for it any longer.
  void EndCall();

  // Words of the page, 64 bytes apart.
  enum Word { kReady = 0, kOpen = 16, kResident = 32, kDone = 48 };

 private:
  GatePage() = default;
  uint32_t Read(Word word) const;

  UniqueFd fd_;
  uint32_t* words_ = nullptr;
  uint32_t call_ = 0;  // under way; of the oracle's page: the last number given out
};

}  // namespace davinci::judge
