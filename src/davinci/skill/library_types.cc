#include "davinci/skill/library_types.h"

#include <fmt/format.h>

#include <charconv>

namespace davinci::skill {

Result<Moment> ParseMoment(std::string_view text) {
  if (text == "now") return Moment{};
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, Moment::Kind>("step:", Moment::Kind::kStep),
        {"event:", Moment::Kind::kEvent}}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    Moment moment{kind, 0};
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), moment.number);
    if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty())
      return moment;
  }
  return InvalidArgument(fmt::format("\"{}\" is no moment; say now, step:N or event:N", text));
}

}  // namespace davinci::skill
