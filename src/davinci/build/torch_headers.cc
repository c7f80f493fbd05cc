#include "davinci/build/torch_headers.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "davinci/base/files.h"
#include "davinci/base/mutex.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;

bool IsIdentifierStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsIdentifierChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Types of operator signatures that the compat headers leave to the real ones.
bool UsesUnsupportedType(std::string_view text) {
  static constexpr std::array kUnsupported = {
      "Generator",   "Dimname",      "Storage",    "List<",   "ITensorListRef",
      "Quantizer",   "TensorBase",   "at::Stream", "QScheme", "complex",
      "SymIntArray", "c10::SymInt ", "Dim>",       "SymBool", "std::array"};
  return std::any_of(kUnsupported.begin(), kUnsupported.end(),
                     [&](std::string_view s) { return text.find(s) != std::string_view::npos; });
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string_view Trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

// The identifier that ends just before `end`.
std::string_view IdentifierBefore(std::string_view s, size_t end) {
  size_t begin = end;
  while (begin > 0 && IsIdentifierChar(s[begin - 1])) --begin;
  return s.substr(begin, end - begin);
}

// "NAME" of the first "at::_ops::NAME::call(" in a body.
std::string OperatorOf(std::string_view body) {
  static constexpr std::string_view kMarker = "at::_ops::";
  const size_t at = body.find(kMarker);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + kMarker.size();
  const size_t end = body.find("::call", begin);
  return end == std::string_view::npos ? "" : std::string(body.substr(begin, end - begin));
}

std::string OperatorFileName(std::string_view name) {
  // relu_ and relu_out live in relu.h.
  for (std::string_view suffix : {"_out", "_outf", "_"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      return std::string(name.substr(0, name.size() - suffix.size()));
    }
  }
  return std::string(name);
}

}  // namespace

std::set<std::string> Identifiers(std::string_view s) {
  std::set<std::string> out;
  size_t i = 0;
  while (i < s.size()) {
    const char c = s[i];
    if (c == '/' && i + 1 < s.size() && s[i + 1] == '/') {
      while (i < s.size() && s[i] != '\n') ++i;
    } else if (c == '/' && i + 1 < s.size() && s[i + 1] == '*') {
      const size_t end = s.find("*/", i + 2);
      i = end == std::string_view::npos ? s.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      ++i;
      while (i < s.size() && s[i] != c && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
      ++i;
    } else if (IsIdentifierStart(c)) {
      size_t end = i;
      while (end < s.size() && IsIdentifierChar(s[end])) ++end;
      out.emplace(s.substr(i, end - i));
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      // A number, its suffix and digit separators (1'000'000) are one token.
      while (i < s.size() && (IsIdentifierChar(s[i]) || s[i] == '.' ||
                              (s[i] == '\'' && i + 1 < s.size() && IsIdentifierChar(s[i + 1])))) {
        ++i;
      }
    } else {
      ++i;
    }
  }
  return out;
}

TorchHeaders::TorchHeaders(fs::path include_dir) : include_dir_(std::move(include_dir)) {}

bool TorchHeaders::HasOperatorFile(const std::string& base) const {
  std::error_code error;
  return fs::exists(include_dir_ / "ATen" / "ops" / (base + "_ops.h"), error);
}

Status TorchHeaders::LoadMethods() {
  if (methods_loaded_) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(include_dir_ / "ATen" / "core" / "TensorBody.h", 16 << 20));
  const auto lines = Lines(text);
  // Definitions first ("inline R Tensor::name(args) const {" … "}"), keyed by name and argument
  // types without defaults; the declaration with the same position among its overloads carries the
  // defaults.
  std::map<std::string, std::vector<std::string>> declarations;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> definitions;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(") const;")) {
      const size_t paren = line.find('(');
      const std::string name(IdentifierBefore(line, paren));
      declarations[name].emplace_back(Trim(line));
    } else if (line.starts_with("inline ") && line.ends_with('{')) {
      const size_t marker = line.find(" Tensor::");
      if (marker == std::string_view::npos) continue;
      const size_t paren = line.find('(', marker);
      if (paren == std::string_view::npos) continue;
      std::string body(line);
      while (++i < lines.size() && lines[i] != "}") body += "\n" + std::string(lines[i]);
      body += "\n}\n";
      const std::string name(IdentifierBefore(line, paren));
      std::string op = OperatorOf(body);
      definitions[name].emplace_back(std::move(body), std::move(op));
    }
  }
  for (auto& [name, list] : definitions) {
    const auto it = declarations.find(name);
    // Declared and defined in the same order by the generator; anything else is not one of its
    // methods.
    if (it == declarations.end() || it->second.size() != list.size()) continue;
    for (size_t i = 0; i < list.size(); ++i) {
      methods_.emplace(name, Method{it->second[i], list[i].first, list[i].second});
    }
  }
  methods_loaded_ = true;
  return Status::Ok();
}

Result<std::string> TorchHeaders::OperatorDeclarations(const std::set<std::string>& names) {
  MutexLock lock(mutex_);
  DAVINCI_RETURN_IF_ERROR(LoadMethods());
  std::string method_declarations, method_definitions, functions;
  std::set<std::string> functions_seen;
  std::map<std::string, std::string> wanted_ops;  // op -> file base name that declares it

  // Functions and operator files by name.
  std::map<std::string, std::string> file_text;
  auto text_of = [&](const std::string& base, const char* suffix) -> const std::string& {
    const std::string file = base + suffix;
    auto it = file_text.find(file);
    if (it == file_text.end()) {
      auto text = ReadFile(include_dir_ / "ATen" / "ops" / (file + ".h"), 4 << 20);
      it = file_text.emplace(file, text.ok() ? std::move(text).value() : std::string()).first;
    }
    return it->second;
  };
  auto declare_op = [&](const std::string& op, const std::string& base) -> bool {
    if (wanted_ops.contains(op)) return !wanted_ops[op].empty();
    const std::string& text = text_of(base, "_ops");
    const size_t at = text.find("struct TORCH_API " + op + " {");
    std::string declaration;
    if (at != std::string::npos) {
      const size_t call = text.find("  static ", at);
      size_t begin = call;
      while (begin != std::string::npos && text.compare(begin, 18, "  static constexpr") == 0) {
        begin = text.find("  static ", begin + 1);
      }
      const size_t end = begin == std::string::npos ? begin : text.find('\n', begin);
      if (end != std::string::npos) {
        const std::string call_text = text.substr(begin, end - begin);
        // SymInt parameters are fine in entry points (call sites pass plain integers).
        declaration = "struct " + op + " {" + call_text + "};\n";
      }
    }
    wanted_ops[op] = declaration;
    return !declaration.empty();
  };

  for (const std::string& name : names) {
    std::string base = HasOperatorFile(name) ? name : OperatorFileName(name);
    if (!HasOperatorFile(base)) continue;
    for (auto [it, end] = methods_.equal_range(name); it != end; ++it) {
      const Method& m = it->second;
      if (name == "contiguous" || name == "is_complex" || name == "is_floating_point") continue;
      if (UsesUnsupportedType(m.declaration) || m.op.empty() || !declare_op(m.op, base)) continue;
      method_declarations += "  " + m.declaration + "\n";
      method_definitions += m.definition;
    }
    if (name == "cat" || name == "from_blob") continue;
    int depth_symint = 0;
    const auto lines = Lines(text_of(base, ""));
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with("namespace symint")) {
        depth_symint = 1;
      } else if (depth_symint && lines[i] == "}") {
        depth_symint = 0;
      } else if (!depth_symint && lines[i].starts_with("inline ") && lines[i].ends_with('{')) {
        const size_t paren = lines[i].find('(');
        const std::string function(IdentifierBefore(lines[i], paren));
        std::string body(lines[i]);
        while (++i < lines.size() && lines[i] != "}") body += "\n" + std::string(lines[i]);
        body += "\n}\n";
        if (function != name || UsesUnsupportedType(body.substr(0, body.find('\n')))) continue;
        const std::string op = OperatorOf(body);
        if (op.empty() || !functions_seen.insert(body).second || !declare_op(op, base)) continue;
        functions += body;
      }
    }
  }

  std::string out = "#ifdef DAVINCI_METHOD_DECLARATIONS\n" + method_declarations + "#endif\n";
  out += "#ifdef DAVINCI_OPERATOR_DECLARATIONS\n";
  for (const auto& [op, declaration] : wanted_ops) out += declaration;
  out += "#endif\n#ifdef DAVINCI_METHOD_DEFINITIONS\n" + method_definitions + "#endif\n";
  out += "#ifdef DAVINCI_FUNCTIONS\n" + functions + "#endif\n";
  return out;
}

std::string TorchHeaders::OperatorIncludes(const std::set<std::string>& names) const {
  std::set<std::string> bases;
  for (const std::string& name : names) {
    for (const std::string& base : {name, OperatorFileName(name)}) {
      std::error_code error;
      if (fs::exists(include_dir_ / "ATen" / "ops" / (base + ".h"), error)) {
        bases.insert(base);
        break;
      }
    }
  }
  std::string out;
  for (const std::string& base : bases) out += "#include <ATen/ops/" + base + ".h>\n";
  return out;
}

bool TorchHeaders::Mentions(const std::string& name) {
  if (HasOperatorFile(name)) return true;
  MutexLock lock(mutex_);
  if (!words_loaded_) {
    words_loaded_ = true;
    for (const char* folder : {"ATen", "c10", "torch", "pybind11"}) {
      std::error_code error;
      fs::recursive_directory_iterator it(include_dir_ / folder, error), end;
      for (; !error && it != end; it.increment(error)) {
        // The per-operator files are known by name.
        if (it->is_directory(error) && it->path().filename() == "ops") {
          it.disable_recursion_pending();
          continue;
        }
        const std::string extension = it->path().extension().string();
        if (extension != ".h" && extension != ".cuh" && extension != ".hpp") continue;
        auto text = ReadFile(it->path(), 8 << 20);
        if (!text.ok()) continue;
        const std::string& s = text.value();
        for (size_t i = 0; i < s.size();) {
          if (!IsIdentifierStart(s[i])) {
            ++i;
            continue;
          }
          size_t stop = i;
          while (stop < s.size() && IsIdentifierChar(s[stop])) ++stop;
          words_.emplace(s, i, stop - i);
          i = stop;
        }
      }
    }
  }
  return words_.contains(name);
}

}  // namespace davinci::build
