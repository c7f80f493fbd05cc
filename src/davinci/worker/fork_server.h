// ForkServer: a Python process with torch already imported that forks a fresh child per role and
// evaluation.
//
// One per davinci process. Starting it costs one `import torch`; a child then costs tens of
// milliseconds. Spawn() is thread-safe. The server runs our code and torch only, never a reference
// or a candidate.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/worker/channel.h"
#include "davinci/worker/memory_limit.h"
#include "davinci/worker/process.h"

namespace davinci::worker {

struct ForkServerOptions {
  std::string python;       // interpreter with torch >= 2.9
  std::string module_path;  // folder that holds davinci_worker and davinci_runtime
  std::string library;      // libdavinci_worker.so
  bool triton = false;      // import Triton before forking
  int threads = 1;          // OMP_NUM_THREADS of every child
  // Folder that keeps compiled Python modules where the installation keeps none; empty: nowhere.
  std::string bytecode_cache;
  std::vector<std::pair<std::string, std::string>> extra_env;
};

struct SpawnRequest {
  std::string role;    // "oracle" or "runner"
  std::string target;  // "cpu" or "cuda"
  int threads = 1;
  std::string scratch;    // working directory of the child; must exist
  nlohmann::json policy;  // sandbox::Policy as JSON; null = no sandbox
  nlohmann::json env = nlohmann::json::object();
  // Modules that may be installed outside of the interpreter's folders
  // (davinci_worker/installed.py).
  std::vector<std::string> imports;
  bool symbols = false;  // what graphs with symbols need is imported before it is forked
};

// The source of an evaluation's processes: the seam of ForkServer.
class Spawner {
 public:
  Spawner() = default;
  virtual ~Spawner() = default;
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Asks for the Triton compiler to be warmed up (davinci_worker/prewarm.py) before the next child
  // is forked; once, and only where Triton was imported. `cache_folder` keeps what it builds.
  virtual Status Prewarm(const std::string& cache_folder, int arch) = 0;
  // The child is asked for, not yet ready: call AwaitReady() on it.
  virtual Result<std::shared_ptr<Process>> Spawn(const SpawnRequest& request) = 0;
};

class ForkServer final : public Spawner {
 public:
  // Starts the interpreter without waiting for its imports; the first Spawn() waits.
  static Result<std::unique_ptr<ForkServer>> Start(const ForkServerOptions& options);
  ~ForkServer() override;

  // Waits for the imports; {protocol, python, torch, triton, pid}. A remedy is part of the failure.
  Result<nlohmann::json> Hello();
  Status Prewarm(const std::string& cache_folder, int arch) override;
  // False once the interpreter has ended, and with it every child: their deaths are no
  // verdict then.
  bool Alive() const;
  Result<std::shared_ptr<Process>> Spawn(const SpawnRequest& request) override;

 private:
  ForkServer() = default;
  Result<nlohmann::json> HelloLocked() DAVINCI_REQUIRES(mutex_);
  void Watch();

  ForkServerOptions options_;
  Mutex mutex_;
  Channel control_ DAVINCI_GUARDED_BY(mutex_);
  UniqueFd pidfd_;
  pid_t pid_ = -1;
  bool prewarmed_ DAVINCI_GUARDED_BY(mutex_) = false;
  UniqueFd errors_;
  nlohmann::json hello_ DAVINCI_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<MemoryLimit>> watched_ DAVINCI_GUARDED_BY(mutex_);
  std::jthread watchdog_;
};

}  // namespace davinci::worker
