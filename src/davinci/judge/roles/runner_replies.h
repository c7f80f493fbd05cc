// Replies of a runner that a trial reads, a struct each: answer.ok.get<from_runner::Loaded>().
// python/davinci_worker/runner/answers.py sends them. All of it is the process's own word, and may
// have any type: reading never throws, and what is missing or of another type is the default.
// Profiles and reports go to evidence as they came, too.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace davinci::judge::from_runner {

// To `load`.
struct Loaded {
  double seconds = 0;  // of importing
};
// To `state`.
struct TookState {
  std::string matched;   // how weights were handed over: "names", "values", "shapes", "reseeded"
  nlohmann::json pairs;  // [[name, index, order of dimensions]] of those that were taken, unread
};
// To `hot`.
struct Hot {
  double ms = 0;
};
// To `profile`.
struct Profiled {
  std::optional<double> busy_ms;  // of the device
  double library_share = 0;       // of the time, in PyTorch's operators
  std::string top_operator;       // that computes; "" without one
};
// To `export`: why its calls did not run the kernel; empty where they did.
struct CalledExport {
  std::string why_reference;
};
// To `compile_only`.
struct CompiledOnly {
  struct Blocked {
    std::string reason;
    std::string detail;
  };
  std::optional<Blocked> blocked;  // by the want of a device
  bool any_size = false;           // what failed fails at any size
  bool tf32 = false;               // some kernel multiplies fp32 so
  int64_t triton = 0;              // kernel variants
  int64_t interpreted = 0;         // of these
  int64_t compiled = 0;            // native modules
};
// To `forget`.
struct Forgot {
  bool clean = false;  // nothing of it is left; false where there was no answer
  bool full = false;   // too much device memory stays allocated for another candidate
};

void from_json(const nlohmann::json& reply, Loaded& read);
void from_json(const nlohmann::json& reply, TookState& read);
void from_json(const nlohmann::json& reply, Hot& read);
void from_json(const nlohmann::json& reply, Profiled& read);
void from_json(const nlohmann::json& reply, CalledExport& read);
void from_json(const nlohmann::json& reply, CompiledOnly& read);
void from_json(const nlohmann::json& reply, Forgot& read);

}  // namespace davinci::judge::from_runner
