#pragma once

#include "davinci/synth/dim.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

struct LowerOptions {
  RuleSet rules;                                   // that structure may follow
  synth::Binding binding = synth::Binding::kCuda;  // sizes that decide which order is cheaper
  bool calls_only = false;                         // every operator stays a PyTorch call
};

}  // namespace davinci::teacher
