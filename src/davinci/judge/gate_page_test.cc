#include "davinci/judge/gate_page.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "davinci/base/clock.h"

namespace davinci::judge {
namespace {

uint32_t* Mapped(const GatePage& page) {
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page.fd(), 0);
  EXPECT_NE(mapped, MAP_FAILED);
  return static_cast<uint32_t*>(mapped);
}

class GatePageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto clock = GatePage::Create();
    auto page = GatePage::Create();
    ASSERT_TRUE(clock.ok() && page.ok());
    clock_ = std::move(*clock);
    page_ = std::move(*page);
    oracle_ = Mapped(*clock_);
    runner_ = Mapped(*page_);
  }
  void TearDown() override {
    munmap(oracle_, 4096);
    munmap(runner_, 4096);
  }
  uint32_t Begin() {
    const uint32_t call = clock_->NextNumber();
    page_->BeginCall(call);
    return call;
  }
  static void Write(uint32_t* words, GatePage::Word word, uint32_t value) {
    __atomic_store_n(words + word, value, __ATOMIC_RELEASE);
  }
  GatePage::Times Watch(double seconds) const {
    return page_->Watch(*clock_, seconds, [] { return false; });
  }

  std::unique_ptr<GatePage> clock_;
  std::unique_ptr<GatePage> page_;
  uint32_t* oracle_ = nullptr;  // the clock's page as the oracle has it
  uint32_t* runner_ = nullptr;  // the page as the runner has it
};

TEST_F(GatePageTest, TimesAreFromOpenToDone) {
  const uint32_t call = Begin();
  int looks = 0;
  int64_t let_in_ns = 0;
  int64_t ended_ns = 0;
  const auto times = page_->Watch(*clock_, 30, [&] {
    if (++looks == 3) {
      let_in_ns = MonotonicNs();
      Write(oracle_, GatePage::kOpen, call);
    } else if (looks == 6) {
      ended_ns = MonotonicNs();
      Write(runner_, GatePage::kDone, call);
    }
    return false;
  });
  EXPECT_EQ(looks, 6);
  EXPECT_GE(times.opened_ns, let_in_ns);
  EXPECT_LT(times.opened_ns, ended_ns);
  EXPECT_GE(times.done_ns, ended_ns);
}

TEST_F(GatePageTest, ARunnerCannotSayWhenItsCallBegan) {
  const uint32_t call = Begin();
  Write(runner_, GatePage::kOpen, call);
  Write(runner_, GatePage::kDone, call);
  EXPECT_EQ(Watch(0.02).done_ns, 0);
  Write(oracle_, GatePage::kOpen, call);
  Write(runner_, GatePage::kOpen, 0);
  const auto times = Watch(10);
  EXPECT_NE(times.opened_ns, 0);
  EXPECT_EQ(times.done_ns, times.opened_ns);
}

TEST_F(GatePageTest, ACallThatOnlySpeaksIsNotWaitedFor) {
  Begin();
  int looks = 0;
  EXPECT_EQ(page_->Watch(*clock_, 10, [&] { return ++looks > 2; }).opened_ns, 0);
}

TEST_F(GatePageTest, TheLastCallsWordsDoNotEndTheNext) {
  Write(oracle_, GatePage::kOpen, Begin());
  page_->EndCall();
  Begin();
  EXPECT_EQ(Watch(0.02).opened_ns, 0);
}

}  // namespace
}  // namespace davinci::judge
