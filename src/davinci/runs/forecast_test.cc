#include "davinci/runs/forecast.h"

#include <gtest/gtest.h>

namespace davinci::runs {
namespace {

RunRequest Request(size_t tasks) {
  RunRequest request;
  for (size_t i = 0; i < tasks; ++i) {
    task::TaskEntry entry;
    entry.id = "t" + std::to_string(i);
    request.header.tasks.push_back(entry);
  }
  rollout::StepSettings& step = request.recipe.step;
  step.strategy = "davinci";
  step.selection = rollout::SelectionMethod::kAgent;
  step.schemes = 3;
  step.null_scheme = true;
  step.rollouts = 2;
  step.turns = 5;
  step.iterations = 1;
  step.context_tokens = 1000;
  step.selection_sampling.max_tokens = 10;
  step.policy_sampling.max_tokens = 100;
  return request;
}

TEST(Forecast, CountsEachSchemeRolloutAndTurn) {
  RunRequest request = Request(2);
  request.rollouts["t1"] = 1;
  const Forecast forecast = ForecastOf(request);
  EXPECT_EQ(forecast.selection, 2 * 3);
  EXPECT_EQ(forecast.policy, 4 * 2 * 5 + 4 * 1 * 5);
  EXPECT_EQ(forecast.calls(), 66);
  EXPECT_EQ(forecast.worst.completion_tokens, 6 * 10 + 60 * 100);
  EXPECT_EQ(forecast.worst.prompt_tokens, 66 * 1000 - 6060);
}

TEST(Forecast, OtherStrategiesHaveOneGroup) {
  RunRequest request = Request(1);
  request.recipe.step.strategy = "best_of_n";
  EXPECT_EQ(ForecastOf(request).policy, 2);
  request.recipe.step.strategy = "evolve";
  request.recipe.step.evolve.trials = 7;
  EXPECT_EQ(ForecastOf(request).policy, 7);
  request.recipe.step.strategy = "kevin";
  EXPECT_EQ(ForecastOf(request).policy, 10);
}

TEST(Forecast, LearningAddsSummariesAndExperiments) {
  RunRequest request = Request(1);
  rollout::StepSettings& step = request.recipe.step;
  step.summaries = 2;
  step.max_new_skills = 3;
  step.verification.admission.max_pairs = 4;
  EXPECT_EQ(ForecastOf(request).calls(), 43);
  step.learn = true;
  EXPECT_EQ(ForecastOf(request).summary, 2);
  EXPECT_EQ(ForecastOf(request).verification, 2 * 3 * 2 * 4);
}

TEST(ForecastText, SaysWhatIsPaidAndWhatIsNot) {
  const RunRequest request = Request(1);
  const Forecast forecast = ForecastOf(request);
  const auto text = [&](const Authors& authors) {
    return ForecastText(forecast, request.recipe, authors);
  };
  const std::string calls =
      "1 task: at most 43 model calls (3 selection, 40 policy), 4030 reply tokens";
  EXPECT_EQ(text({.rules_alone = true}),
            "1 task: at most 40 kernels, which rules write: no model is asked");
  EXPECT_EQ(text({}), calls);
  EXPECT_EQ(text({.recorded = true}), calls + ", $0 (recorded replies)");
  EXPECT_EQ(text({.rules_too = true}), calls + "; the expert writes one more rollout");
  EXPECT_EQ(text({.paid = true}), calls + ", price unknown (llm.prices names a file with prices)");
  EXPECT_EQ(text({.paid = true, .usd = 1.204}), calls + ", at most $1.20");
}

TEST(AddsExpert, BesideAPaidModelOfOptimizeWithMoreThanOneRollout) {
  RunRecipe recipe = Request(1).recipe;
  EXPECT_TRUE(AddsExpert(recipe, "optimize", {}, false));
  EXPECT_FALSE(AddsExpert(recipe, "bench", {}, false));
  EXPECT_FALSE(AddsExpert(recipe, "optimize", {.recorded = true}, false));
  EXPECT_FALSE(AddsExpert(recipe, "optimize", {}, /*own_model=*/true));
  EXPECT_FALSE(AddsExpert(recipe, "optimize", {.rules_alone = true}, false));
  recipe.expert = "off";
  EXPECT_FALSE(AddsExpert(recipe, "optimize", {}, false));
  recipe.expert = "on";
  EXPECT_TRUE(AddsExpert(recipe, "bench", {}, false));
  EXPECT_FALSE(AddsExpert(recipe, "bench", {.rules_alone = true}, false));
  recipe.expert = "auto";
  recipe.step.schemes = 0;
  recipe.step.rollouts = 1;
  EXPECT_FALSE(AddsExpert(recipe, "optimize", {}, false)) << "one rollout is left to the model";
}

}  // namespace
}  // namespace davinci::runs
