// What `davinci train --dry-run` says: shapes of a step, memory, time, and what is missing.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/training/train_recipe.h"

namespace davinci::training {

// The machine that a forecast is for.
struct TrainMachine {
  bool cuda = false;  // the model is trained on a GPU
  int num_cores = 1;
};

// Everything that the recipe names and that is missing or broken, at once: tasks, held-out tasks,
// the model's configuration, weights and tokenizer. InvalidArgument.
Status CheckTraining(const TrainRecipe& recipe);

// Lines for people. Upper bounds: every reply as long as it may be, no stop rule, no early verdict.
// Memory is of one rank and, of the model that samples, of one device. Rates are assumed and named.
Result<std::string> DescribeTraining(const TrainRecipe& recipe, const TrainMachine& machine);

}  // namespace davinci::training
