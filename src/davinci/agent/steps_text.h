// The texts of steps and plans (TaskBrief::steps, plan), read line by line. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace davinci::agent {

// The word in front of a further use of a kernel: "# also t5 linear: t3 -> t5".
inline constexpr std::string_view kAlso = "also ";

// "t12"
bool IsStepName(std::string_view name);
// 12 of "t12" and of "a12", a further tensor of that step; 0 of other names.
int StepNumber(std::string_view name);
// "mask" of "mask=None"
std::string NameOfArgument(const std::string& argument);
// Names of an expression that are no attributes.
std::set<std::string> NamesOf(std::string_view text);

// Kernel `kernel` of a plan, which takes its steps for the `use`-th time.
struct KernelUse {
  size_t kernel = 0, use = 0;
};

// A line of a plan.
struct PlanUse {
  KernelUse id;
  std::string text;  // without "# " and "also "
  std::vector<std::string> steps, reads, writes;
};

// Empty where a line has another form.
std::vector<PlanUse> UsesOf(const std::string& plan);

struct StepsText {
  struct Step {
    std::string type, line;
    std::set<std::string> reads;
  };
  std::vector<std::string> arguments;        // "mask=None"; tensors within an argument behind them
  std::map<std::string, std::string> types;  // of arguments, their lines
  std::vector<std::string> sizes;            // "A = 512"
  std::vector<std::pair<std::string, std::string>> members;  // "m1", its line
  std::vector<std::pair<std::string, std::string>> weights;  // "self.fc.weight", its line
  std::map<std::string, Step> steps;
  bool effects = false;  // a line changes something in place
};

StepsText ReadSteps(const std::string& steps);

}  // namespace davinci::agent
