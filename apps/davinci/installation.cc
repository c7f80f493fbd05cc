#include "installation.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "davinci/base/files.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

fs::path ExecutableFolder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : self.parent_path();
}

std::string FindPython(const fs::path& home) {
  if (const char* set = std::getenv("DAVINCI_PYTHON"); set != nullptr && *set != '\0') return set;
  if (const fs::path venv = home / ".venv" / "bin" / "python"; access(venv.c_str(), X_OK) == 0)
    return venv.string();
  if (auto recorded = ReadFile(home / "build" / "python_path", 4096); recorded.ok()) {
    std::string path = *recorded;
    while (!path.empty() && (path.back() == '\n' || path.back() == ' ')) path.pop_back();
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "python3";
}

}  // namespace

Result<fs::path> FindHome() {
  for (const fs::path& home :
       {fs::path(std::getenv("DAVINCI_HOME") != nullptr ? std::getenv("DAVINCI_HOME") : ""),
        ExecutableFolder() / ".." / "share" / "davinci", fs::path(DAVINCI_SOURCE_DIR)}) {
    std::error_code error;
    if (!home.empty() && fs::exists(home / "python" / "davinci_worker", error))
      return fs::weakly_canonical(home);
  }
  return FailedPrecondition("davinci's python folder is missing; set DAVINCI_HOME to the checkout");
}

Result<Installation> FindInstallation(const std::string& python) {
  Installation found;
  const fs::path folder = ExecutableFolder();
  DAVINCI_ASSIGN_OR_RETURN(found.home, FindHome());
  for (const fs::path& library : {folder / ".." / ".." / "lib" / "libdavinci_worker.so",
                                  folder / ".." / "lib" / "libdavinci_worker.so"}) {
    std::error_code error;
    if (fs::exists(library, error)) {
      found.worker_library = fs::weakly_canonical(library);
      break;
    }
  }
  if (found.worker_library.empty())
    return FailedPrecondition(fmt::format(
        "libdavinci_worker.so is missing next to {}; build it (ninja)", folder.string()));
  found.python = python.empty() ? FindPython(found.home) : python;
  return found;
}

Result<std::string> ShippedModel(const fs::path& home) {
  const fs::path folder = home / "models" / "davinci-nano";
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder.string();
  return NotFound(fmt::format(
      "davinci's own model is not in {}; name a model with --model DIR|FILE.gguf, or make that one "
      "with tools/train_nano.sh",
      folder.string()));
}

Result<int> RunPython(const Installation& installation, const std::string& script,
                      const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {installation.python, (installation.home / script).string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) return FromErrno(errno, "fork");
  if (child == 0) {
    ::execvp(argv[0], argv.data());
    fmt::print(stderr, "davinci: cannot run {}\n", command[0]);
    ::_exit(3);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return FromErrno(errno, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

judge::JudgeOptions MakeJudgeOptions(const Installation& installation) {
  judge::JudgeOptions options;
  options.python = installation.python;
  options.python_path = (installation.home / "python").string();
  options.worker_library = installation.worker_library.string();
  return options;
}

}  // namespace davinci::app
