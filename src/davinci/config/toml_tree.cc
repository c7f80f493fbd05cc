#include "davinci/config/toml_tree.h"

#include <fmt/format.h>

#include <cmath>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Its assertions fire on malformed input that its parser then reports properly.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

namespace davinci::config {
namespace {

class Converter {
 public:
  explicit Converter(std::string_view source) : source_(source) {}

  TomlTree Run(const toml::table& root) {
    tree_.values = Table(root, "");
    return std::move(tree_);
  }
  const std::string& error() const { return error_; }

 private:
  Json Table(const toml::table& table, const std::string& pointer) {
    Json object = Json::object();
    for (const auto& [key, node] : table) {
      const std::string child = pointer + PointerStep(key.str());
      // The key's place, not the value's: that is the line to look at when the key is the mistake.
      tree_.locations[child] = At(key.source());
      object[std::string(key.str())] = Value(node, child);
    }
    return object;
  }

  Json Value(const toml::node& node, const std::string& pointer) {
    switch (node.type()) {
      case toml::node_type::table:
        return Table(*node.as_table(), pointer);
      case toml::node_type::array: {
        Json array = Json::array();
        for (const toml::node& element : *node.as_array()) {
          const std::string child = fmt::format("{}/{}", pointer, array.size());
          tree_.locations[child] = At(element.source());
          array.push_back(Value(element, child));
        }
        return array;
      }
      case toml::node_type::string:
        return node.as_string()->get();
      case toml::node_type::integer:
        return node.as_integer()->get();
      case toml::node_type::floating_point:
        return node.as_floating_point()->get();
      case toml::node_type::boolean:
        return node.as_boolean()->get();
      default:
        if (error_.empty()) {
          error_ = fmt::format(
              "{}: dates and times are not used here; write the value as text in quotes",
              At(node.source()).ToString());
        }
        return nullptr;
    }
  }

  SourceLocation At(const toml::source_region& region) const {
    return {source_, static_cast<int>(region.begin.line)};
  }

  std::string source_;
  std::string error_;
  TomlTree tree_;
};

}  // namespace

std::string SourceLocation::ToString() const {
  return line > 0 ? fmt::format("{}:{}", source, line) : source;
}

SourceLocation TomlTree::Locate(std::string_view pointer) const {
  while (true) {
    if (auto found = locations.find(pointer); found != locations.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    if (slash == std::string_view::npos) return {};
    pointer = pointer.substr(0, slash);
  }
}

Result<TomlTree> ParseToml(std::string_view text, std::string_view source) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return InvalidArgument(fmt::format(
        "{}: this is not valid TOML: {}",
        SourceLocation{std::string(source), static_cast<int>(error.source().begin.line)}.ToString(),
        error.description()));
  }
  Converter converter(source);
  TomlTree tree = converter.Run(parsed.table());
  if (!converter.error().empty()) return InvalidArgument(converter.error());
  tree.locations[""] = {std::string(source), 0};
  return tree;
}

std::string PointerStep(std::string_view key) {
  std::string step = "/";
  for (char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string TomlLiteral(const Json& value) {
  if (value.is_array()) {
    std::string out = "[";
    for (const Json& element : value) out += (out.size() > 1 ? ", " : "") + TomlLiteral(element);
    return out + "]";
  }
  if (value.is_object()) {
    std::string out = "{";
    for (const auto& [key, element] : value.items()) {
      out += fmt::format("{}{} = {}", out.size() > 1 ? ", " : " ", TomlLiteral(key),
                         TomlLiteral(element));
    }
    return out + (out.size() > 1 ? " }" : "}");
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  }
  // JSON text is TOML text: the same escapes; DEL is the one character that only TOML wants
  // escaped.
  std::string out = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = out.find('\x7f', at)) != std::string::npos;)
    out.replace(at, 1, "\\u007f");
  return out;
}

std::string_view TypeName(const Json& value) {
  if (value.is_string()) return "text";
  if (value.is_boolean()) return "true/false";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_array()) return "list";
  if (value.is_object()) return "table";
  return "nothing";
}

}  // namespace davinci::config
