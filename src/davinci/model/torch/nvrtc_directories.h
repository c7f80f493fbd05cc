// Where NVRTC is looked for first.
#pragma once

#ifdef DAVINCI_TORCH_CUDA
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

namespace davinci::model {

// Where the wheels of torch keep NVRTC: nvidia/<package>/lib next to torch.
inline std::vector<std::string> NvrtcDirectories() {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&c10::cuda::device_count), &info) == 0) return found;
  std::error_code error;
  const fs::path site = fs::path(info.dli_fname).parent_path().parent_path().parent_path();
  for (const auto& entry : fs::directory_iterator(site / "nvidia", error))
    if (fs::exists(entry.path() / "lib", error)) found.push_back(entry.path() / "lib");
  return found;
}

}  // namespace davinci::model
#endif
