// davinci-build: requests as JSON lines on stdin, outcomes as JSON lines on stdout, in order. For
// tests and benchmarks.
//   davinci-build [--python PATH] [--cache DIR] [--stage compat|slim|full] [--arch sm_90] [--probe]
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/json_text.h"
#include "davinci/build/build_service.h"

int main(int argc, char** argv) {
  using davinci::build::BuildService;
  davinci::build::BuildServiceOptions options;
  bool probe = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--python" && has_value)
      options.python = argv[++i];
    else if (flag == "--cache" && has_value)
      options.cache_dir = argv[++i];
    else if (flag == "--stage" && has_value)
      options.first_stage = argv[++i];
    else if (flag == "--arch" && has_value)
      options.cuda_arch = argv[++i];
    else if (flag == "--probe")
      probe = true;
    else {
      std::cerr << "usage: davinci-build [--python PATH] [--cache DIR] [--stage STAGE] [--arch "
                   "sm_90] [--probe]\n";
      return 2;
    }
  }
  options.warm_up = !probe;
  auto service = BuildService::Create(options);
  if (!service.ok()) {
    std::cerr << service.status().ToString() << "\n";
    return 1;
  }
  if (probe) {
    const auto& t = (*service)->toolchain();
    for (const auto& [name, tool] :
         {std::pair{"c++", t.cxx}, {"nvcc", t.nvcc}, {"ptxas", t.ptxas}, {"nvrtc", t.nvrtc}}) {
      std::cout << name << ": "
                << (tool.found ? tool.path + " (" + tool.version + ")" : "missing; " + tool.remedy)
                << "\n";
    }
    std::cout << "python: " << t.python.python << " " << t.python.version << ", torch "
              << t.python.torch_version << " " << t.python.torch_std << "\ncpu: " << t.cpu_model
              << " " << t.cpu_identity << "\n";
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    auto outcome = (*service)->BuildJson(line);
    nlohmann::json out;
    if (outcome.ok())
      out = ToJson(*outcome);
    else
      out = {{"ok", false},
             {"error", {{"kind", "judge_error"}, {"message", outcome.status().ToString()}}}};
    std::cout << davinci::JsonText(out) << '\n' << std::flush;
  }
  return 0;
}
