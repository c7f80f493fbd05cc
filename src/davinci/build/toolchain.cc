#include "davinci/build/toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

extern char** environ;

namespace davinci::build {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Output (stdout and stderr, at most 64 kB) of a trusted tool of the user, or nothing when it fails
// or takes over a minute.
std::string Ask(const std::vector<std::string>& argv) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, args[0], &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  std::string out;
  bool alive = error == 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (alive) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd p{fds[0], POLLIN, 0};
    if (left.count() <= 0 || poll(&p, 1, static_cast<int>(left.count())) <= 0) break;
    char buffer[4096];
    const ssize_t n = read(fds[0], buffer, sizeof buffer);
    if (n <= 0) break;
    if (out.size() < 65536) out.append(buffer, static_cast<size_t>(n));
  }
  close(fds[0]);
  if (error != 0) return "";
  if (std::chrono::steady_clock::now() >= deadline) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? out : "";
}

std::string FindProgram(const std::vector<std::string>& names,
                        const std::vector<std::string>& extra_dirs = {}) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> dirs;
  std::istringstream in(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string dir; std::getline(in, dir, ':');) {
    if (!dir.empty() && dir[0] == '/') dirs.push_back(dir);
  }
  dirs.insert(dirs.end(), extra_dirs.begin(), extra_dirs.end());
  for (const auto& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return fs::absolute(name).string();
      continue;
    }
    for (const auto& dir : dirs) {
      const std::string candidate = dir + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
    }
  }
  return "";
}

std::string Line(const std::string& text, const std::string& containing = "") {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.find(containing) != std::string::npos) return line;
  }
  return "";
}

// Identity of a program file: what a cached answer about it depends on.
std::string FileIdentity(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}|{}|{}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Answers of tools, kept across processes.
class AnswerCache {
 public:
  explicit AnswerCache(fs::path dir) : dir_(std::move(dir)) {}

  template <typename Compute>
  std::string Get(const std::string& identity, const Compute& compute) {
    const fs::path file = dir_ / (Sha256Hex(identity).substr(0, 32) + ".txt");
    if (auto text = ReadFile(file, 1 << 20); text.ok() && text->starts_with(identity + "\n")) {
      return text->substr(identity.size() + 1);
    }
    std::string answer = compute();
    // An unwritable cache only costs time.
    if (!answer.empty())
      (void)WriteFileAtomic(file, identity + "\n" + answer, Durability::kFastest);
    return answer;
  }

 private:
  const fs::path dir_;
};

// A program that describes torch without importing it: that takes seconds on a busy machine. Only a
// torch that may have the C++ library's old ABI is asked itself.
constexpr const char* kPythonScript = R"(
import importlib.util, json, os, runpy, sys, sysconfig
out = {"version": sys.version.split()[0], "include": sysconfig.get_paths()["include"],
       "prefixes": sorted({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix)})}
try:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise ImportError("No module named 'torch'")
    init = os.path.abspath(spec.origin)
    facts = runpy.run_path(os.path.join(os.path.dirname(init), "version.py"))
    with open(init, encoding="utf-8") as file:
        may_be_old = "_C._GLIBCXX_USE_CXX11_ABI" in file.read()
    abi = True
    if may_be_old:
        import torch
        abi = bool(torch.compiled_with_cxx11_abi())
    out["torch"] = {"version": str(facts["__version__"]), "cuda": facts.get("cuda") or "",
                    "dir": os.path.dirname(init), "abi": abi}
except Exception as error:
    out["torch_error"] = str(error)[:500]
print("\n@@" + json.dumps(out))
)";

PythonTorch ProbePython(const std::string& wanted, AnswerCache* cache) {
  PythonTorch p;
  p.python = FindProgram({wanted.empty() ? "python3" : wanted});
  p.remedy =
      "apt-get install python3-venv, then: python3 -m venv .venv && .venv/bin/pip install torch";
  if (p.python.empty()) return p;
  // torch may be installed into an unchanged interpreter: its folder's time is part of the
  // identity.
  const fs::path home = fs::path(p.python).parent_path().parent_path();
  std::string identity = "python3|" + FileIdentity(p.python);
  std::error_code error;
  for (const auto& lib : fs::directory_iterator(home / "lib", error)) {
    for (const char* sub : {"site-packages/torch/version.py", "dist-packages/torch/version.py"}) {
      const std::string id = FileIdentity((lib.path() / sub).string());
      if (!id.empty()) identity += "|" + id;
    }
  }
  const std::string answer = cache->Get(identity, [&] {
    const std::string text = Ask({p.python, "-c", kPythonScript});
    const size_t at = text.rfind("@@");
    return at == std::string::npos ? std::string() : text.substr(at + 2);
  });
  const json d = json::parse(answer, nullptr, false);
  if (!d.is_object()) {
    p.remedy = fmt::format("'{}' does not run; give a working interpreter with torch", p.python);
    return p;
  }
  p.version = d.value("version", "");
  p.include_dir = d.value("include", "");
  p.prefixes = d.value("prefixes", std::vector<std::string>{});
  p.found = fs::exists(p.include_dir + "/Python.h", error);
  if (!p.found)
    p.remedy =
        fmt::format("the headers of Python {} are missing: apt-get install python3-dev", p.version);
  if (d.contains("torch") && d["torch"].is_object()) {
    const json& t = d["torch"];
    p.has_torch = true;
    p.torch_version = t.value("version", "");
    p.torch_cuda_version = t.value("cuda", "");
    p.torch_dir = t.value("dir", "");
    p.cxx11_abi = t.value("abi", true);
    // torch.utils.cpp_extension moved to C++20 with 2.12's headers; ask the installation rather
    // than a table.
    auto flow = ReadFile(fs::path(p.torch_dir) / "utils" / "cpp_extension.py", 4 << 20);
    if (flow.ok() && flow->find("'-std=c++20'") != std::string::npos) p.torch_std = "c++20";
    if (p.found) p.remedy.clear();
  } else {
    p.remedy = fmt::format("torch cannot be imported by {}: {}; {} -m pip install torch", p.python,
                           d.value("torch_error", "unknown reason"), p.python);
  }
  return p;
}

std::string FirstExisting(const std::vector<std::string>& paths) {
  std::error_code error;
  for (const auto& path : paths) {
    if (fs::exists(path, error)) return path;
  }
  return "";
}

}  // namespace

std::string Toolchain::Fingerprint() const {
  Sha256 hash;
  for (const auto& part :
       {cxx.path, cxx.version, nvcc.path, nvcc.version, nvrtc.path, python.version,
        python.include_dir, python.torch_version, python.torch_dir}) {
    hash.Field(part);
  }
  return hash.FinishHex();
}

Result<Toolchain> ProbeToolchain(const ToolchainOptions& options) {
  fs::path dir = options.cache_dir;
  if (dir.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(dir, CacheDir("toolchain"));
  }
  DAVINCI_RETURN_IF_ERROR(MakeDirs(dir));
  AnswerCache cache(dir);
  Toolchain t;

  t.cxx.path = FindProgram({"g++", "clang++", "c++"});
  t.cxx.remedy = "apt-get install g++";
  if (!t.cxx.path.empty()) {
    t.cxx.version = Line(cache.Get("cxx|" + FileIdentity(t.cxx.path), [&] {
      return Ask({t.cxx.path, "--version"});
    }));
    t.cxx.found = !t.cxx.version.empty();
  }

  std::vector<std::string> cuda_bins;
  if (const char* home = std::getenv("CUDA_HOME"); home && *home)
    cuda_bins.push_back(std::string(home) + "/bin");
  cuda_bins.push_back("/usr/local/cuda/bin");
  t.nvcc.remedy =
      "install the CUDA toolkit (nvcc) and put its bin folder on PATH or set CUDA_HOME; "
      "Debian/Ubuntu: apt-get install nvidia-cuda-toolkit";
  t.nvcc.path = FindProgram({"nvcc"}, cuda_bins);
  if (!t.nvcc.path.empty()) {
    const std::string text = cache.Get("nvcc|" + FileIdentity(t.nvcc.path), [&] {
      // --dryrun prints TOP=…, the toolkit folder behind wrappers and links.
      return Ask({t.nvcc.path, "--version"}) +
             Ask({t.nvcc.path, "--dryrun", "-E", "-x", "cu", "/dev/null"});
    });
    t.nvcc.version = Line(text, "release");
    t.nvcc.found = !t.nvcc.version.empty();
    const std::string top = Line(text, "TOP=");
    std::error_code error;
    if (const size_t at = top.find("TOP="); at != std::string::npos) {
      t.cuda_home = fs::weakly_canonical(top.substr(at + 4), error).string();
    }
    if (t.cuda_home.empty())
      t.cuda_home = fs::canonical(t.nvcc.path, error).parent_path().parent_path().string();
  }
  t.ptxas.path = FindProgram({"ptxas"}, cuda_bins);
  t.ptxas.remedy = t.nvcc.remedy;
  if (!t.ptxas.path.empty()) {
    t.ptxas.version = Line(cache.Get("ptxas|" + FileIdentity(t.ptxas.path),
                                     [&] {
                                       return Ask({t.ptxas.path, "--version"});
                                     }),
                           "release");
    t.ptxas.found = !t.ptxas.version.empty();
  }

  t.python = ProbePython(options.python, &cache);

  // NVRTC comes with the toolkit or with torch's CUDA wheels (site-packages/nvidia/…/lib).
  std::vector<std::string> nvrtc;
  for (const char* major : {"", ".13", ".12"}) {
    for (const char* lib : {"/lib64/libnvrtc.so", "/targets/x86_64-linux/lib/libnvrtc.so"}) {
      if (!t.cuda_home.empty()) nvrtc.push_back(t.cuda_home + lib + major);
    }
    nvrtc.push_back(std::string("/usr/local/cuda/lib64/libnvrtc.so") + major);
    nvrtc.push_back(std::string("/usr/lib/x86_64-linux-gnu/libnvrtc.so") + major);
    if (t.python.has_torch) {
      const std::string site = fs::path(t.python.torch_dir).parent_path().string();
      for (const char* sub : {"/nvidia/cuda_nvrtc/lib/libnvrtc.so", "/nvidia/cu13/lib/libnvrtc.so",
                              "/torch/lib/libnvrtc.so"}) {
        nvrtc.push_back(site + sub + major);
      }
    }
  }
  t.nvrtc.path = FirstExisting(nvrtc);
  t.nvrtc.found = !t.nvrtc.path.empty();
  t.nvrtc.remedy = "install libnvrtc (part of the CUDA toolkit and of torch's CUDA wheels)";
  if (t.nvrtc.found) t.nvrtc.version = FileIdentity(t.nvrtc.path);

  if (auto info = ReadFile("/proc/cpuinfo", 16 << 20); info.ok()) {
    const std::string model = Line(*info, "model name");
    t.cpu_model =
        model.find(": ") == std::string::npos ? model : model.substr(model.find(": ") + 2);
    t.cpu_identity =
        Sha256Hex(t.cpu_model + Line(*info, "flags") + Line(*info, "Features")).substr(0, 16);
  }
  return t;
}

}  // namespace davinci::build
