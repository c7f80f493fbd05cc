// The prelude, python/davinci_runtime/prelude.py: what replies of the form "delta"
// (data/reply_form.h) use without defining it. Imports and definitions, each of which stands alone
// or names others. Pure but for Load; threads may share a Prelude.
#pragma once

#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci {

class Prelude {
 public:
  static Result<Prelude> Load(const std::filesystem::path& file);
  static Result<Prelude> Parse(const std::string& text, const std::string& name);

  struct Piece {
    std::string name;  // that it binds
    std::string text;  // ends with a line end
  };
  const std::vector<Piece>& imports() const { return imports_; }
  const std::vector<Piece>& definitions() const { return definitions_; }
  // SHA-256 of the file.
  const std::string& hash() const { return hash_; }

 private:
  std::vector<Piece> imports_, definitions_;
  std::string hash_;
};

// A character of a name in Python. Bytes of UTF-8 are none.
inline bool IsNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The names that a Python text binds in lines of its own: imports, assignments, def, class.
std::vector<std::string> NamesBoundAtTop(const std::string& text);

}  // namespace davinci
