#include "davinci/teacher/semantics/meaning.h"

namespace davinci::teacher {

std::optional<int64_t> Integral(const Meaning& value) {
  if (value.IsSequence()) return value.items.size() == 1 ? Integral(value.items[0]) : std::nullopt;
  if (value.kind != Meaning::Kind::kNumber || !value.number) return std::nullopt;
  return static_cast<int64_t>(*value.number);
}

std::optional<int64_t> WholeNumber(const Meaning& value) {
  if (value.IsSequence()) {
    for (const Meaning& item : value.items)
      if (item.number != value.items[0].number) return std::nullopt;
    return value.items.empty() ? std::nullopt : WholeNumber(value.items[0]);
  }
  if (!value.number) return std::nullopt;
  return static_cast<int64_t>(*value.number);
}

Meanings Spread(const Meanings& arguments, size_t skipped) {
  Meanings all(arguments.begin() + static_cast<std::ptrdiff_t>(skipped), arguments.end());
  if (all.size() == 1 && all[0].IsSequence()) return Meanings(all[0].items);
  return all;
}

}  // namespace davinci::teacher
