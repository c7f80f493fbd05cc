#include "davinci/import/size_expression.h"

#include <algorithm>
#include <cctype>

namespace davinci::import {
namespace {

constexpr size_t kMostTerms = 64, kMostFactors = 16;
constexpr int64_t kMost = int64_t{1} << 40;  // of a number, a product and a sum
constexpr std::string_view kOpen = "\u27e6", kClose = "\u27e7";

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A number or a symbol at the beginning of the text, which is cut off.
bool TakeFactor(std::string_view* text, const std::vector<TracedSymbol>& symbols, SizeTerm* term) {
  size_t end = 0;
  while (end < text->size() && IsWordChar((*text)[end])) ++end;
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  if (word.empty()) return false;
  if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
    int64_t number = 0;
    for (const char c : word) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
      number = number * 10 + (c - '0');
      if (number > kMost) return false;
    }
    if (number != 0 && std::abs(term->factor) > kMost / number) return false;
    term->factor *= number;
    return true;
  }
  const auto found = std::find_if(symbols.begin(), symbols.end(),
                                  [&](const TracedSymbol& symbol) { return symbol.name == word; });
  if (found == symbols.end() || term->symbols.size() >= kMostFactors) return false;
  term->symbols.push_back(static_cast<size_t>(found - symbols.begin()));
  return true;
}

}  // namespace

std::optional<SizeExpression> ParseSize(std::string_view text,
                                        const std::vector<TracedSymbol>& symbols) {
  SizeExpression size;
  const auto take = [&](std::string_view what) {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
  };
  SizeTerm term;
  term.factor = take("-") ? -1 : 1;
  while (size.size() < kMostTerms) {
    do {
      if (!TakeFactor(&text, symbols, &term)) return std::nullopt;
    } while (take("*"));
    size.push_back(std::move(term));
    if (text.empty()) return size;
    term = {};
    if (take(" - "))
      term.factor = -1;
    else if (!take(" + "))
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> SizeAt(const SizeExpression& size,
                              const std::vector<TracedSymbol>& symbols) {
  int64_t sum = 0;
  for (const SizeTerm& term : size) {
    int64_t product = term.factor;
    for (const size_t symbol : term.symbols) {
      const int64_t value = symbols[symbol].value;
      if (value != 0 && std::abs(product) > kMost / value) return std::nullopt;
      product *= value;
    }
    sum += product;
    if (std::abs(sum) > kMost) return std::nullopt;
  }
  return sum;
}

std::optional<std::string> WithSizes(
    std::string_view text, const std::vector<TracedSymbol>& symbols,
    const std::function<std::string(const SizeExpression&)>& replace) {
  std::string made;
  for (size_t at = text.find(kOpen); at != std::string_view::npos; at = text.find(kOpen)) {
    const size_t end = text.find(kClose, at);
    if (end == std::string_view::npos) return std::nullopt;
    const size_t begin = at + kOpen.size();
    const auto size = ParseSize(text.substr(begin, end - begin), symbols);
    if (!size) return std::nullopt;
    made += text.substr(0, at);
    made += replace(*size);
    text.remove_prefix(end + kClose.size());
  }
  return made.append(text);
}

}  // namespace davinci::import
