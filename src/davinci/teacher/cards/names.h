// Invented names of operators: made-up words, words of synth/corpus.toml, and compounds in the
// styles of PyTorch's own names ("gated_blend"). None is a name of PyTorch. Pure.
#pragma once

#include <string>
#include <string_view>

#include "davinci/base/rng.h"
#include "davinci/synth/variation.h"

namespace davinci::teacher {

// A name in snake case that `text` does not have.
std::string InventedName(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng);
// One in PyTorch's styles alone.
std::string InventedCompound(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng);

// One of an operator that moves elements, of words that PyTorch's have: "grid_shuffle". What it
// does is not what they do.
std::string InventedMove(const synth::Corpus& corpus, std::string_view text, SplitMix64* rng);

}  // namespace davinci::teacher
