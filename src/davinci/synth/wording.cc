#include "davinci/synth/wording.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string_view>

#include "davinci/synth/table_reader.h"

namespace davinci::synth {
namespace {

bool IsVowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

// As people shorten words: "sequence" is "seq" or "sqnc".
std::string Shortened(const std::string& word, SplitMix64* rng) {
  if (word.size() < 5) return word;
  if (rng->Below(2) == 0) return word.substr(0, 2 + rng->Below(3));
  std::string text(1, word[0]);
  for (size_t i = 1; i < word.size() && text.size() < 4; ++i)
    if (!IsVowel(word[i]) && word[i] != text.back()) text += word[i];
  return text;
}

// Returns the words of a text that have four letters or more, in lower case.
std::vector<std::string> WordsOf(std::string_view text) {
  constexpr size_t kFewestLetters = 4;
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : '\0';
    if (std::isalpha(c)) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (word.size() >= kFewestLetters) words.push_back(word);
    word.clear();
  }
  return words;
}

}  // namespace

std::string Wording::AnyText() {
  std::string text;
  for (size_t left = 3 + rng_->Below(12); left > 0; --left) {
    const std::string word = Chance(0.1)   ? std::to_string(rng_->Below(Chance(0.5) ? 16 : 1024))
                             : Chance(0.2) ? InventedName()
                                           : corpus_.words[rng_->Below(corpus_.words.size())];
    text += text.empty() ? word : (Chance(0.1) ? ", " : " ") + word;
  }
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + (Chance(0.7) ? "." : "");
}

std::string Wording::Text(const std::string& list) {
  if ((list == "sentence" || list == "comment") && Chance(0.3)) return AnyText();
  const auto& texts = corpus_.lists.at(list);
  return Filled(texts[rng_->Below(texts.size())]);
}

std::string Wording::Filled(const std::string& form) {
  std::string text;
  for (size_t i = 0; i < form.size();) {
    const size_t end = form[i] == '{' ? form.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      text += form[i++];
      continue;
    }
    const std::string word = form.substr(i + 1, end - i - 1);
    text += word == "number"  ? std::to_string(1 + rng_->Below(Chance(0.7) ? 16 : 1024))
            : word == "entry" ? entry_
                              : Text(word);
    i = end + 1;
  }
  return text;
}

std::string Wording::InventedName() {
  std::string name;
  if (Chance(0.2)) {
    for (size_t left = 2 + rng_->Below(5); left > 0; --left)
      name += static_cast<char>('a' + rng_->Below(26));
    return name;
  }
  for (size_t left = 1 + rng_->Below(3); left > 0; --left) {
    const std::string& word = corpus_.words[rng_->Below(corpus_.words.size())];
    const size_t begin = Chance(0.5) ? 0 : rng_->Below(word.size() - 1);
    name += (name.empty() || Chance(0.75) ? "" : "_") + word.substr(begin, 2 + rng_->Below(6));
  }
  return name;
}

std::string Wording::Name() {
  const auto& words = corpus_.lists.at("attribute");
  const auto& parts = corpus_.lists.at("name");
  const auto part = [&] { return parts[rng_->Below(parts.size())]; };
  if (Chance(0.45)) return InventedName();
  const double kind = rng_->Uniform();
  std::string name;
  if (kind < 0.35) {
    name = words[rng_->Below(words.size())];
  } else if (kind < 0.6) {
    name = part() + "_" + part();
  } else if (kind < 0.7) {
    name = part();
  } else if (kind < 0.78) {
    std::string second = part();
    second[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(second[0])));
    name = part() + second;
  } else if (kind < 0.88) {
    name = Shortened(part(), rng_);
  } else if (kind < 0.95) {
    name = Shortened(part(), rng_) + "_" + Shortened(part(), rng_);
  } else {
    name = std::string(1, static_cast<char>('a' + rng_->Below(26)));
  }
  if (Chance(0.15)) name += fmt::format("{}{}", Chance(0.5) ? "_" : "", 1 + rng_->Below(9));
  return name;
}

Result<Corpus> LoadCorpus(const std::filesystem::path& folder) {
  Corpus corpus;
  DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(folder / "corpus.toml"));
  TableReader table(tree);
  for (const std::string& key : table.Keys()) corpus.lists[key] = table.Texts(key);
  for (const char* key :
       {"sentence", "comment", "tail", "head", "noun", "thing", "verb", "adjective", "place",
        "attribute", "name", "quality", "action", "ending", "moved", "mover"})
    if (corpus.lists[key].empty()) return table.Error(fmt::format("{} is missing", key));
  DAVINCI_RETURN_IF_ERROR(table.Finish());
  std::set<std::string> words;
  for (const auto& [key, texts] : corpus.lists)
    for (const std::string& text : texts)
      for (const std::string& word : WordsOf(text)) words.insert(word);
  corpus.words.assign(words.begin(), words.end());
  return corpus;
}

}  // namespace davinci::synth
