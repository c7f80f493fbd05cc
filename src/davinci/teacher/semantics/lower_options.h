#pragma once

#include <set>
#include <string>

#include "davinci/synth/dim.h"

namespace davinci::teacher {

struct LowerOptions {
  std::set<std::string> rules;                     // of the teacher, that structure may follow
  synth::Binding binding = synth::Binding::kCuda;  // sizes that decide which order is cheaper
  bool calls_only = false;                         // every operator stays a PyTorch call
};

}  // namespace davinci::teacher
