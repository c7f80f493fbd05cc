// Runs a fuzz target when libFuzzer is not linked: every seed of a corpus as it is, then seeded
// mutations of the seeds, the same on every machine and in every run.
//
//   fuzz_smoke <target> <corpus folder or file>... [--inputs N] [--seconds S] [--seed X]
//
// Stops after N inputs, or after S seconds where S is given (it says which). A crash, or an input
// that takes longer than kHangSeconds, writes the input to crash-fuzz_<target> and fails; the
// target and that file as the only arguments reproduce it.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "smoke_targets.h"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kHangSeconds = 5;
constexpr size_t kLargestInput_bytes = 64 << 10;

FuzzTarget target = nullptr;
// What a signal handler may touch: the input being tried, and where to leave it.
const char* current_data = nullptr;
size_t current_size = 0;
char crash_path[256];

void OnFatal(int signal) {
  const int fd = ::open(crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd >= 0) {
    if (::write(fd, current_data, current_size) < 0) ::_exit(3);
    ::close(fd);
  }
  constexpr std::string_view kHang = "fuzz: an input takes too long, kept as ";
  constexpr std::string_view kCrash = "fuzz: an input crashes, kept as ";
  const std::string_view what = signal == SIGALRM ? kHang : kCrash;
  if (::write(2, what.data(), what.size()) < 0 ||
      ::write(2, crash_path, std::strlen(crash_path)) < 0 || ::write(2, "\n", 1) < 0) {
    ::_exit(3);
  }
  ::signal(signal, SIG_DFL);
  if (signal == SIGALRM) ::_exit(1);
  ::raise(signal);
}

void Try(const std::string& input) {
  current_data = input.data();
  current_size = input.size();
  ::alarm(kHangSeconds);
  target(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  ::alarm(0);
}

// Text formats break at punctuation, at the limits of numbers and at bytes that are no text.
constexpr std::array<std::string_view, 36> kTokens = {"\"",
                                                      "\"\"\"",
                                                      "'",
                                                      "[",
                                                      "]",
                                                      "[[",
                                                      "]]",
                                                      "{",
                                                      "}",
                                                      "=",
                                                      ",",
                                                      ".",
                                                      "\n",
                                                      "\r\n",
                                                      "#",
                                                      "\\",
                                                      ":",
                                                      "-",
                                                      "+",
                                                      "0",
                                                      "-1",
                                                      "1e308",
                                                      "nan",
                                                      "inf",
                                                      "0x",
                                                      "null",
                                                      "true",
                                                      "false",
                                                      "\xff",
                                                      "\xc3",
                                                      "\xef\xbb\xbf",
                                                      "\\u0000",
                                                      "9223372036854775808",
                                                      "2038-01-19",
                                                      "__proto__",
                                                      "\x1b"};

std::string Mutate(std::string input, const std::vector<std::string>& seeds,
                   davinci::SplitMix64& rng) {
  const auto position = [&](size_t size) { return static_cast<size_t>(rng.Below(size + 1)); };
  const size_t edits = 1 + rng.Below(6);
  for (size_t i = 0; i < edits; ++i) {
    const size_t at = position(input.size());
    const size_t length = std::min<size_t>(input.size() - at, rng.Below(16));
    switch (rng.Below(8)) {
      case 0:  // flip a bit
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << rng.Below(8)));
        break;
      case 1:  // any byte
        if (at < input.size()) input[at] = static_cast<char>(rng.Below(256));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, kTokens[rng.Below(kTokens.size())]);
        break;
      case 4:  // repeat a piece, sometimes often: nesting and long tokens
        for (uint64_t n = rng.Below(10) == 0 ? 200 : 1; n > 0; --n)
          input.insert(at, input.substr(at, length));
        break;
      case 5:  // cut
        input.resize(at);
        break;
      case 6: {  // tail of another seed
        const std::string& other = seeds[rng.Below(seeds.size())];
        input = input.substr(0, at) + other.substr(position(other.size()));
        break;
      }
      default: {  // move a line
        const size_t start = input.rfind('\n', at);
        const size_t end = input.find('\n', at);
        if (start != std::string::npos && end != std::string::npos && end > start) {
          const std::string line = input.substr(start, end - start);
          input.erase(start, line.size());
          input.insert(position(input.size()), line);
        }
        break;
      }
    }
    if (input.size() > kLargestInput_bytes) input.resize(kLargestInput_bytes);
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t num_inputs = 20000;
  double seconds = std::numeric_limits<double>::infinity();
  uint64_t seed = 1;
  std::vector<std::string> seeds;
  const std::string name = argc > 1 ? argv[1] : "";
  const auto found = FuzzTargets().find(name);
  if (found == FuzzTargets().end()) {
    std::fprintf(stderr, "fuzz: no target \"%s\"; there are:", name.c_str());
    for (const auto& [known, _] : FuzzTargets()) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  target = found->second;
  for (int i = 2; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const bool has_value = i + 1 < argc;
    if (arg == "--inputs" && has_value) {
      num_inputs = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--seconds" && has_value) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (arg == "--seed" && has_value) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      std::vector<fs::path> files{fs::path(arg)};
      if (fs::is_directory(files[0])) {
        auto listed = davinci::ListFiles(files[0], "", /*recursive=*/true);
        if (!listed.ok()) {
          std::fprintf(stderr, "fuzz: %s\n", listed.status().ToString().c_str());
          return 2;
        }
        files = *listed;
      } else {
        num_inputs = 0;  // a single file is a reproduction
      }
      for (const fs::path& file : files) {
        auto content = davinci::ReadFile(file);
        if (!content.ok()) {
          std::fprintf(stderr, "fuzz: %s\n", content.status().ToString().c_str());
          return 2;
        }
        seeds.push_back(std::move(content).value());
      }
    }
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "fuzz: the corpus is empty\n");
    return 2;
  }
  std::snprintf(crash_path, sizeof(crash_path), "crash-fuzz_%s", name.c_str());
  // A parser that recurses too deep dies of a full stack: the handler needs one of its own.
  static char handler_stack[64 << 10];
  const stack_t alternative{handler_stack, 0, sizeof(handler_stack)};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = OnFatal;
  action.sa_flags = SA_ONSTACK;
#ifdef __SANITIZE_ADDRESS__
  const std::vector<int> signals = {SIGABRT, SIGALRM};  // the sanitizer reports the others better
#else
  const std::vector<int> signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
#endif
  for (int signal : signals) ::sigaction(signal, &action, nullptr);

  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seeds.emplace_back();
  for (const std::string& input : seeds) Try(input);
  davinci::SplitMix64 rng(seed);
  uint64_t done = 0;
  while (done < num_inputs && elapsed() < seconds) {
    Try(Mutate(seeds[rng.Below(seeds.size())], seeds, rng));
    ++done;
  }
  std::printf("%zu seeds and %llu of %llu mutations in %.1f s, no crash\n", seeds.size(),
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(num_inputs),
              elapsed());
  return 0;
}
