// Who must leave a library. Pure.
//
// Retirement: what was measured says that the skill does not help:
//   - its evidence has an upper bound below 1, and no raised correctness, on every target it was
//     measured on, or
//   - at least kMinObservations observations in rollouts have a mean whose 95 % interval ends
//     below 1.
// A skill that is retired stays in the library and is never found.
//
// Cap: of too many active skills those with the least worth are evicted. Worth = lower bound of
// the observed uplift where there are kMinObservations, else of the best evidence (at least 1 where
// correctness was raised), else 0. Ties:
// fewer selections, then fewer showings, then the later arrival goes first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "davinci/skill/skill.h"

namespace davinci::skill {

inline constexpr int64_t kMinObservations = 20;

// Why this active record has to be retired; nothing if it may stay.
std::optional<std::string> RetirementReason(const Record& record);

double Worth(const Record& record);

// The names of the active records to evict so that `max_active` remain, first to go first;
// max_active 0: no cap. Inactive records are ignored.
std::vector<std::string> ChooseEvictions(const std::vector<Record>& records, size_t max_active);

}  // namespace davinci::skill
