// Where this davinci finds its parts: interpreter, Python folder, worker library, tasks.
#pragma once

#include <filesystem>
#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/judge.h"

namespace davinci::app {

struct Installation {
  std::filesystem::path home;            // checkout or installation prefix: has python/, tasks/
  std::filesystem::path worker_library;  // libdavinci_worker.so
  std::string python;
};

// `python` empty: DAVINCI_PYTHON, <home>/.venv/bin/python, <home>/build/python_path, python3 on
// PATH.
Result<Installation> FindInstallation(const std::string& python);

// <home> alone, for commands that judge nothing: DAVINCI_HOME, the installation's, the checkout's.
Result<std::filesystem::path> FindHome();

// The model that comes with davinci, below `home`. NotFound, with the remedy, where it is not
// there.
Result<std::string> ShippedModel(const std::filesystem::path& home);

// Runs a Python program of `home` in the place of a command: the terminal is its own. Its exit
// status.
Result<int> RunPython(const Installation& installation, const std::string& script,
                      const std::vector<std::string>& arguments);

judge::JudgeOptions MakeJudgeOptions(const Installation& installation);

}  // namespace davinci::app
