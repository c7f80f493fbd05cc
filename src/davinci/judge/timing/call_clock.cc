#include "davinci/judge/timing/call_clock.h"

#include <algorithm>

namespace davinci::judge {
namespace {

// CPU time after DONE that an honest process may need to go back to sleep.
constexpr int64_t kTailCpuNs = 50'000;
// A page of an output that comes into being when the judge reads it, not when the candidate writes
// it. Measured on two cores of a virtual machine: 490 to 980 ns for a first read, 1,500 to 4,200
// for a first write; the least of these, since a slower machine may not turn an honest kernel away.
constexpr int64_t kUnwrittenPageNs = 500;

}  // namespace

double RecordSeconds(const CallCosts& costs, const CallResult& call) {
  int64_t outer = call.wall_ns - costs.overhead_ns;
  if (call.tail_cpu_ns > costs.tail_cpu_ns + kTailCpuNs + call.wall_ns / 20)
    outer += call.freeze_ns;
  outer += kUnwrittenPageNs * call.unwritten_pages;
  const int64_t claimed = std::min(call.inner_ns, call.wall_ns);
  return 1e-9 * static_cast<double>(std::max({outer, claimed, int64_t{1}}));
}

}  // namespace davinci::judge
