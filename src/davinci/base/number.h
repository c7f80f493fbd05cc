// Whole numbers in text of others: names of files, settings, messages.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace davinci {

// The decimal number that `text` is from its first to its last byte, a '-' in front included.
// Nothing where it is anything else, or does not fit the type.
template <std::integral Integer>
std::optional<Integer> WholeNumber(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace davinci
