// "Did you mean …?": the nearest known name to one that was mistyped.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace davinci {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. Compares bytes; ASCII
// letters that differ only in case are equal.
size_t EditDistance(std::string_view a, std::string_view b);

// The known name closest to `name`, or nothing when none is close (more than a third of the letters
// differ). Ties go to the earlier name.
std::optional<std::string> NearestName(std::string_view name, std::span<const std::string> known);

// " (did you mean \"stream\"?)" or "": ready to be appended to an error message.
std::string DidYouMean(std::string_view name, std::span<const std::string> known);

}  // namespace davinci
