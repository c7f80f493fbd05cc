#include "davinci/build/extension_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/utf8.h"
#include "davinci/build/compat_bundle.h"
#include "davinci/build/flag_policy.h"
#include "davinci/sandbox/run.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;

// Part of every key: raise it when the meaning of a request or the way it is compiled changes.
constexpr std::string_view kFormat = "davinci-build-4";

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
  std::string cuda_include;            // empty without a toolkit
  Flags cflags, cuda_cflags, ldflags;  // checked
  std::string arch;

  BuildOutcome Fail(BuildError error, const std::string& message) const {
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
    const std::string missing =
        step.error == BuildError::kNone ? MissingHere(errors, cuda_include) : "";
    if (!missing.empty()) out.error = BuildError::kUnavailable;
    for (const Diagnostic& d : errors) {
      if (!IsUserFile(d.file)) continue;
      out.file = d.file;
      out.line = d.line;
      break;
    }
    out.message = ReadableErrors(step.output, {dir.string() + "/"}, kMaxErrorBytes);
    if (!missing.empty()) {
      out.message = ElideMiddle(
          fmt::format("this machine lacks {}, which the source needs; install CUDA's libraries "
                      "with their headers, or judge it where they are\n{}",
                      missing, out.message),
          kMaxErrorBytes);
    } else if (step.error == BuildError::kTimeout) {
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
  MutexLock lock(support_mutex_);
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
  MutexLock lock(support_mutex_);
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
      DAVINCI_ASSIGN_OR_RETURN(const Step found,
                               RunTool(job, "readelf " + file, {"readelf", "-d", real}));
      if (found.output.find(fmt::format("[{}]", file)) == std::string::npos) {
        stubs_ = "";  // with a name of its own, or no readelf
        return *stubs_;
      }
      DAVINCI_ASSIGN_OR_RETURN(
          const Step step, RunTool(job, "g++ " + file,
                                   {t.cxx.path, "-shared", "-nostdlib", "-Wl,-soname," + file, "-x",
                                    "c", "stub.c", "-o", (made / file).string()}));
      if (!step.ok) return std::string();  // try again with the next request
    }
    fs::rename(made, folder, error);  // or another process was faster
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
  Job job{none, dir.path(), stop, {}, {}, {}, {}, {}, {}};
  auto object = SupportObject(&job);
  return object.ok() ? Status::Ok() : object.status();
}

Result<BuildOutcome> ExtensionBuilder::Build(const BuildRequest& request, const fs::path& work_dir,
                                             std::stop_token stop) {
  const Toolchain& t = options_.toolchain;
  Job job{request, work_dir, stop, {}, t.cuda_home.empty() ? "" : t.cuda_home + "/include",
          {},      {},       {},   {}};
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

// Without -fno-trapping-math gcc 12 vectorises no loop with a comparison unless there is AVX-512.
// The flags are those of davinci_runtime.cpp_module.
Result<BuildOutcome> ExtensionBuilder::BuildLibrary(Job* job) {
  return BuildShared(
      job, "library", "library.cpp",
      {"-O3", "-march=native", "-fno-trapping-math", "-fopenmp", "-std=c++20", "-fmax-errors=20"},
      {});
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

std::optional<std::string> ExtensionBuilder::WhyNoExtensions(bool with_cuda) const {
  const Toolchain& t = options_.toolchain;
  if (!t.cxx.found) return "no C++ compiler on this machine; " + t.cxx.remedy;
  if (!t.python.found || !t.python.has_torch)
    return "torch extensions cannot be built here: " + t.python.remedy;
  if (with_cuda && !t.nvcc.found)
    return "CUDA sources cannot be compiled here: nvcc was not found; " + t.nvcc.remedy;
  return std::nullopt;
}

Result<Flags> ExtensionBuilder::WriteStageHeaders(const Job& job, const std::string& stage,
                                                  const SourceScan& scan) const {
  if (stage == "full") return Flags();
  const fs::path root = job.dir / "generated" / stage;
  const fs::path generated = root / "davinci_request";
  DAVINCI_RETURN_IF_ERROR(MakeDirs(generated));
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(generated / "config.h", scan.config_header, Durability::kFastest));
  if (stage == "slim") {
    // The switches must be known to torch/extension.h of the slim stage, too.
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(
        generated / "operators.h",
        "#include <davinci_request/config.h>\n" + headers_->OperatorIncludes(scan.identifiers),
        Durability::kFastest));
  } else {
    std::set<std::string> names = scan.identifiers;
    names.insert(std::begin(kCoreOperators), std::end(kCoreOperators));
    DAVINCI_ASSIGN_OR_RETURN(const std::string operators, headers_->OperatorDeclarations(names));
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(generated / "methods.inc", operators, Durability::kFastest));
    for (const std::string& header : scan.operator_headers) {
      const fs::path path = root / fs::path(header).lexically_normal();
      if (header.find("..") != std::string::npos) continue;
      DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(
          path, "#pragma once\n#include <davinci_torch/tensor.h>\n", Durability::kFastest));
    }
  }
  const fs::path ours = compat_dir_ / (stage == "slim" ? "slim" : "include");
  return Flags{"-isystem",    root.string(), "-isystem",
               ours.string(), "-isystem",    (compat_dir_ / "shared").string()};
}

Result<std::vector<ExtensionBuilder::Step>> ExtensionBuilder::CompileStage(
    Job* job, const ExtensionStage& stage, bool lean) const {
  std::future<Result<Step>> cuda;
  if (!job->request.cuda_sources.empty()) {
    cuda = std::async(std::launch::async,
                      [this, job, lean, argv = CudaCommand(stage, job->arch, job->cuda_cflags)] {
                        return Compile(job, "nvcc cuda.cu", argv, job->cuda_cflags, lean);
                      });
  }
  auto cpp = Compile(job, "g++ main.cpp", CppCommand(stage, job->cflags), job->cflags, lean);
  std::vector<Step> steps;
  if (cuda.valid()) {
    DAVINCI_ASSIGN_OR_RETURN(Step step, cuda.get());
    steps.push_back(std::move(step));
  }
  if (!cpp.ok()) return cpp.status();
  steps.push_back(std::move(cpp).value());
  return steps;
}

ExtensionBuilder::StageEnd ExtensionBuilder::EndOfStage(Job* job, const std::string& stage,
                                                        const std::vector<Step>& steps, bool last,
                                                        BlameContext blame) const {
  StageEnd end;
  for (const Step& step : steps) {
    job->steps.push_back({stage + ": " + step.name, step.seconds, ""});
    if (step.ok) continue;
    blame.headers_are_real = stage != "compat";
    blame.is_cuda = step.name.starts_with("nvcc");
    const auto errors = ParseErrors(step.output);
    if (!last && step.error == BuildError::kNone && WhoIsToBlame(errors, blame) == Blame::kUnsure) {
      end.climb = true;
      if (!errors.empty()) {
        const Diagnostic& d = errors.front();
        job->steps.back().note =
            ElideMiddle(fmt::format("{}:{}: {}", d.file, d.line, d.message), 400);
      }
    }
    // An error with a line of the user's is worth more than one without.
    const bool has_line = std::any_of(errors.begin(), errors.end(),
                                      [](const Diagnostic& d) { return IsUserFile(d.file); });
    if (!end.failed || has_line) end.failed = &step;
  }
  return end;
}

Result<BuildOutcome> ExtensionBuilder::LinkStage(Job* job, const ExtensionStage& setup,
                                                 const std::string& stage,
                                                 const std::string& support) {
  Flags objects = {"main.o"};
  if (!job->request.cuda_sources.empty()) objects.push_back("cuda.o");
  if (stage != "full") objects.push_back(support);
  DAVINCI_ASSIGN_OR_RETURN(const std::string stubs, StubLibraries(job));
  DAVINCI_ASSIGN_OR_RETURN(const Step linked,
                           RunTool(job, "link", LinkCommand(setup, objects, job->ldflags, stubs)));
  job->steps.push_back({stage + ": link", linked.seconds, ""});
  BuildOutcome out;
  if (linked.ok) {
    out.path = (job->dir / (job->request.name + ".so")).string();
    out.module_name = job->request.name;
    out.steps = job->steps;
  } else {
    out = job->FailFromTool(linked);
  }
  out.stage = stage;
  return out;
}

Result<BuildOutcome> ExtensionBuilder::BuildExtension(Job* job) {
  const BuildRequest& request = job->request;
  const bool with_cuda = request.with_cuda || !request.cuda_sources.empty();
  if (const auto why = WhyNoExtensions(with_cuda)) return job->Fail(BuildError::kUnavailable, *why);

  std::string everything;
  for (const auto& s : request.cpp_sources) everything += s + "\n";
  for (const auto& s : request.cuda_sources) everything += s + "\n";
  const SourceScan scan = ScanSource(everything, CompatHeaderNames());
  const ExtensionSources sources = SourcesOf(request);
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(job->dir / "main.cpp", sources.main_cpp, Durability::kFastest));
  if (!sources.cuda_cu.empty())
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(job->dir / "cuda.cu", sources.cuda_cu, Durability::kFastest));

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
    const bool thin = stage == "compat";
    DAVINCI_ASSIGN_OR_RETURN(Flags includes, WriteStageHeaders(*job, stage, scan));
    const ExtensionStage setup{request,
                               options_.toolchain,
                               with_cuda,
                               thin,
                               std::move(includes),
                               with_cuda && !thin ? (compat_dir_ / "cuda_libraries").string() : ""};
    DAVINCI_ASSIGN_OR_RETURN(const auto steps, CompileStage(job, setup, thin));
    const StageEnd end = EndOfStage(job, stage, steps, stage == ladder.back(), blame);
    if (end.climb) continue;
    if (!end.failed) return LinkStage(job, setup, stage, support);
    BuildOutcome out = job->FailFromTool(*end.failed);
    out.stage = stage;
    return out;
  }
  return Internal("the build ladder ended without a result");
}

}  // namespace davinci::build
