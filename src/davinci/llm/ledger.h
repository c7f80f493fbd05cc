// Ledger: what language models have cost so far, and the budget that stops further calls.
//
// A backend opens an Entry before a paid call and closes it with what was used. Opening is where a
// budget bites:
//   max_calls  the call would be one too many                       -> kResourceExhausted
//   max_usd    money spent + worst case of this call > max_usd      -> kResourceExhausted
//              the same only because of calls still in flight       -> waits until they are closed
//              a price is unknown, so the budget could not be kept  -> kFailedPrecondition
// So a budget is never overrun as long as worst cases are worst cases, and is used up to the last
// call that surely fits. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"

namespace davinci::llm {

struct Budget {
  std::optional<double> max_usd;
  std::optional<int64_t> max_calls;
};

// Sums over calls. `usd` covers calls of known price only: with num_unpriced > 0 it is a lower
// bound, and text that shows it must say so (CostText does).
struct Spending {
  int64_t num_calls = 0;     // replies paid for
  int64_t num_lost = 0;      // attempts that broke after the endpoint had begun to answer
  int64_t num_unpriced = 0;  // replies and lost attempts of models without a price
  int64_t prompt_tokens = 0;
  int64_t cached_prompt_tokens = 0;
  int64_t completion_tokens = 0;
  double usd = 0;
  Spending& operator+=(const Spending& other);
};

// "$0.0132", "price unknown (3 calls)", or "at least $0.0132 (3 calls of unknown price)".
std::string CostText(const Spending& spending);
nlohmann::json ToJson(const Spending& spending);

class Ledger {
 public:
  // A call that has been admitted. Dropping it unclosed means that nothing was charged. Move-only;
  // must not outlive the ledger.
  class Entry {
   public:
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&&) = delete;
    ~Entry();
    // A reply arrived. May be called up to `num_calls` times (GenerateMany).
    void Charge(const std::string& model, const Usage& usage, std::optional<double> usd);
    // An attempt broke half-way; the endpoint may well charge for it.
    void ChargeLost(const std::string& model, const Usage& usage, std::optional<double> usd);

   private:
    friend class Ledger;
    Entry(Ledger* ledger, int num_calls, double reserved_usd)
        : ledger_(ledger), num_calls_(num_calls), reserved_usd_(reserved_usd) {}
    Ledger* ledger_;
    int num_calls_;        // admitted and not charged yet
    double reserved_usd_;  // likewise
  };

  explicit Ledger(Budget budget = {}) : budget_(budget) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Admits `num_calls` calls of `model` that together cost at most `worst_usd` (nothing: unknown
  // price).
  Result<Entry> Open(const std::string& model, int num_calls, std::optional<double> worst_usd,
                     const CancelToken& cancel);

  // What an earlier part of the same run has spent counts against the budget.
  void Restore(const std::map<std::string, Spending>& by_model);

  Spending Total() const;
  // What broke half-way since this ledger was made. No reply carries it, so a run keeps it apart.
  std::map<std::string, Spending> Lost() const;
  std::map<std::string, Spending> ByModel() const;

 private:
  const Budget budget_;
  mutable Mutex mutex_;
  std::condition_variable_any settled_;
  std::map<std::string, Spending> by_model_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, Spending> lost_ DAVINCI_GUARDED_BY(mutex_);  // of the sums in by_model_
  double reserved_usd_ DAVINCI_GUARDED_BY(mutex_) = 0;               // by open entries
  int64_t reserved_calls_ DAVINCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace davinci::llm
