#include "davinci/judge/machine/awake_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/judge/machine/test_support.h"

namespace davinci::judge {
namespace {

// Binds the child to a core, and says so when it runs there.
void BindTo(int core, int control) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
  [[maybe_unused]] const ssize_t told = write(control, "x", 1);
}

int LastCore() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) last = core;
  return last;
}

int NumCores() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  return CPU_COUNT(&allowed);
}

TEST(AwakeCores, AreThoseOfTheProcesses) {
  const ScriptedChild child([](int control) { BindTo(LastCore(), control); });
  const std::shared_ptr<worker::ForkedProcess>& process = child.process();
  ASSERT_TRUE(process->Wait(10).ok());  // it runs where it should
  EXPECT_EQ(process->Core(), LastCore());
  worker::Process* const roles[] = {process.get(), process.get()};
  EXPECT_EQ(AwakeCores(CoresOf(roles)).num_cores(), NumCores() > 1 ? 1 : 0);
}

TEST(AwakeCores, EndWithTheirOwner) {
  const ScriptedChild child([](int control) { BindTo(LastCore(), control); });
  const std::shared_ptr<worker::ForkedProcess>& process = child.process();
  ASSERT_TRUE(process->Wait(10).ok());  // it runs where it should
  worker::Process* const roles[] = {process.get()};
  const Stopwatch watch;
  for (int i = 0; i < 3; ++i) const AwakeCores awake(CoresOf(roles));
  EXPECT_LT(watch.Seconds(), 60);  // the child lives on
}

}  // namespace
}  // namespace davinci::judge
