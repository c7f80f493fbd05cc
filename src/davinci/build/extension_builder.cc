#include "davinci/build/extension_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/utf8.h"
#include "davinci/build/compat_bundle.h"
#include "davinci/build/diagnostics.h"
#include "davinci/build/flag_policy.h"
#include "davinci/build/source_scan.h"
#include "davinci/sandbox/run.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;
using Flags = std::vector<std::string>;

// Part of every key: raise it when the meaning of a request or the way it is compiled changes.
constexpr std::string_view kFormat = "davinci-build-3";

constexpr const char* kTorchLibraries[] = {"c10",        "c10_cuda", "torch_cpu",
                                           "torch_cuda", "torch",    "torch_python"};

// Operators behind the operators of at::Tensor (x + y, x[i], x = …); always declared.
constexpr const char* kCoreOperators[] = {
    "add",   "sub",   "mul",    "div",         "neg", "reciprocal", "add_", "sub_", "mul_", "div_",
    "copy_", "fill_", "select", "bitwise_not", "lt",  "le",         "gt",   "ge",   "eq",   "ne"};

const std::set<std::string>& CompatHeaderNames() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    for (const BundledFile& file : CompatFiles()) {
      for (std::string_view prefix : {"include/", "shared/"}) {
        if (file.path.starts_with(prefix)) out.insert(std::string(file.path.substr(prefix.size())));
      }
    }
    return out;
  }();
  return names;
}

void Append(Flags* to, const Flags& more) { to->insert(to->end(), more.begin(), more.end()); }

std::string JoinSources(const std::vector<std::string>& sources, const std::string& label) {
  std::string out;
  for (size_t i = 0; i < sources.size(); ++i) {
    // Errors name the user's own string and line, whatever the builder puts around it.
    const std::string name = sources.size() == 1 ? label : fmt::format("{}[{}]", label, i);
    out += fmt::format("#line 1 \"{}\"\n{}\n", name, sources[i]);
  }
  return out;
}

std::string EscapeLiteral(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

bool IsUserFile(const std::string& file) {
  return file.starts_with("cpp_sources") || file.starts_with("cuda_sources") || file == "bindings";
}

std::string MajorOf(std::string_view version) {
  const size_t digit = version.find_first_of("0123456789");
  if (digit == std::string_view::npos) return "";
  const size_t end = version.find_first_not_of("0123456789", digit);
  return std::string(version.substr(digit, end - digit));
}

// "Cuda compilation tools, release 13.0, V13.0.88" -> "13"
std::string NvccMajor(const std::string& line) {
  const size_t at = line.find("release ");
  return at == std::string::npos ? "" : MajorOf(std::string_view(line).substr(at));
}

}  // namespace

struct ExtensionBuilder::Step {
  std::string name;
  std::string output;
  bool ok = false;
  BuildError error = BuildError::kNone;  // for ends other than "the compiler said no"
  int exit_code = 0;
  double seconds = 0;
};

struct ExtensionBuilder::Job {
  const BuildRequest& request;
  fs::path dir;
  std::stop_token stop;
  std::vector<BuildStep> steps;
  Flags cflags, cuda_cflags, ldflags;  // checked
  std::string arch;

  BuildOutcome Fail(BuildError error, std::string message) const {
    BuildOutcome out;
    out.error = error;
    out.message = ElideMiddle(message, kMaxErrorBytes);
    out.steps = steps;
    return out;
  }
  // From compiler output, with the user's own names.
  BuildOutcome FailFromTool(const Step& step) const {
    BuildOutcome out;
    out.error = step.error == BuildError::kNone ? BuildError::kCompileError : step.error;
    const auto errors = ParseErrors(step.output);
    for (const Diagnostic& d : errors) {
      if (!IsUserFile(d.file)) continue;
      out.file = d.file;
      out.line = d.line;
      break;
    }
    out.message = ReadableErrors(step.output, {dir.string() + "/"}, kMaxErrorBytes);
    if (step.error == BuildError::kTimeout) {
      out.message = ElideMiddle(
          fmt::format("{} did not finish within its time limit\n{}", step.name, out.message),
          kMaxErrorBytes);
    } else if (step.error == BuildError::kOutOfMemory) {
      out.message = ElideMiddle(fmt::format("{} ran out of memory\n{}", step.name, out.message),
                                kMaxErrorBytes);
    } else if (out.message.empty()) {
      out.message =
          fmt::format("{} failed without a message (exit code {})", step.name, step.exit_code);
    }
    out.steps = steps;
    return out;
  }
};

ExtensionBuilder::ExtensionBuilder(BuilderOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<ExtensionBuilder>> ExtensionBuilder::Create(BuilderOptions options) {
  std::unique_ptr<ExtensionBuilder> builder(new ExtensionBuilder(std::move(options)));
  Sha256 hash;
  for (const BundledFile& file : CompatFiles()) hash.Field(file.path).Field(file.content);
  builder->compat_hash_ = hash.FinishHex();
  builder->compat_dir_ =
      builder->options_.support_dir / ("compat-" + builder->compat_hash_.substr(0, 16));
  std::error_code error;
  if (!fs::exists(builder->compat_dir_ / "complete", error)) {
    DAVINCI_RETURN_IF_ERROR(MakeDirs(builder->compat_dir_));
    for (const BundledFile& file : CompatFiles()) {
      const fs::path path = builder->compat_dir_ / std::string(file.path);
      DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(path, file.content, Durability::kFastest));
    }
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(builder->compat_dir_ / "complete", "", Durability::kFastest));
  }
  const PythonTorch& python = builder->options_.toolchain.python;
  if (python.has_torch) {
    builder->torch_include_ = python.torch_dir + "/include";
    builder->headers_ = std::make_unique<TorchHeaders>(builder->torch_include_);
  }
  return builder;
}

std::string ExtensionBuilder::Key(const BuildRequest& request) const {
  Sha256 hash;
  hash.Field(kFormat).Field(JsonText(ToJson(request)));
  // dump() replaces invalid UTF-8; the raw bytes decide.
  for (const auto& s : request.cpp_sources) hash.Field(s);
  for (const auto& s : request.cuda_sources) hash.Field(s);
  hash.Field(options_.toolchain.Fingerprint()).Field(compat_hash_).Field(options_.first_stage);
  hash.Field(request.cuda_arch.empty() ? options_.default_cuda_arch : request.cuda_arch);
  const bool host_cpu = request.kind == BuildKind::kLibrary ||
                        DependsOnHostCpu(request.extra_cflags) ||
                        DependsOnHostCpu(request.extra_cuda_cflags);
  hash.Field(host_cpu ? options_.toolchain.cpu_identity : "any");
  return hash.FinishHex();
}

Result<ExtensionBuilder::Step> ExtensionBuilder::RunTool(Job* job, const std::string& name,
                                                         const Flags& argv) const {
  const Toolchain& t = options_.toolchain;
  sandbox::RunRequest run;
  run.argv = argv;
  run.cwd = job->dir.string();
  // A fixed environment: messages in English, temporary files in the scratch folder.
  run.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
             {"LC_ALL", "C"},
             {"HOME", job->dir.string()},
             {"TMPDIR", job->dir.string()}};
  run.timeout = options_.timeout;
  run.max_output_bytes = 1 << 20;
  run.stop = job->stop;
  sandbox::AddSystemPaths(&run.policy);
  auto readable = [&](const std::string& path) {
    if (!path.empty() && path != "/") run.policy.read_only_paths.push_back(path);
  };
  readable(compat_dir_.string());
  readable(options_.support_dir.string());
  readable(t.python.torch_dir);
  readable(t.python.include_dir);
  for (const auto& prefix : t.python.prefixes) {
    if (prefix != "/usr" && prefix != "/usr/local") readable(prefix);
  }
  readable(t.cuda_home);
  if (t.nvrtc.found) {
    std::error_code error;
    readable(fs::path(t.nvrtc.path).parent_path().string());
    const fs::path real = fs::canonical(t.nvrtc.path, error);
    if (!error) readable(real.parent_path().string());
  }
  run.policy.read_write_paths.push_back(job->dir.string());
  run.policy.private_tmp_bytes = uint64_t{256} << 20;
  run.policy.allow_exec = true;
  run.policy.allow_fork = true;
  run.limits.memory_bytes = options_.memory_bytes;
  run.limits.file_size_bytes = options_.file_size_bytes;
  run.limits.open_files = 1024;
  run.limits.processes = 512;
  run.watched_dir = job->dir.string();
  run.watched_dir_max_bytes = 4 * options_.file_size_bytes;
  DAVINCI_ASSIGN_OR_RETURN(const sandbox::RunResult result, sandbox::Run(run));
  Step step;
  step.name = name;
  step.seconds = result.wall_seconds;
  step.exit_code = result.exit_code;
  step.ok = result.Succeeded();
  step.output = result.err + result.out;
  // g++ calls it an internal error, to be reported to its authors.
  bool too_large = !step.ok && step.output.find("File size limit exceeded") != std::string::npos;
  switch (result.end) {
    case sandbox::RunEnd::kCancelled:
      return Cancelled(fmt::format("{}: the build was cancelled", name));
    case sandbox::RunEnd::kTimeout:
      step.error = BuildError::kTimeout;
      break;
    case sandbox::RunEnd::kOutOfMemory:
      step.error = BuildError::kOutOfMemory;
      break;
    case sandbox::RunEnd::kDiskLimit:
      too_large = true;
      break;
    case sandbox::RunEnd::kSignalled:
      step.output +=
          fmt::format("\n{}: error: the compiler died of signal {}", name, result.signal);
      break;
    case sandbox::RunEnd::kExited:
      break;
  }
  if (too_large)
    step.output = fmt::format(
        "{}: error: what the compiler wrote is over the limit of {} MiB for a file and {} for all "
        "of a build; generate less code, or less static data",
        name, options_.file_size_bytes >> 20, 4 * options_.file_size_bytes >> 20);
  // g++ reports a compiler process killed for memory as an internal error.
  if (!step.ok && step.error == BuildError::kNone &&
      step.output.find("Killed signal terminated program") != std::string::npos) {
    step.error = BuildError::kOutOfMemory;
  }
  return step;
}

Result<std::string> ExtensionBuilder::SupportObject(Job* job) {
  std::lock_guard lock(support_mutex_);
  if (support_known_) return support_path_;
  const Toolchain& t = options_.toolchain;
  const std::string key = Sha256Hex(t.Fingerprint() + compat_hash_).substr(0, 32);
  const fs::path object = options_.support_dir / fmt::format("support-{}.o", key);
  const fs::path refused = options_.support_dir / fmt::format("support-{}.refused", key);
  std::error_code error;
  if (!fs::exists(object, error) && !fs::exists(refused, error)) {
    Flags argv = {t.cxx.path,
                  "-std=" + t.python.torch_std,
                  "-O2",
                  "-fPIC",
                  "-fvisibility=hidden",
                  "-w",
                  "-fdiagnostics-color=never",
                  "-isystem",
                  torch_include_,
                  "-isystem",
                  torch_include_ + "/torch/csrc/api/include",
                  "-isystem",
                  t.python.include_dir,
                  fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", t.python.cxx11_abi ? 1 : 0),
                  "-c",
                  (compat_dir_ / "support.cc").string(),
                  "-o",
                  (job->dir / "support.o").string()};
    DAVINCI_ASSIGN_OR_RETURN(const Step step, RunTool(job, "g++ support.cc", argv));
    job->steps.push_back({step.name, step.seconds, ""});
    if (step.ok) {
      fs::rename(job->dir / "support.o", object, error);
      if (error) return Internal(fmt::format("storing {}: {}", object.string(), error.message()));
    } else if (step.error == BuildError::kNone) {
      // This torch differs from what the compat headers assume: the full step serves it, and the
      // reason is kept.
      DAVINCI_RETURN_IF_ERROR(
          WriteFileAtomic(refused, ElideMiddle(step.output, 16384), Durability::kFastest));
    } else {
      return std::string();  // out of memory or time: try again with the next request
    }
  }
  support_path_ = fs::exists(object, error) ? object.string() : "";
  support_known_ = true;
  return support_path_;
}

Result<std::string> ExtensionBuilder::StubLibraries(Job* job) {
  std::lock_guard lock(support_mutex_);
  if (stubs_) return *stubs_;
  const Toolchain& t = options_.toolchain;
  const std::string key = Sha256Hex(t.Fingerprint() + std::string(kFormat)).substr(0, 32);
  const fs::path folder = options_.support_dir / ("stubs-" + key);
  std::error_code error;
  if (!fs::exists(folder, error)) {
    const fs::path made = job->dir / "stubs";
    DAVINCI_RETURN_IF_ERROR(MakeDirs(made));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(job->dir / "stub.c", "", Durability::kFastest));
    for (const char* name : kTorchLibraries) {
      const std::string file = fmt::format("lib{}.so", name);
      const std::string real = t.python.torch_dir + "/lib/" + file;
      if (!fs::exists(real, error)) continue;
      DAVINCI_ASSIGN_OR_RETURN(const Step told,
                               RunTool(job, "readelf " + file, {"readelf", "-d", real}));
      if (told.output.find(fmt::format("[{}]", file)) == std::string::npos) {
        stubs_ = "";  // with a name of its own, or no readelf
        return *stubs_;
      }
      DAVINCI_ASSIGN_OR_RETURN(
          const Step step, RunTool(job, "g++ " + file,
                                   {t.cxx.path, "-shared", "-nostdlib", "-Wl,-soname," + file, "-x",
                                    "c", "stub.c", "-o", (made / file).string()}));
      if (!step.ok) return std::string();  // try again with the next request
    }
    fs::rename(made, folder, error);  // or somebody else was faster
    if (!fs::exists(folder, error)) return std::string();
  }
  stubs_ = folder.string();
  return *stubs_;
}

Result<ExtensionBuilder::Step> ExtensionBuilder::Compile(Job* job, const std::string& name,
                                                         Flags argv, const Flags& own_flags,
                                                         bool lean) const {
  const std::string& standard = options_.toolchain.python.torch_std;
  const bool own_standard = std::any_of(
      own_flags.begin(), own_flags.end(),
      [](const std::string& f) { return f.starts_with("-std=") || f.starts_with("--std"); });
  double spent = 0;
  if (lean && !own_standard && standard == "c++20") {
    Flags first = argv;
    first.push_back("-std=c++17");
    DAVINCI_ASSIGN_OR_RETURN(Step step, RunTool(job, name, first));
    if (step.ok || step.error != BuildError::kNone) return step;
    spent = step.seconds;
  }
  if (!own_standard) argv.push_back("-std=" + standard);
  DAVINCI_ASSIGN_OR_RETURN(Step step, RunTool(job, name, argv));
  step.seconds += spent;
  return step;
}

Status ExtensionBuilder::WarmUp(std::stop_token stop) {
  if (!headers_ || !options_.toolchain.cxx.found || !options_.toolchain.python.found)
    return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(TempDir dir, MakeTempDir("support", options_.support_dir));
  const BuildRequest none;
  Job job{none, dir.path(), stop, {}, {}, {}, {}, {}};
  auto object = SupportObject(&job);
  return object.ok() ? Status::Ok() : object.status();
}

Result<BuildOutcome> ExtensionBuilder::Build(const BuildRequest& request, const fs::path& work_dir,
                                             std::stop_token stop) {
  Job job{request, work_dir, stop, {}, {}, {}, {}, {}};
  const Toolchain& t = options_.toolchain;
  job.arch = request.cuda_arch.empty() ? options_.default_cuda_arch : request.cuda_arch;

  std::vector<fs::path> dirs = {"/usr/include", "/usr/local/include", "/usr/lib", "/usr/lib64",
                                "/lib"};
  for (const std::string& dir : {t.cuda_home, t.python.torch_dir, t.python.include_dir}) {
    if (!dir.empty()) dirs.emplace_back(dir);
  }
  if (!t.cuda_home.empty()) dirs.emplace_back("/usr/local/cuda");
  if (t.python.has_torch)
    for (const char* package : {"nvidia", "triton"})
      dirs.push_back(fs::path(t.python.torch_dir).parent_path() / package);
  const FlagTarget cuda_target =
      request.kind == BuildKind::kCubin ? FlagTarget::kNvrtc : FlagTarget::kNvcc;
  Flags includes;
  for (const std::string& path : request.extra_include_paths) includes.push_back("-I" + path);
  struct Check {
    FlagTarget target;
    const Flags& in;
    std::vector<Flags*> out;
  };
  for (const Check& check :
       {Check{FlagTarget::kHostCompiler, includes, {&job.cflags, &job.cuda_cflags}},
        Check{FlagTarget::kHostCompiler, request.extra_cflags, {&job.cflags}},
        Check{cuda_target, request.extra_cuda_cflags, {&job.cuda_cflags}},
        Check{FlagTarget::kLinker, request.extra_ldflags, {&job.ldflags}}}) {
    auto checked = CheckFlags(check.target, check.in, dirs);
    if (const auto* refusal = std::get_if<FlagRefusal>(&checked))
      return job.Fail(BuildError::kPolicyViolation, refusal->message);
    for (Flags* out : check.out) Append(out, std::get<Flags>(checked));
  }
  switch (request.kind) {
    case BuildKind::kExtension:
      return BuildExtension(&job);
    case BuildKind::kLibrary:
      return BuildLibrary(&job);
    case BuildKind::kLauncher:
      return BuildLauncher(&job);
    case BuildKind::kCubin:
      return BuildCubin(&job);
  }
  return Internal("unknown kind of build");
}

Result<BuildOutcome> ExtensionBuilder::BuildLibrary(Job* job) {
  return BuildShared(job, "library", "library.cpp",
                     {"-O3", "-march=native", "-fopenmp", "-std=c++20", "-fmax-errors=20"}, {});
}

Result<BuildOutcome> ExtensionBuilder::BuildLauncher(Job* job) {
  return BuildShared(job, "launcher", "launcher.c",
                     {"-x", "c", "-O3", "-w", "-I", options_.toolchain.python.include_dir},
                     {"-l:libcuda.so.1"});
}

Result<BuildOutcome> ExtensionBuilder::BuildShared(Job* job, const std::string& stage,
                                                   const std::string& source, const Flags& flags,
                                                   const Flags& libraries) {
  const Toolchain& t = options_.toolchain;
  if (!t.cxx.found)
    return job->Fail(BuildError::kUnavailable, "no C++ compiler on this machine; " + t.cxx.remedy);
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(job->dir / source,
                                          JoinSources(job->request.cpp_sources, "cpp_sources"),
                                          Durability::kFastest));
  Flags argv = {t.cxx.path, "-fPIC", "-shared", "-fdiagnostics-color=never"};
  Append(&argv, flags);
  Append(&argv, job->cflags);
  Append(&argv, {source, "-o", stage + ".so"});
  Append(&argv, libraries);
  Append(&argv, job->ldflags);
  DAVINCI_ASSIGN_OR_RETURN(const Step step, RunTool(job, "g++ " + source, argv));
  job->steps.push_back({step.name, step.seconds, ""});
  if (!step.ok) return job->FailFromTool(step);
  BuildOutcome out;
  out.path = (job->dir / (stage + ".so")).string();
  out.stage = stage;
  out.steps = job->steps;
  return out;
}

Result<BuildOutcome> ExtensionBuilder::BuildCubin(Job* job) {
  const Toolchain& t = options_.toolchain;
  const std::string output = (job->dir / "kernel.cubin").string();
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(job->dir / "kernel.cu",
                                          JoinSources(job->request.cuda_sources, "cuda_sources"),
                                          Durability::kFastest));
  BuildOutcome out;
  out.path = output;
  if (t.nvrtc.found && !t.python.python.empty()) {
    Flags argv = {t.python.python,
                  "-I",
                  "-S",
                  (compat_dir_ / "nvrtc_compile.py").string(),
                  t.nvrtc.path,
                  "kernel.cu",
                  "cuda_sources",
                  output,
                  "--gpu-architecture=" + job->arch};
    const bool has_std =
        std::any_of(job->cuda_cflags.begin(), job->cuda_cflags.end(),
                    [](const std::string& f) { return f.find("-std=") != std::string::npos; });
    if (!has_std) argv.push_back("--std=c++17");
    // <cuda_fp16.h> and friends, where the toolkit is installed.
    if (!t.cuda_home.empty()) argv.push_back("--include-path=" + t.cuda_home + "/include");
    Append(&argv, job->cuda_cflags);
    DAVINCI_ASSIGN_OR_RETURN(const Step step, RunTool(job, "nvrtc kernel.cu", argv));
    job->steps.push_back({step.name, step.seconds, ""});
    if (step.ok) {
      out.stage = "nvrtc";
      out.steps = job->steps;
      return out;
    }
    if (step.exit_code != 2 || step.error != BuildError::kNone || !t.nvcc.found)
      return job->FailFromTool(step);
  }
  if (!t.nvcc.found) {
    return job->Fail(
        BuildError::kUnavailable,
        fmt::format("CUDA sources cannot be compiled here: neither NVRTC nor nvcc was found; {}",
                    t.nvcc.remedy));
  }
  Flags argv = {t.nvcc.path, "-cubin", "-arch=" + job->arch, "-std=c++17"};
  Append(&argv, job->cuda_cflags);
  Append(&argv, {"kernel.cu", "-o", output});
  DAVINCI_ASSIGN_OR_RETURN(const Step step, RunTool(job, "nvcc kernel.cu", argv));
  job->steps.push_back({step.name, step.seconds, ""});
  if (!step.ok) return job->FailFromTool(step);
  out.stage = "nvcc";
  out.steps = job->steps;
  return out;
}

Result<BuildOutcome> ExtensionBuilder::BuildExtension(Job* job) {
  const Toolchain& t = options_.toolchain;
  const BuildRequest& request = job->request;
  const bool with_cuda = request.with_cuda || !request.cuda_sources.empty();
  if (!t.cxx.found)
    return job->Fail(BuildError::kUnavailable, "no C++ compiler on this machine; " + t.cxx.remedy);
  if (!t.python.found || !t.python.has_torch) {
    return job->Fail(BuildError::kUnavailable,
                     "torch extensions cannot be built here: " + t.python.remedy);
  }
  if (with_cuda && !t.nvcc.found) {
    return job->Fail(BuildError::kUnavailable,
                     "CUDA sources cannot be compiled here: nvcc was not found; " + t.nvcc.remedy);
  }

  std::string everything;
  for (const auto& s : request.cpp_sources) everything += s + "\n";
  for (const auto& s : request.cuda_sources) everything += s + "\n";
  SourceScan scan = ScanSource(everything, CompatHeaderNames());

  // main.cpp as torch writes it: header, sources, generated bindings.
  std::string main_cpp = request.no_implicit_headers ? "" : "#include <torch/extension.h>\n";
  main_cpp += JoinSources(request.cpp_sources, "cpp_sources");
  if (request.functions) {
    main_cpp += "#line 1 \"bindings\"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n";
    for (const auto& [function, doc] : *request.functions) {
      main_cpp += fmt::format("m.def(\"{}\", torch::wrap_pybind_function({}), \"{}\");\n", function,
                              function, EscapeLiteral(doc));
    }
    main_cpp += "}\n";
    scan.has_module_block = true;
  }
  const bool cpp_needs_python = NeedsPython(JoinSources(request.cpp_sources, "cpp_sources"));
  const bool cuda_needs_python = NeedsPython(JoinSources(request.cuda_sources, "cuda_sources"));
  std::string cuda_cu;
  if (!request.cuda_sources.empty()) {
    if (!request.no_implicit_headers)
      cuda_cu = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n";
    cuda_cu += JoinSources(request.cuda_sources, "cuda_sources");
  }
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(job->dir / "main.cpp", main_cpp, Durability::kFastest));
  if (!cuda_cu.empty())
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(job->dir / "cuda.cu", cuda_cu, Durability::kFastest));

  std::string support;
  if (options_.first_stage != "full" && scan.slim_possible) {
    DAVINCI_ASSIGN_OR_RETURN(support, SupportObject(job));
  }
  std::vector<std::string> ladder = {"compat", "slim", "full"};
  if (support.empty()) {
    ladder = {"full"};
  } else if (!scan.compat_possible || options_.first_stage == "slim") {
    ladder = {"slim", "full"};
  }

  BlameContext blame;
  blame.uses_torch_names_unqualified = scan.uses_torch_names_unqualified;
  blame.is_user_file = IsUserFile;
  blame.torch_mentions = [this](const std::string& name) { return headers_->Mentions(name); };

  for (const std::string& stage : ladder) {
    const bool last = stage == ladder.back();
    Flags includes;
    if (stage != "full") {
      const fs::path generated = job->dir / "generated" / stage / "davinci_request";
      DAVINCI_RETURN_IF_ERROR(MakeDirs(generated));
      std::set<std::string> names = scan.identifiers;
      DAVINCI_RETURN_IF_ERROR(
          WriteFileAtomic(generated / "config.h", scan.config_header, Durability::kFastest));
      const fs::path root = generated.parent_path();
      if (stage == "compat") {
        names.insert(std::begin(kCoreOperators), std::end(kCoreOperators));
        DAVINCI_ASSIGN_OR_RETURN(const std::string operators,
                                 headers_->OperatorDeclarations(names));
        DAVINCI_RETURN_IF_ERROR(
            WriteFileAtomic(generated / "methods.inc", operators, Durability::kFastest));
        for (const std::string& header : scan.operator_headers) {
          const fs::path path = root / fs::path(header).lexically_normal();
          if (header.find("..") != std::string::npos) continue;
          DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
          DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(
              path, "#pragma once\n#include <davinci_torch/tensor.h>\n", Durability::kFastest));
        }
        Append(&includes,
               {"-isystem", root.string(), "-isystem", (compat_dir_ / "include").string()});
      } else {
        // The switches must be known to torch/extension.h of the slim step, too.
        DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(
            generated / "operators.h",
            "#include <davinci_request/config.h>\n" + headers_->OperatorIncludes(names),
            Durability::kFastest));
        Append(&includes, {"-isystem", root.string(), "-isystem", (compat_dir_ / "slim").string()});
      }
      Append(&includes, {"-isystem", (compat_dir_ / "shared").string()});
    }
    Append(&includes,
           {"-isystem", torch_include_, "-isystem", torch_include_ + "/torch/csrc/api/include"});
    if (with_cuda) Append(&includes, {"-isystem", t.cuda_home + "/include"});
    Append(&includes, {"-isystem", t.python.include_dir});

    // Flags in torch's order: its own, then the candidate's.
    Flags common = {"-DTORCH_EXTENSION_NAME=" + request.name, "-DTORCH_API_INCLUDE_EXTENSION_H",
                    fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", t.python.cxx11_abi ? 1 : 0)};
    Flags cpp = {t.cxx.path};
    Append(&cpp, common);
    Append(&cpp, includes);
    if (request.functions || cpp_needs_python) cpp.push_back("-DDAVINCI_NEED_PYTHON");
    Append(&cpp, {"-fPIC", "-pipe", "-fdiagnostics-color=never", "-fmax-errors=20"});
    // The thin classes share names with LibTorch's: nothing of them may be visible outside the
    // module.
    if (stage == "compat") cpp.push_back("-fvisibility=hidden");
    Append(&cpp, job->cflags);
    Append(&cpp, {"-c", "main.cpp", "-o", "main.o"});

    const bool lean = stage == "compat";
    std::future<Result<Step>> cuda_step;
    if (!cuda_cu.empty()) {
      Flags cu = {t.nvcc.path};
      Append(&cu, common);
      Append(&cu, includes);
      if (cuda_needs_python) cu.push_back("-DDAVINCI_NEED_PYTHON");
      Append(&cu, {"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                   "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
                   "--expt-relaxed-constexpr"});
      // Like torch: a candidate that names architectures itself overrides the device's.
      const bool own_arch =
          std::any_of(job->cuda_cflags.begin(), job->cuda_cflags.end(), [](const std::string& f) {
            return f.starts_with("-arch") || f.starts_with("-gencode") ||
                   f.starts_with("--gpu-arch") || f.starts_with("--generate-code");
          });
      if (!own_arch) {
        const std::string number = job->arch.substr(3);
        cu.push_back(fmt::format("-gencode=arch=compute_{},code=sm_{}", number, number));
      }
      Append(&cu, {"-ccbin", t.cxx.path, "-Xcompiler=-fPIC"});
      if (stage == "compat") cu.push_back("-Xcompiler=-fvisibility=hidden");
      Append(&cu, job->cuda_cflags);
      Append(&cu, {"-c", "cuda.cu", "-o", "cuda.o"});
      cuda_step = std::async(std::launch::async, [this, job, cu, lean] {
        return Compile(job, "nvcc cuda.cu", cu, job->cuda_cflags, lean);
      });
    }
    auto cpp_step = Compile(job, "g++ main.cpp", cpp, job->cflags, lean);
    std::vector<Step> steps;
    std::optional<Status> broken;
    if (cuda_step.valid()) {
      auto result = cuda_step.get();
      if (result.ok())
        steps.push_back(std::move(result).value());
      else
        broken = result.status();
    }
    if (cpp_step.ok())
      steps.push_back(std::move(cpp_step).value());
    else
      broken = cpp_step.status();
    if (broken) return *broken;

    const Step* failed = nullptr;
    bool climb = false;
    for (const Step& step : steps) {
      job->steps.push_back({stage + ": " + step.name, step.seconds, ""});
      if (step.ok) continue;
      blame.headers_are_real = stage != "compat";
      blame.is_cuda = step.name.starts_with("nvcc");
      const auto errors = ParseErrors(step.output);
      if (!last && step.error == BuildError::kNone &&
          WhoIsToBlame(errors, blame) == Blame::kUnsure) {
        climb = true;
        if (!errors.empty()) {
          const Diagnostic& d = errors.front();
          job->steps.back().note =
              ElideMiddle(fmt::format("{}:{}: {}", d.file, d.line, d.message), 400);
        }
      }
      // An error with a line of the user's is worth more than one without.
      const bool has_line = std::any_of(errors.begin(), errors.end(),
                                        [](const Diagnostic& d) { return IsUserFile(d.file); });
      if (!failed || has_line) failed = &step;
    }
    if (failed) {
      if (climb) continue;
      BuildOutcome out = job->FailFromTool(*failed);
      out.stage = stage;
      return out;
    }

    const std::string artifact = request.name + ".so";
    Flags link = {t.cxx.path, "-shared", "main.o"};
    if (!cuda_cu.empty()) link.push_back("cuda.o");
    if (stage != "full") link.push_back(support);
    Append(&link, {"-o", artifact});
    // OpenMP regions in the object need the runtime; torch leaves it to be found in the process,
    // which has one.
    Append(&link, job->ldflags);
    DAVINCI_ASSIGN_OR_RETURN(const std::string stubs, StubLibraries(job));
    if (!stubs.empty()) Append(&link, {"-L" + stubs, "-Wl,--no-as-needed"});
    link.push_back("-L" + t.python.torch_dir + "/lib");
    std::error_code error;
    for (const char* library : kTorchLibraries) {
      const bool of_cuda = std::string_view(library).ends_with("_cuda");
      const std::string file = fmt::format("{}/lib/lib{}.so", t.python.torch_dir, library);
      if (!of_cuda || (with_cuda && fs::exists(file, error)))
        link.push_back(fmt::format("-l{}", library));
    }
    if (!stubs.empty()) link.push_back("-Wl,--as-needed");
    if (with_cuda) {
      for (const char* lib : {"/lib64", "/lib"}) {
        if (fs::exists(t.cuda_home + lib, error)) {
          link.push_back("-L" + t.cuda_home + lib);
          break;
        }
      }
      // The same runtime as torch's where both are of one major version; else its own copy, so that
      // the module loads anyway.
      if (!t.python.torch_cuda_version.empty() &&
          MajorOf(t.python.torch_cuda_version) == NvccMajor(t.nvcc.version)) {
        link.push_back("-lcudart");
      } else {
        Append(&link, {"-lcudart_static", "-ldl", "-lrt", "-lpthread"});
      }
    }
    DAVINCI_ASSIGN_OR_RETURN(const Step linked, RunTool(job, "link", link));
    job->steps.push_back({stage + ": link", linked.seconds, ""});
    if (!linked.ok) {
      BuildOutcome out = job->FailFromTool(linked);
      out.stage = stage;
      return out;
    }
    BuildOutcome out;
    out.path = (job->dir / artifact).string();
    out.module_name = request.name;
    out.stage = stage;
    out.steps = job->steps;
    return out;
  }
  return Internal("the build ladder ended without a result");
}

}  // namespace davinci::build
