// Memory of steps in a delta reply: "t5 = x.new_empty((A, B))". The steps say which shape and type
// it has (PlainForward::tensors), so a reply cannot get these wrong. Pure.
#pragma once

#include "davinci/agent/plain_code.h"
#include "davinci/agent/python_statements.h"

namespace davinci::agent {

// Statements of `reply` that make a step's memory get its shape, its type, and a tensor to be made
// like where they have others. What is right stays as it is.
void MendStepMemory(const PlainForward& plain, Forward* reply);

}  // namespace davinci::agent
