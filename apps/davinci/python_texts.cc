#include "python_texts.h"

#include <filesystem>

#include "davinci/base/files.h"

namespace davinci::app {

Result<std::vector<std::string>> ReadPythonTexts(const std::vector<std::string>& paths) {
  constexpr uint64_t kMaxBytes = 16u << 20;
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::filesystem::path> files = {path};
    if (std::filesystem::is_directory(path, error)) {
      DAVINCI_ASSIGN_OR_RETURN(files, ListFiles(path, ".py", true));
    }
    for (const std::filesystem::path& file : files) {
      DAVINCI_ASSIGN_OR_RETURN(auto text, ReadFile(file, kMaxBytes));
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

}  // namespace davinci::app
