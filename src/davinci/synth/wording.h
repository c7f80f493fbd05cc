// Texts and names as people write them around code, out of the lists of synth/corpus.toml.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/base/status.h"

namespace davinci::synth {

// Lists of synth/corpus.toml.
struct Corpus {
  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::string> words;  // of all lists, each once
};
Result<Corpus> LoadCorpus(const std::filesystem::path& folder);

class Wording {
 public:
  // All three must outlive it. `entry`: the task's class.
  Wording(const Corpus& corpus, const std::string& entry, SplitMix64* rng)
      : corpus_(corpus), entry_(entry), rng_(rng) {}

  // A text of the list. Three in ten sentences and comments are words in any order: what a text
  // around code says changes nothing.
  std::string Text(const std::string& list);
  // The name of an attribute or argument. Most are no word of a list, so that a name can only be
  // known from the task.
  std::string Name();

 private:
  bool Chance(double share) { return rng_->Uniform() < share; }
  std::string AnyText();
  // The form, its {words} replaced by texts of their lists.
  std::string Filled(const std::string& form);
  // Pieces of words put together, or letters in any order: names as they occur in no list, so that
  // they have to be read, piece by piece.
  std::string InventedName();

  const Corpus& corpus_;
  const std::string& entry_;
  SplitMix64* const rng_;
};

}  // namespace davinci::synth
