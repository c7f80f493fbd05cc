#include "davinci/judge/roles/session.h"

#include "davinci/judge/roles/oracle_replies.h"

namespace davinci::judge {
namespace {

constexpr int kMaxTasks = 32;

}  // namespace

bool Session::Alive() {
  return oracle && !oracle->process().WaitForDeath() && baseline.runner &&
         !baseline.runner->process().WaitForDeath();
}

bool Session::Strip() {
  if (host.empty() || !ready || spoilt || ++tasks >= kMaxTasks || !Alive()) return false;
  oracle->set_timeout(kLetGoSeconds);
  // The baseline first: what it has mapped is the oracle's.
  if (!baseline.runner->Forget(kLetGoSeconds).clean) return false;
  const auto forgot = oracle->Ask(to_oracle::Forget{});
  if (!forgot.ok() || !forgot->ok.get<from_oracle::Forgot>().clean) return false;
  oracle->Rest();
  memory.clear();
  key.clear();
  arena = OutputArena();
  facts.clear();
  baseline.built_variant = -1;
  baseline.has_buffers = false;
  buffers = nullptr;
  baseline_seconds.reset();
  baseline.outside_cpu_ns.clear();
  ready = baseline_checked = baseline_outside_tolerance = false;
  reference_mutates = reference_hides_changes = false;
  uses = 0;
  return true;
}

}  // namespace davinci::judge
