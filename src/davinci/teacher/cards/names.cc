#include "davinci/teacher/cards/names.h"

#include <vector>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

const std::vector<std::string>& Syllables() {
  static const std::vector<std::string> all = {
      "ra",  "mo",  "ti",  "ku",  "ve",   "lo",  "sen", "dri", "pol", "mar", "zen", "tor", "fi",
      "gan", "bel", "cor", "dax", "lum",  "nix", "pra", "qui", "sol", "tra", "vex", "wil", "yen",
      "jor", "hal", "bri", "cla", "ster", "plo", "gri", "sha", "umb", "ost", "erk", "ino"};
  return all;
}

template <typename T>
const T& OneOf(const std::vector<T>& from, SplitMix64* rng) {
  return from[rng->Below(from.size())];
}

std::string MadeUpWord(SplitMix64* rng) {
  std::string name;
  for (size_t n = 2 + rng->Below(2); n > 0; --n) name += OneOf(Syllables(), rng);
  return name;
}

std::string Compound(const synth::Corpus& corpus, SplitMix64* rng) {
  const std::vector<std::string>& qualities = corpus.lists.at("quality");
  const std::string& quality = OneOf(qualities, rng);
  const std::string& action = OneOf(corpus.lists.at("action"), rng);
  const double style = rng->Uniform();
  if (style < 0.5) return quality + "_" + action;
  if (style < 0.7) return quality + action;
  if (style < 0.85) return quality + "_" + action + OneOf(corpus.lists.at("ending"), rng);
  return OneOf(qualities, rng) + "_" + quality + "_" + action;
}

std::string Move(const synth::Corpus& corpus, SplitMix64* rng) {
  const std::string& moved = OneOf(corpus.lists.at("moved"), rng);
  const std::string& mover = OneOf(corpus.lists.at("mover"), rng);
  return moved + (rng->Uniform() < 0.7 ? "_" : "") + mover;
}

template <typename Draw>
std::string NotIn(std::string_view text, const Draw& draw) {
  for (;;) {
    std::string name = draw();
    if (!synth::HasWord(text, name) && !synth::HasWord(text, synth::CamelCase(name))) return name;
  }
}

}  // namespace

std::string InventedCompound(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng) {
  return NotIn(text, [&] { return Compound(corpus, rng); });
}

std::string InventedMove(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng) {
  return NotIn(text, [&] { return Move(corpus, rng); });
}

std::string InventedName(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng) {
  return NotIn(text, [&] {
    const double kind = rng->Uniform();
    if (kind < 0.5) return MadeUpWord(rng);
    if (kind < 0.65)
      return synth::Replaced(
          OneOf(corpus.lists.at("adjective"), rng) + "_" + OneOf(corpus.lists.at("thing"), rng),
          "-", "_");
    return Compound(corpus, rng);
  });
}

}  // namespace davinci::teacher
