// Many evaluations in a row, most of them of candidates that misbehave; afterwards nothing may be
// left of any.
//
//   soak [--target cpu|cuda] [--evaluations 500] [--threads 1] [--report 50]
//
// Prints one line per `report` evaluations: living processes, descriptors, scratch folders,
// resident memory of this process. Exit status 1 when a verdict is wrong or something leaked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "leaks.h"
#include "workbench.h"

namespace {

using namespace davinci;
using namespace davinci::outcomes;

struct Kind {
  const char* name;
  std::string source;
  std::vector<Outcome> expected;
};

std::string Module(std::string_view at_import, std::string_view in_forward) {
  return fmt::format(
      "{}\n{}\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {}\n        return "
      "x * 2 + 1\n",
      kImports, at_import, in_forward);
}

// After each of them the device serves the next candidate as if nothing had been.
std::vector<Kind> DeviceKinds() {
  return {
      {"bad index",
       Module("", "torch.zeros(1, device=x.device)[torch.full((4,), 1 << 30, device=x.device)]"),
       {Outcome::kRuntimeError}},
      {"good", kGood, {Outcome::kOk}},
      {"device memory",
       Module("", "self.hoard = [torch.empty(1 << 36, device=x.device) for _ in range(64)]"),
       {Outcome::kOutOfMemory}},
  };
}

std::vector<Kind> Kinds() {
  return {
      {"good", kGood, {Outcome::kOk}},
      {"segfault", Module("", "ctypes.string_at(0)"), {Outcome::kRuntimeError}},
      {"exit", Module("", "os._exit(0)"), {Outcome::kRuntimeError}},
      {"wrong", Module("", "return x"), {Outcome::kMismatch}},
      {"good", kGood, {Outcome::kOk}},
      {"fork bomb",
       Module("for _ in range(200):\n    if os.fork() == 0:\n        time.sleep(600)", "pass"),
       {Outcome::kLoadError, Outcome::kPolicyViolation}},
      {"fork in forward",
       Module("", "os.fork()"),
       {Outcome::kRuntimeError, Outcome::kPolicyViolation}},
      {"threads",
       Module("import threading\nfor _ in range(50):\n    threading.Thread(target=time.sleep, "
              "args=(600,), "
              "daemon=True).start()",
              "pass"),
       {Outcome::kOk}},
      {"litter",
       Module("open('litter', 'wb').write(b'x' * 1000000)\nopen('/tmp/litter', 'wb').write(b'x' * "
              "1000000)",
              "pass"),
       {Outcome::kOk}},
      {"raises", Module("", "raise ValueError('no')"), {Outcome::kRuntimeError}},
      {"flood", Module("", "sys.stdout.write('x' * 1000000)"), {Outcome::kOk}},
      {"closes",
       Module("", "os.closerange(0, 256)"),
       {Outcome::kPolicyViolation, Outcome::kRuntimeError}},
      {"syntax", "class ModelNew(:\n", {Outcome::kParseError}},
      {"hang", Module("", "while True: pass"), {Outcome::kTimeout}},
      {"memory",
       Module("", "self.hoard = [torch.ones(1 << 26) for _ in range(64)]"),
       {Outcome::kOutOfMemory}},
      {"good", kGood, {Outcome::kOk}},
  };
}

struct Footprint {
  int processes = NumLiveDescendants();
  int files = NumOpenFiles();
  double memory_mib = ResidentMiB();
};

}  // namespace

int main(int argc, char** argv) {
  int evaluations = 500;
  std::string target = "cpu";
  int num_threads = 1;
  int report = 50;
  CLI::App app{
      "Many evaluations in a row, most of candidates that misbehave; then nothing is left."};
  app.add_option("--target", target)->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
  app.add_option("--evaluations", evaluations)
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--threads", num_threads, "evaluations in flight")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--report", report, "a line for each so many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  // CLI11 takes the last word first.
  std::vector<std::string> words(argv + 1, argv + argc);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  AdoptOrphans();
  auto bench = Workbench::Create(target == "cuda" ? Target::kCuda : Target::kCpu);
  if (!bench.ok()) {
    fmt::print(stderr, "soak: {}\n", bench.status().ToString());
    return 2;
  }
  std::vector<Kind> kinds = Kinds();
  if (target == "cuda") std::ranges::move(DeviceKinds(), std::back_inserter(kinds));
  if (auto warm = (*bench)->Judge(kGood); !warm.ok()) {
    fmt::print(stderr, "soak: {}\n", warm.status().ToString());
    return 2;
  }
  const Footprint before;
  Stopwatch watch;
  std::atomic<int> next{0};
  std::mutex mutex;  // guards everything below
  int faults = 0;
  int done = 0;
  std::map<std::string, double> slowest;
  auto work = [&] {
    for (int i = next++; i < evaluations; i = next++) {
      const Kind& kind = kinds[static_cast<size_t>(i) % kinds.size()];
      Stopwatch one;
      auto evaluation = (*bench)->Judge(kind.source);
      std::lock_guard lock(mutex);
      slowest[kind.name] = std::max(slowest[kind.name], one.Seconds());
      const bool right = evaluation.ok() && std::find(kind.expected.begin(), kind.expected.end(),
                                                      evaluation->outcome) != kind.expected.end();
      if (!right) {
        ++faults;
        fmt::print("{}: {} was judged {}\n", i, kind.name,
                   evaluation.ok()
                       ? std::string(OutcomeName(evaluation->outcome)) + ": " + evaluation->message
                       : evaluation.status().ToString());
      }
      ++done;
      if (done % report == 0 || done == evaluations)
        fmt::print(
            "{:5} evaluations, {:6.1f} s, {} processes, {} descriptors, {} scratch folders, {:.1f} "
            "MiB\n",
            done, watch.Seconds(), NumLiveDescendants(), NumOpenFiles(),
            Entries((*bench)->scratch()).size(), ResidentMiB());
      std::fflush(stdout);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < num_threads; ++i) threads.emplace_back(work);
  }
  (*bench)->LetGo();
  // The last children die on their own time, within moments where the machine is idle.
  Footprint after;
  for (int i = 0; i < 1200 && after.processes > before.processes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = Footprint();
  }
  const size_t folders = Entries((*bench)->scratch()).size();
  (*bench)->Close();
  std::vector<std::string> left = LiveDescendants();
  for (int i = 0; i < 1200 && !left.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    left = LiveDescendants();
  }
  for (const auto& [name, seconds] : slowest) fmt::print("slowest {:16} {:.2f} s\n", name, seconds);
  fmt::print(
      "{} evaluations in {:.1f} s, {} wrong verdicts; leaked {} processes, {} descriptors, {} "
      "scratch folders; resident "
      "memory {:.1f} -> {:.1f} MiB; {} processes after the end\n",
      evaluations, watch.Seconds(), faults, after.processes - before.processes,
      after.files - before.files, folders, before.memory_mib, after.memory_mib, left.size());
  for (const std::string& process : left) fmt::print("left: {}\n", process);
  const bool leaked = after.processes > before.processes || after.files > before.files ||
                      folders > 0 || !left.empty();
  return faults > 0 || leaked ? 1 : 0;
}
