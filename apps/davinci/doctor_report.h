// What `davinci doctor` found, as a value: rendering and the verdict are pure, probing is
// doctor_command.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::app {

inline constexpr double kGiB = 1024.0 * 1024 * 1024;

enum class CheckState {
  kOk,
  kWarn,     // works, but slower, less isolated or with noisier numbers
  kMissing,  // something cannot be done on this machine
};
std::string_view CheckStateName(CheckState state);  // "ok", "warn", "missing"

struct Check {
  std::string section;  // "python", "sandbox", …; checks of one section stand together
  std::string name;
  CheckState state = CheckState::kOk;
  std::string value;   // what is there, or what is missing, in a few words
  std::string remedy;  // what mends it: a command, or a sentence that holds one; empty with kOk
  bool needed_for_cpu = false;   // kMissing here means that `judge --target cpu` cannot work
  bool needed_for_cuda = false;  // the same for `judge --target cuda` on a device
  nlohmann::json details;        // for programs; null: none
};

struct DoctorReport {
  std::vector<Check> checks;
  bool no_device = false;  // `judge --target cuda` checks then as far as that goes without one

  bool CpuWorks() const;
  bool CudaWorks() const;
  bool ChecksCompileOnly() const { return no_device && CpuWorks(); }
  // 0: `judge --target cpu` can work; 1: it cannot.
  int ExitCode() const { return CpuWorks() ? 0 : 1; }
};

// Sections with one line per check and the remedy below it, then what can be judged here. `width`
// 0: unlimited.
std::string RenderDoctor(const DoctorReport& report, bool color, size_t width);

// {"schema": "davinci.doctor/1", "targets": {"cpu": true, "cuda": false,
// "cuda_compile_only": true}, "checks": [{section, name, state, value, remedy, details}]}
nlohmann::json ToJson(const DoctorReport& report);

}  // namespace davinci::app
