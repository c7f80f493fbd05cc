#include "davinci/score/kevin_screen.h"

#include <algorithm>
#include <array>
#include <vector>

#include "davinci/score/python_words.h"

namespace davinci::score {
namespace {

// Classes and functions of torch.nn that compute nothing.
constexpr std::array<std::string_view, 8> kHarmless = {
    "nn.Module",     "torch.nn.Module",     "nn.Parameter",  "torch.nn.Parameter",
    "nn.ModuleList", "torch.nn.ModuleList", "nn.ModuleDict", "torch.nn.ModuleDict"};

bool IsEvasion(std::string_view word) {
  return word == "try" || word == "except" || word == "pass";
}

bool IsLibraryCall(std::string_view word) {
  if (word.starts_with("F.") || word.starts_with("functional.")) return true;
  if (!word.starts_with("nn.") && !word.starts_with("torch.nn.")) return false;
  // `import torch.nn.functional as F` names a module and calls nothing.
  if (word == "torch.nn.functional" || word == "nn.functional") return false;
  // Initialisers run once, in the constructor.
  if (word.find("nn.init.") != std::string_view::npos) return false;
  return std::find(kHarmless.begin(), kHarmless.end(), word) == kHarmless.end();
}

}  // namespace

std::optional<std::string> KevinObjection(std::string_view source) {
  const std::vector<std::string> words = PythonWords(source);
  const auto evasion = std::ranges::find_if(words, IsEvasion);
  if (evasion != words.end()) return *evasion;
  // Layers made in the constructor hold weights; what counts is what forward computes with.
  const std::vector<std::string> forward = PythonWords(ForwardBodies(source));
  const auto call = std::ranges::find_if(forward, IsLibraryCall);
  return call == forward.end() ? std::nullopt : std::optional(*call);
}

}  // namespace davinci::score
