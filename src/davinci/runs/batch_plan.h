// A plan says what a batch of judge jobs has to do: which entries have their answer already, which
// ask one question together, and how many evaluations run at a time. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davinci/judge/batch_job.h"
#include "davinci/runs/batch_results.h"

namespace davinci::runs {

// An entry that needs no evaluation.
struct KnownAnswer {
  enum class Kind {
    kBadLine,   // BatchEntry::bad
    kFinished,  // an earlier run recorded it
    kRepeats,   // an earlier run judged another job of the same hash
  };
  size_t entry = 0;
  Kind kind = Kind::kBadLine;
};

struct BatchPlan {
  std::vector<KnownAnswer> known;  // in the order of the entries
  // Entries that ask the same question, which one evaluation answers; by their first entry.
  std::vector<std::vector<size_t>> questions;
};

BatchPlan PlanBatch(const std::vector<judge::BatchEntry>& entries, const BatchResults& earlier);

// The task of each question, as judge::BatchOrder wants it.
std::vector<std::string> TasksOfQuestions(const BatchPlan& plan,
                                          const std::vector<judge::BatchEntry>& entries);

struct BatchWorkers {
  int total = 0;
  int per_device = 0;  // rounded up
};
// `wanted`: evaluations at a time, 0: half of the cores, at least one.
BatchWorkers WorkersFor(size_t num_questions, int wanted, int num_cores, int num_devices);

}  // namespace davinci::runs
