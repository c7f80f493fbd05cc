#include "davinci/expert/bisection.h"

#include <algorithm>
#include <iterator>

namespace davinci::expert {
namespace {

// Rules whose results differ from PyTorch's in their last digits, the widest difference first.
constexpr const char* kNumeric[] = {
    "compensated_tf32", "one_pass_variance",      "fast_exp",           "reassociate",
    "reduce_weights",   "flash_attention_triton", "flash_attention_cpp"};
// Rules that read memory in other ways than element by element, or launch otherwise.
constexpr const char* kMemory[] = {"replay_graph",  "wide_loads",         "read_slices",
                                   "direct_launch", "gather_into_places", "warp_rows"};
// Rules with large tiles: much code, shared memory, registers.
constexpr const char* kLarge[] = {"product_epilogue", "flash_attention_triton", "norm_in_registers",
                                  "softmax_in_registers", "mirror_symmetric"};

template <size_t N>
std::vector<std::string> Among(const char* const (&rules)[N],
                               const std::vector<std::string>& used) {
  std::vector<std::string> found;
  for (const char* rule : rules)
    if (std::ranges::find(used, rule) != used.end()) found.emplace_back(rule);
  return found;
}

std::vector<std::string> Blamed(Outcome outcome, const std::vector<std::string>& used) {
  switch (outcome) {
    case Outcome::kMismatch:
      return Among(kNumeric, used);
    case Outcome::kRuntimeError:
    case Outcome::kLaunchError:
    case Outcome::kNondeterministic:
      return Among(kMemory, used);
    case Outcome::kCompileError:
    case Outcome::kTimeout:
    case Outcome::kOutOfMemory:
      return Among(kLarge, used);
    default:
      return {};
  }
}

// Moves the first half of `from`, at least one, to the end of `to`.
void MoveHalf(std::vector<std::string>* from, std::vector<std::string>* to) {
  const auto half = from->begin() + static_cast<ptrdiff_t>((from->size() + 1) / 2);
  to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(half));
  from->erase(from->begin(), half);
}

void MoveAll(std::vector<std::string>* from, std::vector<std::string>* to) {
  to->insert(to->end(), from->begin(), from->end());
  from->clear();
}

}  // namespace

Feedback FeedbackOf(const Evaluation& evaluation) {
  if (evaluation.outcome == Outcome::kJudgeError || evaluation.outcome == Outcome::kCompileOnly ||
      evaluation.outcome == Outcome::kInvalidTiming)
    return Feedback::kFine;
  if (!evaluation.correct.value_or(false) || evaluation.outcome != Outcome::kOk)
    return Feedback::kWrong;
  const auto& speedup = evaluation.speedup;
  return speedup && speedup->significant && speedup->median < 1 ? Feedback::kSlow : Feedback::kFine;
}

std::set<std::string> Bisection::LeftOut() const {
  std::set<std::string> out(base_.begin(), base_.end());
  out.insert(part_.begin(), part_.end());
  return out;
}

std::optional<std::set<std::string>> Bisection::Next(const Evaluation& last) {
  const bool bad = FeedbackOf(last) != Feedback::kFine;
  const bool first = part_.empty() && base_.empty();
  if (!bad) {
    if (first) return std::nullopt;
    // A rule that was given back is not to blame.
    MoveAll(&given_, &kept_);
    if (!base_.empty() && !given_base_) {
      // Now that the one to blame is in the last part, the parts before it may be innocent.
      given_base_ = true;
      MoveAll(&base_, &given_);
      return LeftOut();
    }
    if (part_.size() < 2) return std::nullopt;
    narrowed_ = true;
    MoveHalf(&part_, &given_);
    return LeftOut();
  }
  if (given_base_ && base_.empty() && !given_.empty() && !narrowed_) {
    MoveAll(&given_, &base_);
    return LeftOut();
  }
  if (!given_.empty()) {
    // To blame is what was given back; the rest of the part is not.
    MoveAll(&part_, &kept_);
    part_ = std::move(given_);
    given_.clear();
    return LeftOut();
  }
  MoveAll(&part_, &base_);
  if (kept_.empty()) return std::nullopt;
  if (first) part_ = Blamed(last.outcome, kept_);
  std::erase_if(kept_, [&](const std::string& rule) {
    return std::ranges::find(part_, rule) != part_.end();
  });
  if (part_.empty()) MoveHalf(&kept_, &part_);
  return LeftOut();
}

}  // namespace davinci::expert
