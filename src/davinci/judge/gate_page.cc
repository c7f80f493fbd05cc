#include "davinci/judge/gate_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "davinci/base/clock.h"

namespace davinci::judge {
namespace {

constexpr size_t kPageBytes = 4096;
// A look at the socket costs a microsecond, in which the end of the call is not seen.
constexpr int64_t kBetweenLooksNs = 50'000;
// A call as long as this is timed well enough by looking now and then.
constexpr int64_t kSpinNs = 50'000'000;
constexpr std::chrono::microseconds kNap{20};

}  // namespace

Result<std::unique_ptr<GatePage>> GatePage::Create() {
  std::unique_ptr<GatePage> page(new GatePage);
  page->fd_ = UniqueFd(memfd_create("davinci-gate", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (page->fd_.get() < 0 || ftruncate(page->fd_.get(), kPageBytes) != 0 ||
      fcntl(page->fd_.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return Internal(std::string("the gate's page: ") + std::strerror(errno));
  void* mapped = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd_.get(), 0);
  if (mapped == MAP_FAILED)
    return Internal(std::string("the gate's page: ") + std::strerror(errno));
  page->words_ = static_cast<uint32_t*>(mapped);
  return page;
}

GatePage::~GatePage() {
  if (words_ != nullptr) munmap(words_, kPageBytes);
}

uint32_t GatePage::NextNumber() {
  if (++call_ == 0) ++call_;
  return call_;
}

uint32_t GatePage::Read(Word word) const {
  return __atomic_load_n(words_ + word, __ATOMIC_ACQUIRE);
}

GatePage::Times GatePage::Watch(const GatePage& clock, double timeout_seconds,
                                const std::function<bool()>& readable) const {
  Times times;
  const int64_t begin = MonotonicNs();
  const auto limit = static_cast<int64_t>(1e9 * timeout_seconds);
  for (int64_t looked = begin;;) {
    const int64_t now = MonotonicNs();
    if (times.opened_ns == 0 && clock.Read(kOpen) == call_) times.opened_ns = now;
    if (times.opened_ns != 0 && Read(kDone) == call_) {
      times.done_ns = now;
      return times;
    }
    if (now - begin > limit) return times;
    if (now - looked < kBetweenLooksNs) continue;
    looked = now;
    if (readable()) return times;
    if (now - begin > kSpinNs) std::this_thread::sleep_for(kNap);
  }
}

void GatePage::EndCall() {
  __atomic_store_n(words_ + kReady, call_, __ATOMIC_RELEASE);
  __atomic_store_n(words_ + kDone, call_, __ATOMIC_RELEASE);
}

}  // namespace davinci::judge
