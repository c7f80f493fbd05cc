// Which rules a kernel does without after the judge found it wrong or slow. Feedback of a kind that
// some rules are known for (numbers that differ, a crash, a compiler's refusal) blames these; any
// other is bisected: half of the rules are left out, then half of those given back. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/data/evaluation.h"

namespace davinci::expert {

enum class Feedback {
  kFine,   // correct, and not surely slower; or the failure is not the kernel's
  kSlow,   // correct, and surely slower
  kWrong,  // anything else
};
Feedback FeedbackOf(const Evaluation& evaluation);

class Bisection {
 public:
  // `used`: the rules that the kernel may do without, the costliest first.
  explicit Bisection(std::vector<std::string> used) : kept_(std::move(used)) {}

  // The rules to leave out next, after the verdict about the last kernel; nothing: the last one is
  // as good as it gets.
  std::optional<std::set<std::string>> Next(const Evaluation& last);

 private:
  std::set<std::string> LeftOut() const;

  std::vector<std::string> kept_;   // rules still used
  std::vector<std::string> base_;   // left out for good
  std::vector<std::string> part_;   // left out last; one of them may be to blame
  std::vector<std::string> given_;  // given back last
  bool given_base_ = false;         // `base_` was given back
  bool narrowed_ = false;           // half of `part_` was
};

}  // namespace davinci::expert
