// Tokens that keep a reply inside a grammar, for the engine to draw from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "davinci/embedded/byte_grammar.h"
#include "davinci/model/engine.h"
#include "davinci/text/tokenizer.h"

namespace davinci::embedded {

// The bytes of a tokenizer's tokens in order, so that tokens with a common beginning are walked
// once. Special tokens are left out. Immutable.
class TokenTable {
 public:
  explicit TokenTable(const text::Tokenizer& tokenizer);

  struct Token {
    std::string_view bytes;  // the tokenizer's
    model::TokenId id = 0;
    size_t shared = 0;  // bytes in common with the token before
  };
  const std::vector<Token>& tokens() const { return tokens_; }
  std::string_view BytesOf(model::TokenId id) const {
    return tokenizer_.IsSpecial(id) ? std::string_view() : tokenizer_.TokenBytes(id);
  }
  size_t longest() const { return longest_; }
  size_t vocab() const { return vocab_; }
  // Tokens that are enough for `text`; 0: some byte has none.
  int Count(std::string_view text) const;

 private:
  const text::Tokenizer tokenizer_;  // owns the bytes
  std::vector<Token> tokens_;
  std::unordered_map<std::string_view, model::TokenId> by_bytes_;
  size_t longest_ = 0, vocab_ = 0;
};

// A reply that is bound by a grammar. It ends with a stop token behind the grammar's end, and
// before its tokens are spent: when few are left, only what still leads to the end is allowed.
// Where fewer are given than the shortest reply takes, the reply is cut.
class TokenMask final : public model::TokenFilter {
 public:
  TokenMask(std::shared_ptr<const TokenTable> table, ByteGrammar grammar,
            std::vector<model::TokenId> stop_tokens);

  std::span<const uint64_t> Allowed(int64_t remaining) override;
  void Accept(model::TokenId token) override;

 private:
  struct Hash {
    size_t operator()(const ByteGrammar::State& state) const {
      return (state.node * 0x9e3779b97f4a7c15ull + state.count) ^ (state.used * 0xd1b54a32d192ed03);
    }
  };
  struct Entry {
    std::vector<uint64_t> bits;
    int most_needed = 0;  // tokens behind the one that is drawn, at most
  };

  // Tokens from `state` to the end of the reply, its stop token included.
  int Needed(const ByteGrammar::State& state);
  // `most`: of tokens that may be needed behind the one that is drawn.
  Entry Compute(const ByteGrammar::State& state, int64_t most);

  const std::shared_ptr<const TokenTable> table_;
  const ByteGrammar grammar_;
  const std::vector<model::TokenId> stop_tokens_;
  ByteGrammar::State state_;
  std::unordered_map<ByteGrammar::State, Entry, Hash> entries_;
  std::unordered_map<ByteGrammar::State, int, Hash> needed_;
  Entry narrow_;  // of the latest call, where few tokens are left
};

}  // namespace davinci::embedded
