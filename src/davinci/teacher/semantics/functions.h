// PyTorch's functions and modules that need shapes, in a registry by name; one file per kind adds
// its own. Those that are formulas stand in synth/teacher/functions.toml. Internal.
#pragma once

#include <optional>

#include "davinci/teacher/semantics/call.h"

namespace davinci::teacher {

const FunctionRegistry& Functions();

void AddAttention(FunctionRegistry* registry);      // attention.cc
void AddConvolutions(FunctionRegistry* registry);   // conv.cc: of few channels
void AddCreation(FunctionRegistry* registry);       // create.cc: tensors made of numbers
void AddElementwise(FunctionRegistry* registry);    // elementwise.cc
void AddEinsum(FunctionRegistry* registry);         // einsum.cc
void AddIndexFormulas(FunctionRegistry* registry);  // index_formula.cc
void AddJoins(FunctionRegistry* registry);          // join.cc: cat, stack
void AddLosses(FunctionRegistry* registry);         // loss.cc: over classes
void AddMatmul(FunctionRegistry* registry);         // matmul.cc: linear maps
void AddMoves(FunctionRegistry* registry);          // moves.cc: shuffles, repetition, diagonals
void AddNorms(FunctionRegistry* registry);          // norm.cc
void AddPadding(FunctionRegistry* registry);        // pad.cc
void AddParts(FunctionRegistry* registry);          // parts.cc: writes into a part
void AddPatches(FunctionRegistry* registry);        // patches.cc: unfold
void AddPools(FunctionRegistry* registry);          // pool.cc
void AddReads(FunctionRegistry* registry);          // reads.cc: gather, embedding, select
void AddReductions(FunctionRegistry* registry);     // reductions.cc: and scans
void AddResampling(FunctionRegistry* registry);     // resample.cc: interpolate
void AddScatters(FunctionRegistry* registry);       // scatter.cc: top-k, sums into places
void AddShuffles(FunctionRegistry* registry);       // shuffle.cc: pixels and channels
void AddViews(FunctionRegistry* registry);          // views.cc

// Returns what rms_norm adds where no eps is given: the distance from 1 to the next fp32 number;
// nothing for other elements, as PyTorch's versions differ. norm.cc
std::optional<double> DefaultRmsEps(synth::Precision precision);

}  // namespace davinci::teacher
