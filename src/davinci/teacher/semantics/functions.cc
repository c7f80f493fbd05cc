#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {

const FunctionRegistry& Functions() {
  static const FunctionRegistry registry = [] {
    FunctionRegistry all;
    for (const auto add :
         {AddAttention, AddConvolutions, AddCreation, AddEinsum, AddElementwise, AddIndexFormulas,
          AddJoins,     AddLosses,       AddMatmul,   AddMoves,  AddNorms,       AddPadding,
          AddParts,     AddPatches,      AddPools,    AddReads,  AddReductions,  AddResampling,
          AddScatters,  AddShuffles,     AddViews})
      add(&all);
    return all;
  }();
  return registry;
}

}  // namespace davinci::teacher
