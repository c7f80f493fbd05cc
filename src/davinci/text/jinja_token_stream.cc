#include "davinci/text/jinja_token_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace davinci::text::jinja {
namespace {

constexpr int kDeepestBlock = 100;

}  // namespace

const Token& TokenStream::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token TokenStream::Next() {
  Token token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::IsOperator(std::string_view text, size_t ahead) const {
  return Peek(ahead).kind == Token::Kind::kOperator && Peek(ahead).text == text;
}

bool TokenStream::IsName(std::string_view text, size_t ahead) const {
  return Peek(ahead).kind == Token::Kind::kName && Peek(ahead).text == text;
}

bool TokenStream::TakeOperator(std::string_view text) {
  if (!IsOperator(text)) return false;
  Next();
  return true;
}

bool TokenStream::TakeName(std::string_view text) {
  if (!IsName(text)) return false;
  Next();
  return true;
}

void TokenStream::ExpectOperator(std::string_view text) {
  if (!TakeOperator(text))
    Fail(Peek().line, fmt::format("expected '{}', found '{}'", text, Peek().text));
}

std::string TokenStream::ExpectName(std::string_view what) {
  if (Peek().kind != Token::Kind::kName)
    Fail(Peek().line, fmt::format("expected {}, found '{}'", what, Peek().text));
  return Next().text;
}

void TokenStream::ExpectEnd() {
  if (Peek().kind != Token::Kind::kEnd)
    Fail(Peek().line, fmt::format("unexpected '{}'", Peek().text));
  Next();
}

TokenStream::Level::Level(TokenStream* stream) : stream_(stream) {
  if (++stream_->depth_ > kDeepestBlock) Fail(stream_->Peek().line, "nested too deeply");
}

}  // namespace davinci::text::jinja
