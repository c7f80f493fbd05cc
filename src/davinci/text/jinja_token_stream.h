// The tokens of a template as its parsers take them, and how deep they have gone. Internal to
// jinja*.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/text/jinja_lexer.h"

namespace davinci::text::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // The last token stays, however often it is taken.
  const Token& Peek(size_t ahead = 0) const;
  Token Next();
  bool IsOperator(std::string_view text, size_t ahead = 0) const;
  bool IsName(std::string_view text, size_t ahead = 0) const;
  // Take it, if it is there.
  bool TakeOperator(std::string_view text);
  bool TakeName(std::string_view text);
  // JinjaError where something else is there.
  void ExpectOperator(std::string_view text);
  std::string ExpectName(std::string_view what);
  void ExpectEnd();

  // One more block or expression inside another, as long as it lives. Recursion is bounded: a
  // hostile template must not use up the stack.
  class Level {
   public:
    explicit Level(TokenStream* stream);
    ~Level() { --stream_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TokenStream* stream_;
  };

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace davinci::text::jinja
