#include "davinci/text/added_tokens.h"

#include "davinci/base/utf8.h"
#include "davinci/text/characters.h"

namespace davinci::text {

void AddedTokenFinder::Add(const AddedToken& token, std::string_view content) {
  if (content.empty()) return;
  uint32_t node = 0;
  for (const char c : content) {
    const auto [found, made] =
        nodes_[node].next.try_emplace(c, static_cast<uint32_t>(nodes_.size()));
    node = found->second;
    if (made) nodes_.emplace_back();
  }
  first_[static_cast<uint8_t>(content[0])] = true;
  nodes_[node].token = static_cast<int32_t>(tokens_.size());
  tokens_.push_back(token);
}

bool AddedTokenFinder::Next(std::string_view text, bool parse_special, size_t taken, size_t* search,
                            Match* match) const {
  for (size_t begin = *search; begin < text.size(); ++begin) {
    if (!first_[static_cast<uint8_t>(text[begin])]) continue;
    int32_t longest = -1;
    size_t end = begin;
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto found = nodes_[node].next.find(text[at]);
      if (found == nodes_[node].next.end()) break;
      node = found->second;
      if (nodes_[node].token >= 0) longest = nodes_[node].token, end = at + 1;
    }
    if (longest < 0) continue;
    const AddedToken& token = tokens_[static_cast<size_t>(longest)];
    // A match that does not count still covers its text: shorter ones inside it are not tried.
    const size_t here = begin;
    begin = end - 1;
    if (token.special && !parse_special) continue;
    if (token.single_word && ((here > 0 && IsWord(LastCharacter(text.substr(0, here)))) ||
                              (end < text.size() && IsWord(FirstCharacter(text.substr(end))))))
      continue;
    *search = end;
    *match = {here, end, token.id};
    // A token inside whitespace that the one before took (rstrip) counts all the same, and what
    // lies between the two is text again: so `tokenizers` has it.
    if (token.lstrip) {
      while (match->begin > taken) {
        size_t previous = match->begin - 1;
        while (previous > taken && (text[previous] & 0xc0) == 0x80) --previous;
        if (!IsWhitespace(DecodeUtf8(text.substr(previous)).value)) break;
        match->begin = previous;
      }
    }
    if (token.rstrip) {
      while (match->end < text.size()) {
        const CodePoint next = DecodeUtf8(text.substr(match->end));
        if (next.bytes == 0 || !IsWhitespace(next.value)) break;
        match->end += next.bytes;
      }
    }
    return true;
  }
  *search = text.size();
  return false;
}

}  // namespace davinci::text
