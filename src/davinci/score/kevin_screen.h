// Kevin's static rules about a candidate's source (arXiv 2507.11948): nothing is paid for torch.nn
// or functional compute in forward, nor for `try`, `except` or `pass` anywhere. Pure, total on any
// bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davinci::score {

// The first word that the rules object to ("try", "F.relu"); nothing where they pass. Comments and
// string literals, which kernels of other languages live in, are left out.
std::optional<std::string> KevinObjection(std::string_view source);

}  // namespace davinci::score
