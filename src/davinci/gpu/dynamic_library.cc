#include "davinci/gpu/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

namespace davinci::gpu {
namespace {

std::string LoadedPath(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr &&
      map->l_name != nullptr && map->l_name[0] != '\0') {
    return map->l_name;
  }
  return fallback;
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::Open(std::span<const std::string> names,
                                            std::span<const std::string> directories, Scope scope) {
  const int visible = scope == Scope::kGlobal ? RTLD_GLOBAL : RTLD_LOCAL;
  std::string last_error = "no name given";
  const auto try_open = [&](const std::string& file, int flags) -> DynamicLibrary {
    DynamicLibrary library;
    library.handle_ = dlopen(file.c_str(), RTLD_NOW | visible | flags);
    if (library.handle_ != nullptr) {
      library.path_ = LoadedPath(library.handle_, file);
    } else if (const char* message = dlerror(); message != nullptr && (flags & RTLD_NOLOAD) == 0) {
      last_error = message;
    }
    return library;
  };
  for (const std::string& name : names) {
    if (DynamicLibrary library = try_open(name, RTLD_NOLOAD); library.is_open()) return library;
  }
  for (const std::string& directory : directories) {
    for (const std::string& name : names) {
      DynamicLibrary library = try_open(directory + "/" + name, 0);
      if (library.is_open()) return library;
    }
  }
  for (const std::string& name : names) {
    if (DynamicLibrary library = try_open(name, 0); library.is_open()) return library;
  }
  return NotFound(last_error);
}

void* DynamicLibrary::FindSymbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace davinci::gpu
