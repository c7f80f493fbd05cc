// Mapped text in pieces that threads share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace davinci::trainer {

struct Piece {
  size_t file = 0;
  size_t begin = 0;
  size_t end = 0;
};

// Those of a text of `size` bytes; of an empty one a single empty piece.
inline void AddPieces(size_t file, size_t size, size_t bytes, std::vector<Piece>* pieces) {
  size_t begin = 0;
  do {
    pieces->push_back({file, begin, std::min(begin + bytes, size)});
    begin += bytes;
  } while (begin < size);
}

// The lines of `text` that begin in the piece.
inline std::string_view LinesOf(std::string_view text, const Piece& piece) {
  const auto line_at = [&](size_t at) {
    if (at == 0 || at >= text.size()) return std::min(at, text.size());
    const size_t end = text.find('\n', at - 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  };
  const size_t begin = line_at(piece.begin);
  return text.substr(begin, line_at(piece.end) - begin);
}

// Takes the first line off `lines`, without its end.
inline std::string_view TakeLine(std::string_view* lines) {
  const size_t end = std::min(lines->find('\n'), lines->size());
  const std::string_view line = lines->substr(0, end);
  lines->remove_prefix(std::min(end + 1, lines->size()));
  return line;
}

inline bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace davinci::trainer
