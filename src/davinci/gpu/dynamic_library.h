// A shared library opened at run time, so that nothing in davinci links against a vendor's library
// and every program starts on a machine that has none of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci::gpu {

// Owns nothing that can be given back: vendor libraries keep threads and at-exit handlers, so a
// library once opened stays open until the process ends. Copies refer to the same library.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;

  // Whether libraries opened later find its symbols: what those with plug-ins need.
  enum class Scope { kLocal, kGlobal };

  // Tries, in this order: a copy some other code already loaded into this process (so that two
  // versions never meet in one process), each of `names` in each of `directories`, then each of
  // `names` by the system's own search. Fails with kNotFound and the loader's last message when
  // none opens.
  static Result<DynamicLibrary> Open(std::span<const std::string> names,
                                     std::span<const std::string> directories,
                                     Scope scope = Scope::kLocal);

  bool is_open() const { return handle_ != nullptr; }
  // nullptr when the library has no such symbol.
  void* FindSymbol(const char* name) const;
  // File the library was loaded from; for messages and records.
  const std::string& path() const { return path_; }

 private:
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace davinci::gpu
