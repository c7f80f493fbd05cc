// Which kernels of a delta reply are wrong, by judging it with some of them alone: PyTorch computes
// the steps of the others (agent/sound_kernels.h), so one wrong kernel does not cost the reply.
//
// A group that is wrong is split in halves, and each is judged together with what is known to be
// right, so that the last right verdict is about all kernels that stay. Of one wrong kernel among n
// this takes some log2(n) verdicts, of n wrong ones at most 2n. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/agent/sound_kernels.h"
#include "davinci/data/evaluation.h"

namespace davinci::rollout {

// Whether a kernel may be to blame: the answer or the call is wrong, and no rule was broken.
bool MayBeOneKernels(const Evaluation& evaluation);

class WrongKernels {
 public:
  // `kernels`: of a candidate whose verdict is `whole`, in forward's order. Those that its message
  // names are suspected first.
  WrongKernels(const std::vector<std::string>& kernels, const Evaluation& whole);

  // The kernels to judge next, without the others; nothing: all is known.
  std::optional<std::set<std::string>> Next() const;
  // The verdict about these. Returns whether they are right.
  bool Learn(const Evaluation& verdict);

  // Returns those of the kernels that are not in `kept`, and why.
  std::vector<agent::LeftOut> Others(const std::set<std::string>& kept) const;

 private:
  struct Group {
    std::vector<std::string> kernels;
    bool wrong = false;           // together with what is right
    bool tells_of_other = false;  // if it is right, the group that is looked at next is wrong
  };
  void Split();

  std::vector<std::string> kernels_;
  std::string why_;
  std::set<std::string> right_;  // together
  std::vector<Group> groups_;    // the last is looked at next
};

}  // namespace davinci::rollout
