// Straight-line PyTorch with one call a line, however a module's author nested, named and divided
// it: what a model is shown in the place of the module's file. A generated task and the import of
// its file give the same steps wherever both call the same functions. Pure.
//
//   forward(x, mask=None)
//   x: [A, B]
//   mask: bool[A, B]
//   A = 512, B = 384, C = 128
//   self.fc.weight: [C, B]
//   t1: [A, C] = linear(x, self.fc)
//   t2: [A, C] = relu(t1)
//   return t2
//
// Letters are sizes; equal letters are equal sizes. Calls have one spelling (plain_call.h); a layer
// stands for its tensors. A text that is no expression we can parse stays as it is.
//
// Modules whose tensors are often named have short names, "m1 = self.blocks[0].mlp".
#pragma once

#include "davinci/base/status.h"
#include "davinci/synth/rendered_task.h"
#include "davinci/teacher/semantics/step_names.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// Sizes are those of `binding`. InvalidArgument: a node without text.
Result<Steps> StepsOf(const synth::Graph& graph, const synth::RenderedTask& task,
                      const Tables& tables, synth::Binding binding,
                      const NamedOperators& named = {});

// The graph with sizes that are numbers, as tracing one shape leaves them, in terms of others where
// the functions that make them say so: half of x.shape[2] behind a pool. For the graph's own sizes
// alone.
Result<synth::Graph> WithInferredSizes(const synth::Graph& graph, const synth::RenderedTask& task,
                                       const Tables& tables);

}  // namespace davinci::teacher
