// One side of tokenizer_bench.py: encodes documents.json of a folder with its tokenizer.json
// whenever a line is read, and writes the processor seconds of this thread and the number of
// tokens.
#include <fmt/format.h>
#include <time.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/text/tokenizer.h"

namespace {

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc == 2 ? argv[1] : "";
  const auto tokenizer = davinci::text::Tokenizer::Load(folder);
  const auto file = davinci::ReadFile(folder + "/documents.json");
  if (!tokenizer.ok() || !file.ok()) {
    fmt::print(stderr, "tokenizer_bench FOLDER with tokenizer.json and documents.json\n");
    return 2;
  }
  const auto documents = nlohmann::json::parse(*file).get<std::vector<std::string>>();
  for (std::string line; std::getline(std::cin, line);) {
    size_t tokens = 0;
    const double start = ThreadSeconds();
    for (const std::string& document : documents) {
      const auto ids = tokenizer->Encode(document);
      if (!ids.ok()) return 3;
      tokens += ids->size();
    }
    fmt::print("{:.6f} {}\n", ThreadSeconds() - start, tokens);
    std::fflush(stdout);
  }
}
