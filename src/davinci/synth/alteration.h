// Altered() makes another task of a module that somebody wrote: it exchanges functions, numbers,
// operators and steps, and leaves the rest of the text. The result may fail when it runs, so the
// caller traces it. Pure: the same text and seed give the same text.
//
// | edit      | change                                                                      |
// |-----------|-----------------------------------------------------------------------------|
// | exchange  | a spelling of a group of synth/exchanges.toml becomes another of the group  |
// | size      | a number of the file's own level, or of get_init_inputs, is another         |
// | constant  | a number with a point inside the class is another                           |
// | operator  | + - * / between values become each other                                    |
// | left out  | a step `x = f(x)` is missing                                                |
// | inserted  | a step follows another: an activation, a factor, a term                     |
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::synth {

// synth/exchanges.toml: texts of a group stand for each other; `step`: forms of inserted steps,
// with {x} for the value.
struct Exchanges {
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> steps;
};
Result<Exchanges> LoadExchanges(const std::filesystem::path& folder);

// `source` with one to four edits at places that `seed` picks; fewer where it has no places.
std::string Altered(const Exchanges& exchanges, const std::string& source, uint64_t seed);

}  // namespace davinci::synth
