// OpOf: the name under which a role receives a request, of either role's variant of structs.
#pragma once

#include <string_view>
#include <variant>

namespace davinci::judge {

template <typename... Requests>
std::string_view OpOf(const std::variant<Requests...>& request) {
  return std::visit([](const auto& asked) { return std::string_view(asked.kOp); }, request);
}

}  // namespace davinci::judge
