// TorchHeaders: what one installed LibTorch declares, read from its own header files.
//
// The compat stage of the extension builder does not parse LibTorch's headers with the compiler; it
// declares the few operators a source names. This class finds those declarations: a method of
// at::Tensor, a function of at::, and the exported entry point (at::_ops::…::call) behind each.
// Nothing is copied into this repository: the text comes from the user's torch and therefore always
// fits it.
//
// Thread-safe; everything is read lazily and kept for the life of the object.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

namespace davinci::build {

// The identifiers of a C++ source, comments and literals left out.
std::set<std::string> Identifiers(std::string_view source);

class TorchHeaders {
 public:
  // `include_dir` is the folder that holds torch/extension.h.
  explicit TorchHeaders(std::filesystem::path include_dir);

  // Text of davinci_request/methods.inc: declarations and definitions of every operator, method or
  // function whose name is in `names`, in four sections selected by macros (see
  // torch_compat/include/davinci_torch/tensor.h). Overloads whose types the compat headers do not
  // have are left out.
  Result<std::string> OperatorDeclarations(const std::set<std::string>& names);

  // `#include <ATen/ops/NAME.h>` lines for every operator named: the slim stage.
  std::string OperatorIncludes(const std::set<std::string>& names) const;

  // Whether some header of this LibTorch mentions `name` (ATen/ops file names included). First use
  // reads all headers, about 0.2 s; only the error path asks.
  bool Mentions(const std::string& name);

 private:
  struct Method {
    std::string declaration, definition, op;
  };
  Status LoadMethods() DAVINCI_REQUIRES(mutex_);
  bool HasOperatorFile(const std::string& base) const;

  const std::filesystem::path include_dir_;
  Mutex mutex_;
  bool methods_loaded_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::multimap<std::string, Method> methods_ DAVINCI_GUARDED_BY(mutex_);
  bool words_loaded_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::unordered_set<std::string> words_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::build
