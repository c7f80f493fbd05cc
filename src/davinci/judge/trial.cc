#include "davinci/judge/trial.h"

namespace davinci::judge {

Trial::Trial(const JudgeContext& lent, const Job& asked, const Protocol& rules, MemoryBudget memory)
    : context(lent), job(asked), task(*asked.task), protocol(rules), budget(memory) {
  candidate.timed.name = "candidate";
  candidate.timed.side = Side::kCandidate;
}

}  // namespace davinci::judge
