// The engine's symbol of libdavinci_model.so (the trainer has one of its own). Program and library
// are built together from one tree, so C++ types cross the border; the number only catches a
// library of another build.
#pragma once

#include <memory>

#include "davinci/base/status.h"
#include "davinci/model/engine.h"

namespace davinci::model {

// Counted up whenever a type that crosses the border changes.
inline constexpr int kLibraryAbi = 5;
inline constexpr char kLibrarySymbol[] = "davinci_model_library";

struct LibraryApi {
  int abi = 0;
  Result<std::unique_ptr<Engine>> (*make_engine)(EngineOptions options) = nullptr;
};

// An entry of the library, which is opened by the first call. kFailedPrecondition as OpenEngine().
Result<void*> ModelLibrarySymbol(const char* name);

}  // namespace davinci::model

extern "C" const davinci::model::LibraryApi* davinci_model_library();
