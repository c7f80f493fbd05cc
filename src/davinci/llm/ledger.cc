#include "davinci/llm/ledger.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/mutex.h"
#include "davinci/base/plural.h"

namespace davinci::llm {

Spending& Spending::operator+=(const Spending& other) {
  num_calls += other.num_calls;
  num_lost += other.num_lost;
  num_unpriced += other.num_unpriced;
  prompt_tokens += other.prompt_tokens;
  cached_prompt_tokens += other.cached_prompt_tokens;
  completion_tokens += other.completion_tokens;
  usd += other.usd;
  return *this;
}

std::string CostText(const Spending& spending) {
  const auto calls = [&] { return Counted(spending.num_unpriced, "call"); };
  if (spending.num_unpriced == 0) return fmt::format("${:.4f}", spending.usd);
  if (spending.num_unpriced >= spending.num_calls + spending.num_lost)
    return fmt::format("price unknown ({})", calls());
  return fmt::format("at least ${:.4f} ({} of unknown price)", spending.usd, calls());
}

nlohmann::json ToJson(const Spending& spending) {
  return {{"num_calls", spending.num_calls},
          {"num_lost", spending.num_lost},
          {"num_unpriced", spending.num_unpriced},
          {"prompt_tokens", spending.prompt_tokens},
          {"cached_prompt_tokens", spending.cached_prompt_tokens},
          {"completion_tokens", spending.completion_tokens},
          {"usd", spending.usd}};
}

Ledger::Entry::Entry(Entry&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      num_calls_(other.num_calls_),
      reserved_usd_(other.reserved_usd_) {}

Ledger::Entry::~Entry() {
  if (ledger_ == nullptr) return;
  {
    const MutexLock lock(ledger_->mutex_);
    ledger_->reserved_usd_ -= reserved_usd_;
    ledger_->reserved_calls_ -= num_calls_;
    // Sums of doubles drift; with nothing reserved the reserve is zero.
    if (ledger_->reserved_calls_ == 0) ledger_->reserved_usd_ = 0;
  }
  ledger_->settled_.notify_all();
}

void Ledger::Entry::Charge(const std::string& model, const Usage& usage,
                           std::optional<double> usd) {
  {
    const MutexLock lock(ledger_->mutex_);
    if (num_calls_ > 0) {
      const double share = reserved_usd_ / num_calls_;
      reserved_usd_ -= share;
      ledger_->reserved_usd_ -= share;
      --num_calls_;
      --ledger_->reserved_calls_;
    }
    ledger_->by_model_[model] += Spending{1,
                                          0,
                                          usd ? 0 : 1,
                                          usage.prompt_tokens,
                                          usage.cached_prompt_tokens,
                                          usage.completion_tokens,
                                          usd.value_or(0)};
  }
  ledger_->settled_.notify_all();
}

void Ledger::Entry::ChargeLost(const std::string& model, const Usage& usage,
                               std::optional<double> usd) {
  const Spending lost{0,
                      1,
                      usd ? 0 : 1,
                      usage.prompt_tokens,
                      usage.cached_prompt_tokens,
                      usage.completion_tokens,
                      usd.value_or(0)};
  const MutexLock lock(ledger_->mutex_);
  ledger_->by_model_[model] += lost;
  ledger_->lost_[model] += lost;
}

Result<Ledger::Entry> Ledger::Open(const std::string& model, int num_calls,
                                   std::optional<double> worst_usd, const CancelToken& cancel) {
  if (budget_.max_usd && !worst_usd) {
    return FailedPrecondition(fmt::format(
        "the price of model \"{0}\" is unknown, so a budget of ${1:g} cannot be kept; name "
        "a TOML file with llm.prices that holds\n  [models.\"{0}\"]\n  "
        "input_usd_per_million = …\n  output_usd_per_million = …\nor drop the budget",
        model, *budget_.max_usd));
  }
  const double worst = worst_usd.value_or(0);
  MutexLock lock(mutex_);
  while (true) {
    if (cancel.stop_requested()) return Cancelled("waiting for the budget");
    Spending total;
    for (const auto& [name, spending] : by_model_) total += spending;
    const auto calls_over = [&](int64_t reserved) {
      return budget_.max_calls && total.num_calls + reserved + num_calls > *budget_.max_calls;
    };
    const auto usd_over = [&](double reserved) {
      // A billionth of slack: sums of doubles are not exact.
      return budget_.max_usd && total.usd + reserved + worst > *budget_.max_usd * (1 + 1e-9);
    };
    if (calls_over(0)) {
      return ResourceExhausted(
          fmt::format("the budget of {} model calls is spent", budget_.max_calls.value()));
    }
    if (usd_over(0)) {
      return ResourceExhausted(fmt::format(
          "${:.4f} of the budget of ${:g} are spent, and the next call may cost ${:.4f}", total.usd,
          budget_.max_usd.value(), worst));
    }
    if (!calls_over(reserved_calls_) && !usd_over(reserved_usd_)) break;
    settled_.wait(lock, cancel,
                  [this, seen_usd = reserved_usd_, seen_calls = reserved_calls_]()
                      DAVINCI_REQUIRES(mutex_) {
                        return reserved_usd_ != seen_usd || reserved_calls_ != seen_calls;
                      });
  }
  reserved_usd_ += worst;
  reserved_calls_ += num_calls;
  return Entry(this, num_calls, worst);
}

void Ledger::Restore(const std::map<std::string, Spending>& by_model) {
  const MutexLock lock(mutex_);
  for (const auto& [model, spending] : by_model) by_model_[model] += spending;
}

Spending Ledger::Total() const {
  const MutexLock lock(mutex_);
  Spending total;
  for (const auto& [model, spending] : by_model_) total += spending;
  return total;
}

std::map<std::string, Spending> Ledger::Lost() const {
  const MutexLock lock(mutex_);
  return lost_;
}

std::map<std::string, Spending> Ledger::ByModel() const {
  const MutexLock lock(mutex_);
  return by_model_;
}

}  // namespace davinci::llm
