#include "davinci/judge/roles/sandbox_policies.h"

#include <cstdlib>

#include "davinci/base/files.h"
#include "davinci/judge/roles/judge_context.h"
#include "davinci/sandbox/policy.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr uint64_t kTmpBytes = uint64_t{1} << 30;
constexpr uint64_t kFileBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxProcesses = 512;
constexpr uint64_t kOpenFiles = 1024;

}  // namespace

json RolePolicy(const JudgeContext& context, Target target, std::string_view role,
                const std::string& scratch, const std::vector<std::filesystem::path>& readable,
                bool trusted) {
  sandbox::Spec spec;
  sandbox::Policy& policy = spec.policy;
  sandbox::AddSystemPaths(&policy);
  for (const char* key : {"prefix", "base_prefix", "torch_dir"})
    if (const std::string path = context.hello.value(key, std::string()); !path.empty())
      policy.read_only_paths.push_back(path);
  policy.read_only_paths.push_back(context.options.python_path);
  policy.read_only_paths.push_back(context.options.worker_library);
  for (const auto& path : readable) policy.read_only_paths.push_back(path.string());
  for (const char* name : {"build", "bytecode"})
    if (const auto cache = CacheDir(name); cache.ok())
      policy.read_only_paths.push_back(cache->string());
  policy.read_only_paths.emplace_back(
      "/sys/devices/system");  // torch's profiler reads the clock source
  policy.scratch_dir = scratch;
  policy.private_tmp_bytes = kTmpBytes;
  policy.allow_exec = trusted || target == Target::kCuda;  // Triton runs ptxas and gcc
  policy.allow_fork = policy.allow_exec;
  if (target == Target::kCuda) {
    policy.thread_names = true;
    // CUDA IPC takes two processes with the same pid for one: the oracle must not be pid 1 like the
    // runners.
    policy.new_namespaces = role != "oracle";
    if (const auto kernels = CacheDir("device"); role == "oracle" && kernels.ok())
      policy.read_write_paths.push_back(kernels->string());
    policy.device_paths = {"/dev/nvidia*", "/dev/nvidia-caps/*"};
    // Triton compiles its launchers with the compiler of the environment, which may live outside
    // /usr.
    for (const char* name : {"CC", "CUDA_HOME", "CUDA_PATH"})
      if (const char* value = std::getenv(name); value != nullptr && *value == '/') {
        std::filesystem::path path(value);
        if (std::string_view(name) == "CC") path = path.parent_path().parent_path();
        if (path != "/" && path.has_relative_path())
          policy.read_only_paths.push_back(path.string());
      }
    for (const char* path : {"/proc/driver/nvidia", "/usr/local/nvidia", "/usr/local/cuda"})
      policy.read_only_paths.emplace_back(path);
  }
  if (const auto compiled = CacheDir("inductor"); role == "baseline" && compiled.ok())
    policy.read_write_paths.push_back(compiled->string());
  // The oracle's input arenas are files in memory, as large as the task's inputs are.
  if (role != "oracle") spec.limits.file_size_bytes = kFileBytes;
  spec.limits.processes = kMaxProcesses;
  spec.limits.open_files = kOpenFiles;
  return sandbox::ToJson(spec);
}

void AllowPrograms(json* policy) {
  (*policy)["allow_exec"] = true;
  (*policy)["allow_fork"] = true;
}

json RoleEnvironment(const std::string& scratch, int device_connections) {
  json environment = {
      {"HOME", scratch},
      {"TMPDIR", "/tmp"},
      {"TRITON_CACHE_DIR", scratch + "/triton"},
      {"TORCHINDUCTOR_CACHE_DIR", scratch + "/inductor"},
      {"CUDA_CACHE_PATH", scratch + "/nv"},
      {"DAVINCI_DEVICE_CACHE", CacheDir("device").ok() ? CacheDir("device")->string() : ""},
      {"XDG_CACHE_HOME", scratch}};
  const bool limited = device_connections > 0;
  if (limited) environment["CUDA_DEVICE_MAX_CONNECTIONS"] = std::to_string(device_connections);
  environment["CUDA_DEVICE_MAX_COPY_CONNECTIONS"] = limited ? "1" : "2";
  return environment;
}

}  // namespace davinci::judge
