// davinci doctor: what this machine can do, what is missing, and the command that mends it.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "commands.h"
#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/build/toolchain.h"
#include "davinci/gpu/device.h"
#include "davinci/runs/user_config.h"
#include "davinci/sandbox/layers.h"
#include "davinci/sandbox/policy.h"
#include "davinci/worker/fork_server.h"
#include "doctor_host.h"
#include "doctor_report.h"
#include "installation.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kReadyTimeoutSeconds = 60;
constexpr int kLeastTorchMajor = 2;
constexpr int kLeastTorchMinor = 9;

Check Ok(std::string section, std::string name, std::string value, json details = nullptr) {
  return {std::move(section), std::move(name), CheckState::kOk, std::move(value), "", false, false,
          std::move(details)};
}

Check Problem(CheckState state, std::string section, std::string name, std::string value,
              std::string remedy) {
  return {std::move(section), std::move(name), state, std::move(value),
          std::move(remedy),  false,           false, nullptr};
}

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

bool OldTorch(const std::string& version) {
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major < kLeastTorchMajor || (major == kLeastTorchMajor && minor < kLeastTorchMinor);
}

std::string FindOnPath(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream in(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(in, folder, ':');)
    if (!folder.empty() && access((folder + "/" + name).c_str(), X_OK) == 0)
      return folder + "/" + name;
  return "";
}

void AddCompilers(const build::Toolchain& tools, DoctorReport* report) {
  constexpr const char* kSection = "compilers";
  const auto add = [&](const char* name, const build::Tool& tool, const char* without) {
    Check check = tool.found ? Ok(kSection, name, tool.version,
                                  {{"path", tool.path}, {"version", tool.version}})
                             : Problem(CheckState::kMissing, kSection, name, without, tool.remedy);
    report->checks.push_back(std::move(check));
  };
  add("C++", tools.cxx, "not found: candidates in C++ cannot be compiled");
  add("nvcc", tools.nvcc, "not found: load_inline candidates with CUDA sources cannot be compiled");
  build::Tool nvrtc = tools.nvrtc;
  nvrtc.version = nvrtc.path;
  add("NVRTC", nvrtc,
      "not found: the judge's own CUDA kernels need it, and candidates in plain CUDA C++");
  report->checks.back().needed_for_cuda = true;
}

void AddPython(const build::Toolchain& tools, DoctorReport* report) {
  constexpr const char* kSection = "python";
  const build::PythonTorch& python = tools.python;
  if (python.version.empty()) {
    report->checks.push_back(Problem(
        CheckState::kMissing, kSection, "interpreter",
        python.python.empty() ? "not found" : python.python + " does not run", python.remedy));
    report->checks.back().needed_for_cpu = true;
    return;
  }
  report->checks.push_back(Ok(kSection, "interpreter",
                              fmt::format("{}, {}", python.version, python.python),
                              {{"path", python.python}, {"version", python.version}}));
  if (!python.found)
    report->checks.push_back(Problem(CheckState::kWarn, kSection, "headers",
                                     "missing: load_inline candidates cannot be compiled",
                                     python.remedy));
  if (!python.has_torch || OldTorch(python.torch_version)) {
    report->checks.push_back(
        Problem(CheckState::kMissing, kSection, "torch",
                python.has_torch ? python.torch_version + " is too old; 2.9 or later is needed"
                                 : "cannot be imported",
                python.has_torch ? fmt::format("{} -m pip install --upgrade torch", python.python)
                                 : python.remedy));
    report->checks.back().needed_for_cpu = true;
    return;
  }
  const bool cuda = !python.torch_cuda_version.empty();
  report->checks.push_back(
      Ok(kSection, "torch",
         fmt::format("{} ({})", python.torch_version,
                     cuda ? "CUDA " + python.torch_cuda_version : "no CUDA"),
         {{"version", python.torch_version}, {"cuda", python.torch_cuda_version}}));
}

// Tries the whole way of a candidate's process: fork server, namespaces, sandbox, ready.
Result<double> StartSandboxedChild(worker::ForkServer& server, const json& hello,
                                   const Installation& installation) {
  DAVINCI_ASSIGN_OR_RETURN(const TempDir scratch, MakeTempDir("davinci-doctor"));
  sandbox::Spec spec;
  sandbox::AddSystemPaths(&spec.policy);
  for (const char* key : {"prefix", "base_prefix", "torch_dir"})
    if (const std::string path = hello.value(key, std::string()); !path.empty())
      spec.policy.read_only_paths.push_back(path);
  spec.policy.read_only_paths.push_back((installation.home / "python").string());
  spec.policy.read_only_paths.push_back(installation.worker_library.string());
  spec.policy.scratch_dir = scratch.path().string();
  spec.policy.private_tmp_bytes = 1 << 20;
  worker::SpawnRequest request;
  request.role = "runner";
  request.target = "cpu";
  request.scratch = scratch.path().string();
  request.policy = sandbox::ToJson(spec);
  Stopwatch watch;
  DAVINCI_ASSIGN_OR_RETURN(auto process, server.Spawn(request));
  DAVINCI_RETURN_IF_ERROR(process->AwaitReady(kReadyTimeoutSeconds).status());
  return watch.Seconds();
}

// What the start of the fork server (begun while other checks ran) has come to.
void AddWorker(const Installation& installation, worker::ForkServer* server,
               const Stopwatch& since_start, const Status& not_started, DoctorReport* report) {
  constexpr const char* kSection = "python";
  const auto fail = [&](const char* name, const Status& status) {
    report->checks.push_back(
        Problem(CheckState::kMissing, kSection, name, status.message(),
                "mend the other lines marked ✗, then run davinci doctor again"));
    report->checks.back().needed_for_cpu = true;
  };
  if (server == nullptr) return fail("fork server", not_started);
  auto hello = server->Hello();
  const double seconds = since_start.Seconds();
  if (!hello.ok()) return fail("fork server", hello.status());
  if (const json triton = hello->value("triton", json()); triton.is_string())
    report->checks.push_back(
        Ok(kSection, "triton", triton.get<std::string>(), {{"version", triton}}));
  else
    report->checks.push_back(Problem(CheckState::kWarn, kSection, "triton",
                                     "not installed: Triton candidates cannot be judged",
                                     installation.python + " -m pip install triton"));
  report->checks.push_back(
      Ok(kSection, "fork server",
         fmt::format("ready after {:.1f} s (imports torch and Triton once)", seconds),
         {{"seconds", seconds}}));
  auto child = StartSandboxedChild(*server, *hello, installation);
  if (!child.ok()) return fail("sandboxed child", child.status());
  report->checks.push_back(Ok(kSection, "sandboxed child",
                              fmt::format("starts in {:.0f} ms", 1e3 * *child),
                              {{"seconds", *child}}));
}

void AddSandbox(DoctorReport* report) {
  constexpr const char* kSection = "sandbox";
  const sandbox::LayerReport& layers = sandbox::DetectedLayers();
  const sandbox::ActiveLayers& active = layers.active;
  const auto add = [&](const char* name, bool there, std::string value, const char* without) {
    report->checks.push_back(there ? Ok(kSection, name, std::move(value))
                                   : Problem(CheckState::kWarn, kSection, name, without, ""));
  };
  add("files", active.ConfinesFiles(),
      fmt::format(
          "{}{}{}", active.private_root ? "private root" : "",
          active.private_root && active.landlock_abi > 0 ? ", " : "",
          active.landlock_abi > 0 ? fmt::format("Landlock ABI {}", active.landlock_abi) : ""),
      "candidates could read other files");
  add("network", active.ConfinesNetwork(),
      active.namespaces.net ? "none (empty namespace)" : "none (seccomp)",
      "candidates could reach the network");
  add("processes", active.ConfinesProcesses(),
      fmt::format("own namespaces: {}", active.namespaces.ToString()),
      "no pid namespace: what a candidate starts may outlive it");
  add("system calls", active.seccomp,
      fmt::format("seccomp{}{}", layers.lock_holds ? ", lock holds" : ", lock does not hold",
                  active.lock_immutable ? " and is sealed" : ""),
      "not filtered");
  add("cgroup", layers.cgroup_version > 0, fmt::format("v{}", layers.cgroup_version),
      "not writable: memory is watched from outside");
  for (const std::string& advice : layers.Advice())
    report->checks.push_back(Problem(CheckState::kWarn, kSection, "advice", advice, ""));
  Check verdict =
      layers.Sufficient()
          ? Ok(kSection, "verdict", "enough to run untrusted code", sandbox::ToJson(layers))
          : Problem(CheckState::kMissing, kSection, "verdict", "not enough to run untrusted code",
                    layers.Advice().empty()
                        ? "run as root, or with --unsafe-no-sandbox at your own risk"
                        : layers.Advice().front());
  if (!layers.Sufficient()) verdict.details = sandbox::ToJson(layers);
  verdict.needed_for_cpu = true;
  report->checks.push_back(std::move(verdict));
}

// Answers of nvidia-smi that NVML's binding here does not give: MIG and persistence mode,
// "Disabled, Enabled".
std::string AskNvidiaSmi(const std::string& uuid) {
  const std::string program = FindOnPath("nvidia-smi");
  // The uuid comes from the driver; nothing else may reach a shell.
  if (program.empty() ||
      uuid.find_first_not_of("GPU-MIG0123456789abcdefABCDEF/") != std::string::npos)
    return "";
  const std::string command =
      program + " -i " + uuid +
      " --query-gpu=mig.mode.current,persistence_mode --format=csv,noheader 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return "";
  char line[256] = "";
  const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  pclose(pipe);
  std::string text = read ? line : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void AddDevice(const gpu::DeviceMonitor& monitor, const gpu::DeviceInfo& info,
               DoctorReport* report) {
  constexpr const char* kSection = "gpu";
  const std::string name = fmt::format("device {}", info.index);
  report->checks.push_back(
      Ok(kSection, name,
         fmt::format("{}, {:.0f} GiB, sm_{}{}, driver {} (CUDA {}.{})", info.name,
                     static_cast<double>(info.memory_total_bytes) / kGiB, info.compute_major,
                     info.compute_minor, info.driver_version, info.cuda_driver_version / 1000,
                     info.cuda_driver_version % 1000 / 10),
         {{"name", info.name},
          {"uuid", info.uuid},
          {"memory_bytes", info.memory_total_bytes},
          {"compute", {info.compute_major, info.compute_minor}},
          {"driver", info.driver_version},
          {"cuda", info.cuda_driver_version}}));
  auto state = monitor.Read(info.index);
  if (!state.ok()) {
    report->checks.push_back(Problem(
        CheckState::kMissing, kSection, name + " state", state.status().message(),
        "nvidia-smi shows what the driver says; a reboot or driver reload mends a lost device"));
    return;
  }
  Check clocks =
      Ok(kSection, "clocks",
         fmt::format("SM {} of {} MHz, memory {} of {} MHz, {} °C, {:.0f} of {:.0f} W",
                     state->sm_clock_mhz, state->max_sm_clock_mhz, state->memory_clock_mhz,
                     state->max_memory_clock_mhz, state->temperature_celsius, state->power_watts,
                     state->power_limit_watts),
         {{"sm_mhz", state->sm_clock_mhz},
          {"max_sm_mhz", state->max_sm_clock_mhz},
          {"memory_mhz", state->memory_clock_mhz},
          {"max_memory_mhz", state->max_memory_clock_mhz},
          {"throttle", state->throttle.ToString()}});
  if (state->throttle.AffectsTiming()) {
    clocks.state = CheckState::kWarn;
    clocks.value += "; throttled: " + state->throttle.ToString();
    clocks.remedy =
        "let it cool, or raise the limit: sudo nvidia-smi -pl WATTS; nvidia-smi -q -d PERFORMANCE "
        "says why";
  }
  report->checks.push_back(std::move(clocks));
  // Never tried: a doctor changes nothing.
  report->checks.push_back(
      geteuid() == 0
          ? Ok(kSection, "clock control",
               fmt::format("as root: nvidia-smi -i {} --lock-gpu-clocks=MHZ (not tried; the judge "
                           "never changes clocks)",
                           info.index))
          : Problem(
                CheckState::kWarn, kSection, "clock control",
                "needs root; the judge never changes clocks",
                fmt::format("for numbers of record: sudo nvidia-smi -i {} --lock-gpu-clocks=MHZ",
                            info.index)));
  const std::string modes = AskNvidiaSmi(info.uuid);
  const size_t comma = modes.find(", ");
  if (comma != std::string::npos) {
    const std::string mig = modes.substr(0, comma);
    const std::string persistence = modes.substr(comma + 2);
    report->checks.push_back(
        mig == "Enabled" ? Problem(CheckState::kWarn, kSection, "MIG",
                                   "on: a slice shares memory bandwidth and clocks with others",
                                   fmt::format("sudo nvidia-smi -i {} -mig 0", info.index))
                         : Ok(kSection, "MIG", mig == "Disabled" ? "off" : "not supported"));
    report->checks.push_back(persistence == "Disabled"
                                 ? Problem(CheckState::kWarn, kSection, "persistence",
                                           "off: the driver unloads between processes",
                                           fmt::format("sudo nvidia-smi -i {} -pm 1", info.index))
                                 : Ok(kSection, "persistence", "on"));
  }
  if (!state->processes.empty())
    report->checks.push_back(
        Problem(CheckState::kWarn, kSection, "other work",
                fmt::format("{} process(es) hold device {}", state->processes.size(), info.index),
                "nvidia-smi lists them; times are only exclusive against other davinci processes"));
}

void AddGpus(const build::Toolchain& tools, DoctorReport* report) {
  constexpr const char* kSection = "gpu";
  const auto monitor = gpu::DeviceMonitor::Create();
  for (const gpu::DeviceInfo& info : monitor->devices()) AddDevice(*monitor, info, report);
  report->no_device = monitor->devices().empty();
  if (report->no_device) {
    report->checks.push_back(
        Problem(CheckState::kMissing, kSection, "device", "none: " + monitor->absence_reason(),
                "with an NVIDIA GPU: install its driver; in a container: --gpus all"));
    report->checks.back().needed_for_cuda = true;
    return;
  }
  if (tools.python.has_torch && tools.python.torch_cuda_version.empty()) {
    report->checks.push_back(Problem(
        CheckState::kMissing, kSection, "torch with CUDA", "this torch was built without CUDA",
        tools.python.python + " -m pip install --force-reinstall torch"));
    report->checks.back().needed_for_cuda = true;
  }
  std::string ncu = FindOnPath("ncu");
  for (const char* path : {"/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/ncu"})
    if (ncu.empty() && access(path, X_OK) == 0) ncu = path;
  if (ncu.empty()) {
    report->checks.push_back(
        Problem(CheckState::kWarn, kSection, "Nsight Compute",
                "not found: kernel times cannot be compared with an independent profiler",
                "install nsight-compute (part of the CUDA toolkit)"));
    return;
  }
  auto parameters = ReadFile("/proc/driver/nvidia/params", 1 << 16);
  const bool admin_only =
      parameters.ok() && parameters->find("RmProfilingAdminOnly: 1") != std::string::npos;
  report->checks.push_back(
      admin_only && geteuid() != 0
          ? Problem(
                CheckState::kWarn, kSection, "Nsight Compute",
                ncu + ": counters are for administrators only",
                "load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run ncu as root")
          : Ok(kSection, "Nsight Compute", ncu));
}

void AddStorage(DoctorReport* report) {
  constexpr const char* kSection = "storage";
  const auto free_bytes = [](const fs::path& path) {
    struct statvfs info {};
    return statvfs(path.c_str(), &info) == 0
               ? static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize)
               : 0.0;
  };
  const auto add = [&](const char* name, const fs::path& path, double least,
                       const std::string& remedy) {
    const double bytes = free_bytes(path);
    Check check =
        Ok(kSection, name, fmt::format("{}, {:.1f} GiB free", path.string(), bytes / kGiB),
           {{"path", path.string()}, {"free_bytes", static_cast<int64_t>(bytes)}});
    if (bytes < least) {
      check.state = CheckState::kWarn;
      check.remedy = remedy;
    }
    report->checks.push_back(std::move(check));
  };
  auto cache = CacheDir();
  if (!cache.ok()) {
    report->checks.push_back(Problem(CheckState::kMissing, kSection, "cache",
                                     cache.status().message(),
                                     "export DAVINCI_CACHE_DIR=/a/writable/folder"));
    report->checks.back().needed_for_cpu = true;
  } else {
    add("cache", *cache, 8 * kGiB,
        fmt::format(
            "the build cache may grow to 8 GiB; rm -r {} frees it, or set DAVINCI_CACHE_DIR",
            cache->string()));
  }
  auto scratch = MakeTempDir("davinci-doctor");
  if (!scratch.ok()) {
    report->checks.push_back(Problem(CheckState::kMissing, kSection, "scratch",
                                     scratch.status().message(),
                                     "export TMPDIR=/a/writable/folder"));
    report->checks.back().needed_for_cpu = true;
  } else {
    add("scratch", scratch->path().parent_path(), 1 * kGiB, "free some space there, or set TMPDIR");
  }
}

// Endpoint, keys and prices that every run starts from.
void AddConfiguration(DoctorReport* report) {
  const char* const kSection = "configuration";
  const auto user = runs::LoadUserConfig();
  if (!user.ok()) {
    report->checks.push_back(Problem(CheckState::kWarn, kSection, "file", user.status().message(),
                                     "correct the file that the message names (docs/llm.md)"));
    return;
  }
  std::string value = "none";
  const nlohmann::json& values = user->recipe.tree().values;
  if (user->exists) {
    value = user->file.string();
    const nlohmann::json llm = values.value("llm", nlohmann::json::object());
    for (const auto& [key, entry] : llm.items())
      if (key == "endpoints" || key == "model" || key == "prices")
        value += fmt::format("; {} = {}", key, config::TomlLiteral(entry));
  } else if (!user->file.empty()) {
    value += fmt::format("; {} would be read", user->file.string());
  }
  report->checks.push_back(
      Ok(kSection, "file", value, {{"path", user->file.string()}, {"exists", user->exists}}));
}

DoctorReport Examine(const GlobalOptions& global) {
  DoctorReport report;
  auto installation = FindInstallation(global.python);
  if (!installation.ok()) {
    report.checks.push_back(Problem(CheckState::kMissing, "installation", "parts",
                                    installation.status().message(),
                                    "./quickstart.sh builds what is missing"));
    report.checks.back().needed_for_cpu = true;
    return report;
  }
  report.checks.push_back(Ok("installation", "home", installation->home.string(),
                             {{"home", installation->home.string()},
                              {"worker_library", installation->worker_library.string()}}));

  // The imports take seconds; everything else is looked at meanwhile.
  worker::ForkServerOptions options;
  options.python = installation->python;
  options.module_path = (installation->home / "python").string();
  options.library = installation->worker_library.string();
  options.triton = true;
  Stopwatch since_start;
  auto server = worker::ForkServer::Start(options);

  build::ToolchainOptions probe;
  probe.python = installation->python;
  auto tools = build::ProbeToolchain(probe);
  if (!tools.ok()) {
    report.checks.push_back(Problem(CheckState::kMissing, "storage", "cache",
                                    tools.status().message(),
                                    "export DAVINCI_CACHE_DIR=/a/writable/folder"));
    report.checks.back().needed_for_cpu = true;
    return report;
  }
  report.checks.push_back(Ok("installation", "CPU",
                             fmt::format("{}, {} usable", tools->cpu_model, UsableCpus()),
                             {{"model", tools->cpu_model}, {"cpus", UsableCpus()}}));
  AddPython(*tools, &report);
  AddWorker(*installation, server.ok() ? server->get() : nullptr, since_start, server.status(),
            &report);
  AddCompilers(*tools, &report);
  AddSandbox(&report);
  AddGpus(*tools, &report);
  AddStorage(&report);
  AddConfiguration(&report);
  HostOptions host;
  host.cpus = UsableCpus();
  for (Check& check : HostChecks(host)) report.checks.push_back(std::move(check));
  return report;
}

int RunDoctor(const GlobalOptions& global, bool as_json) {
  ProgressLine progress;
  progress.Show("looking around …");
  const DoctorReport report = Examine(global);
  progress.Clear();
  if (as_json)
    fmt::print("{}\n", JsonText(ToJson(report), 2));
  else
    fmt::print("{}",
               RenderDoctor(report, UseColor(STDOUT_FILENO), TerminalWidth(STDOUT_FILENO, 110)));
  return report.ExitCode();
}

}  // namespace

void AddDoctorCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "doctor", "What this machine can do, what is missing, and the command that mends it");
  command->add_flag("--json", *as_json, "One JSON document on stdout, nothing else");
  command->footer(
      "Exit status: 0 when `davinci judge --target cpu` can work here, 1 when it cannot.\n"
      "Examples:\n"
      "  davinci doctor\n"
      "  davinci doctor --json | python3 -c 'import json, sys; "
      "print(json.load(sys.stdin)[\"targets\"])'");
  command->callback([as_json, &global, exit_code] { *exit_code = RunDoctor(global, *as_json); });
}

}  // namespace davinci::app
