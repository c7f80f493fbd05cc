// Finds added tokens in a text: at each place the longest, from left to right, without overlap.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {

class AddedTokenFinder {
 public:
  // Tokens with an empty content are left out. `contents` are what is looked for, one for each
  // token (they differ from AddedToken::content where a normalizer changes it).
  void Add(const AddedToken& token, std::string_view content);

  struct Match {
    size_t begin = 0;  // with the whitespace that lstrip and rstrip take
    size_t end = 0;
    int32_t id = -1;
  };
  // Calls `piece(begin, end, id)` for every part of `text` in order, id -1 for text between tokens.
  // Special tokens are skipped with `parse_special` false.
  template <typename Piece>
  void Split(std::string_view text, bool parse_special, Piece&& piece) const {
    size_t at = 0;
    size_t search = 0;
    Match match;
    while (Next(text, parse_special, at, &search, &match)) {
      if (at < match.begin) piece(at, match.begin, int32_t{-1});
      piece(match.begin, match.end, match.id);
      at = match.end;
    }
    if (at < text.size()) piece(at, text.size(), int32_t{-1});
  }

 private:
  struct Node {
    std::map<char, uint32_t> next;
    int32_t token = -1;  // index into tokens_
  };
  bool Next(std::string_view text, bool parse_special, size_t taken, size_t* search,
            Match* match) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_ = {Node{}};
  std::array<bool, 256> first_{};  // bytes with which a token begins
};

}  // namespace davinci::text
