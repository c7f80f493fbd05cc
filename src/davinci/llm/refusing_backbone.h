// A Backbone for runs in which no model may be asked.
#pragma once

#include <memory>
#include <string>

#include "davinci/llm/backbone.h"

namespace davinci::llm {

// Every call fails with kInternal and `why`.
std::unique_ptr<Backbone> RefusingBackbone(std::string why);

}  // namespace davinci::llm
