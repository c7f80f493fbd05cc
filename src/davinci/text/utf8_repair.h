// Bytes to UTF-8 text: each maximal invalid part becomes one U+FFFD (Unicode's recommendation, and
// what Rust's and Python's decoders do).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace davinci::text {

std::string RepairUtf8(std::string_view bytes);

// Bytes at the end of `bytes` that begin a character which more bytes may complete: 0 to 3.
size_t IncompleteTail(std::string_view bytes);

}  // namespace davinci::text
