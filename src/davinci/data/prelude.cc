#include "davinci/data/prelude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci {
namespace {

constexpr uint64_t kMaxPreludeBytes = 1 << 20;

std::string_view FirstName(std::string_view text) {
  size_t begin = 0, end = 0;
  while (begin < text.size() && text[begin] == ' ') ++begin;
  for (end = begin; end < text.size() && IsNamePart(text[end]);) ++end;
  return text.substr(begin, end - begin);
}

// Lines of a text, each with its end.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

// Adds the names that an import statement binds.
void AddImported(std::string_view line, std::vector<std::string>* names) {
  const bool from = line.starts_with("from ");
  const size_t at = from ? line.find(" import ") : 6;
  if (at == std::string_view::npos) return;
  std::string_view list = line.substr(from ? at + 8 : at);
  list = list.substr(0, list.find_first_of("#\n"));
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    const size_t as = item.find(" as ");
    const std::string_view name =
        FirstName(as == std::string_view::npos ? item : item.substr(as + 4));
    if (!name.empty()) names->emplace_back(name);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<std::string> NamesBoundAtTop(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view line : LinesOf(text)) {
    if (line.empty() || std::isspace(static_cast<unsigned char>(line[0])) != 0) continue;
    if (line.starts_with("import ") || line.starts_with("from ")) {
      AddImported(line, &names);
    } else if (line.starts_with("def ") || line.starts_with("class ")) {
      names.emplace_back(FirstName(line.substr(line.find(' '))));
    } else {
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos || line.substr(equals, 2) == "==") continue;
      std::string_view left = line.substr(0, std::min(equals, line.find(':')));
      if (left.find('(') != std::string_view::npos) continue;
      while (!left.empty()) {
        const size_t comma = left.find(',');
        const std::string_view name = FirstName(left.substr(0, comma));
        if (!name.empty()) names.emplace_back(name);
        if (comma == std::string_view::npos) break;
        left.remove_prefix(comma + 1);
      }
    }
  }
  return names;
}

Result<Prelude> Prelude::Load(const std::filesystem::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxPreludeBytes));
  return Parse(text, file.string());
}

Result<Prelude> Prelude::Parse(const std::string& text, const std::string& name) {
  Prelude prelude;
  prelude.hash_ = Sha256Hex(text);
  bool in_docstring = false;
  Piece piece;
  const auto finish = [&] {
    while (piece.text.ends_with("\n\n")) piece.text.pop_back();
    if (!piece.name.empty()) prelude.definitions_.push_back(piece);
    piece = {};
  };
  for (const std::string_view line : LinesOf(text)) {
    if (in_docstring) {
      in_docstring = line.find("\"\"\"") == std::string_view::npos;
    } else if (line.starts_with("\"\"\"") && prelude.imports_.empty()) {
      in_docstring = line.find("\"\"\"", 3) == std::string_view::npos;
    } else if (line.starts_with("import ") || line.starts_with("from ")) {
      std::vector<std::string> names;
      AddImported(line, &names);
      if (names.size() != 1)
        return InvalidArgument(fmt::format("{}: \"{}\" has to import one name", name, line));
      prelude.imports_.push_back({names[0], std::string(line)});
    } else {
      const bool top = line[0] != '\n' && line[0] != ' ' && line[0] != ')';
      const bool defines = line.starts_with("def ") || line.starts_with("class ");
      if (top && (!defines || !piece.name.empty() || !piece.text.starts_with('@'))) finish();
      if (defines) piece.name = FirstName(line.substr(line.find(' ')));
      if (piece.text.empty() && line == "\n") continue;
      piece.text += line;
    }
  }
  finish();
  if (prelude.definitions_.empty())
    return InvalidArgument(fmt::format("{}: it defines nothing", name));
  return prelude;
}

}  // namespace davinci
