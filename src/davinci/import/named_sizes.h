// Names for the sizes of a module that was traced at one shape, as rows of training have them:
// "A, B = x.shape" in the place of numbers. Pure.
//
// Every size of an input or weight, and of an image that a convolution gives, becomes a symbol;
// another size of the same value is the same symbol, or the product of two neighbouring ones. A
// batch of one is a symbol where all inputs have it or a further shape has a larger one. With
// further shapes a size may also be that of an operand of its call repeated, with a border, or with
// another one behind it. So the graph computes what it did at the shapes that were traced, and
// nothing is known of others.
#pragma once

#include <string>
#include <vector>

#include "davinci/import/traced_module.h"

namespace davinci::import {

// `further`: the module at other shapes, which tell sizes apart that are alike by accident; one
// with other calls says nothing. A module that has symbols already stays as it is.
TracedModule WithNamedSizes(TracedModule module, const std::vector<TracedModule>& further = {});

// Does it compute something else at one of the further shapes than its text says, beside sizes that
// have names? Other calls, or other numbers: arguments of forward, roots of sizes, groups.
bool IsOfOneShape(const TracedModule& named, const std::vector<TracedModule>& further);

}  // namespace davinci::import
