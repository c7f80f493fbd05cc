#include "davinci/text/jinja_value.h"

#include <fmt/format.h>

#include <cmath>

#include "davinci/base/utf8.h"
#include "davinci/text/characters.h"

namespace davinci::text::jinja {
namespace {

constexpr int kDeepestValue = 100;

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string StringRepr(std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"'
                                                                                            : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
  }
  return out += quote;
}

void JsonString(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      case '\f':
        *out += "\\f";
        break;
      case '\b':
        *out += "\\b";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20)
          *out += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
        else
          *out += c;
    }
  }
  *out += '"';
}

void Json(const Value& value, int indent, int depth, std::string* out) {
  if (depth > kDeepestValue) throw JinjaError("tojson: nested too deeply");
  const auto line = [&](int level) {
    if (indent < 0) return;
    *out += '\n';
    out->append(static_cast<size_t>(indent) * static_cast<size_t>(level), ' ');
  };
  if (value.IsNone()) {
    *out += "null";
  } else if (const bool* boolean = value.AsBool()) {
    *out += *boolean ? "true" : "false";
  } else if (const double* number = value.AsFloat()) {
    *out += std::isfinite(*number) ? FloatText(*number)
            : std::isnan(*number)  ? "NaN"
            : *number > 0          ? "Infinity"
                                   : "-Infinity";
  } else if (const int64_t* integer = value.AsInt()) {
    *out += std::to_string(*integer);
  } else if (const std::string* text = value.AsString()) {
    JsonString(*text, out);
  } else if (const List* list = value.AsList()) {
    *out += '[';
    for (size_t i = 0; i < list->size(); ++i) {
      if (i > 0) *out += indent < 0 ? ", " : ",";
      line(depth + 1);
      Json((*list)[i], indent, depth + 1, out);
    }
    if (!list->empty()) line(depth);
    *out += ']';
  } else if (const Dict* dict = value.AsDict()) {
    *out += '{';
    for (size_t i = 0; i < dict->items.size(); ++i) {
      if (i > 0) *out += indent < 0 ? ", " : ",";
      line(depth + 1);
      JsonString(dict->items[i].first, out);
      *out += ": ";
      Json(dict->items[i].second, indent, depth + 1, out);
    }
    if (!dict->items.empty()) line(depth);
    *out += '}';
  } else {
    throw JinjaError(fmt::format("tojson: a value of type {} has no JSON", value.TypeName()));
  }
}

std::string ReprAt(const Value& value, int depth) {
  if (depth > kDeepestValue) throw JinjaError("a value is nested too deeply to be printed");
  if (const std::string* text = value.AsString()) return StringRepr(*text);
  if (const List* list = value.AsList()) {
    std::string out = "[";
    for (size_t i = 0; i < list->size(); ++i)
      out += (i > 0 ? ", " : "") + ReprAt((*list)[i], depth + 1);
    return out + "]";
  }
  if (const Dict* dict = value.AsDict()) {
    std::string out = "{";
    for (size_t i = 0; i < dict->items.size(); ++i)
      out += (i > 0 ? ", " : "") + StringRepr(dict->items[i].first) + ": " +
             ReprAt(dict->items[i].second, depth + 1);
    return out + "}";
  }
  return value.ToText();
}

bool EqualAt(const Value& a, const Value& b, int depth) {
  if (depth > kDeepestValue) throw JinjaError("values nested too deeply to be compared");
  const auto numeric = [](const Value& v) { return v.AsBool() || v.AsInt() || v.AsFloat(); };
  if (a.AsInt() && b.AsInt()) return *a.AsInt() == *b.AsInt();
  if (numeric(a) && numeric(b)) return a.ToNumber("==") == b.ToNumber("==");
  if (a.AsString() && b.AsString()) return *a.AsString() == *b.AsString();
  if (a.IsNone() && b.IsNone()) return true;
  if (a.IsUndefined() && b.IsUndefined()) return true;
  if (const List* x = a.AsList(), *y = b.AsList(); x && y) {
    if (x->size() != y->size()) return false;
    for (size_t i = 0; i < x->size(); ++i)
      if (!EqualAt((*x)[i], (*y)[i], depth + 1)) return false;
    return true;
  }
  if (const Dict* x = a.AsDict(), *y = b.AsDict(); x && y) {
    if (x->items.size() != y->items.size()) return false;
    for (const auto& [key, value] : x->items) {
      const Value* other = y->Find(key);
      if (other == nullptr || !EqualAt(value, *other, depth + 1)) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

const Value* Dict::Find(std::string_view key) const {
  for (const auto& [name, value] : items)
    if (name == key) return &value;
  return nullptr;
}

void Dict::Set(std::string_view key, Value value) {
  for (auto& [name, held] : items) {
    if (name != key) continue;
    held = std::move(value);
    return;
  }
  items.emplace_back(key, std::move(value));
}

const Value* Arguments::Get(size_t index, std::string_view name) const {
  if (index < positional.size()) return &positional[index];
  for (const auto& [key, value] : named)
    if (key == name) return &value;
  return nullptr;
}

void Value::NestedIn(const Value& child) {
  if (child.AsDict() != nullptr && child.AsDict()->is_namespace)
    throw JinjaError("a namespace inside a list or mapping is not supported");
  depth_ = std::max(depth_, child.depth_ + 1);
  if (depth_ > kDeepestValue) throw JinjaError("a value nested more than 100 deep");
}

Value::Value(List value) : depth_(1) {
  for (const Value& child : value) NestedIn(child);
  state_ = std::make_shared<const List>(std::move(value));
}

Value::Value(Dict value) : depth_(1) {
  for (const auto& [key, child] : value.items) NestedIn(child);
  state_ = std::make_shared<Dict>(std::move(value));
}

Value Value::FromJson(const nlohmann::ordered_json& json, int depth) {
  if (depth > kDeepestValue) throw JinjaError("a variable nested more than 100 deep");
  if (json.is_null()) return None{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_number()) return json.get<int64_t>();
  if (json.is_string()) return ValidUtf8(json.get_ref<const std::string&>());
  if (json.is_array()) {
    List list;
    for (const auto& item : json) list.push_back(FromJson(item, depth + 1));
    return list;
  }
  Dict dict;
  for (const auto& [key, item] : json.items())
    dict.items.emplace_back(ValidUtf8(key), FromJson(item, depth + 1));
  return dict;
}

bool Value::Truthy() const {
  if (IsUndefined() || IsNone()) return false;
  if (const bool* value = AsBool()) return *value;
  if (const int64_t* value = AsInt()) return *value != 0;
  if (const double* value = AsFloat()) return *value != 0;
  if (const std::string* value = AsString()) return !value->empty();
  if (const List* value = AsList()) return !value->empty();
  if (const Dict* value = AsDict()) return value->is_namespace || !value->items.empty();
  return true;
}

const char* Value::TypeName() const {
  if (IsUndefined()) return "Undefined";
  if (IsNone()) return "NoneType";
  if (AsBool() != nullptr) return "bool";
  if (AsInt() != nullptr) return "int";
  if (AsFloat() != nullptr) return "float";
  if (AsString() != nullptr) return "str";
  if (AsList() != nullptr) return "list";
  if (AsDict() != nullptr) return AsDict()->is_namespace ? "namespace" : "dict";
  return "function";
}

std::string Value::ToText() const {
  if (IsUndefined()) return "";
  if (IsNone()) return "None";
  if (const bool* value = AsBool()) return *value ? "True" : "False";
  if (const int64_t* value = AsInt()) return std::to_string(*value);
  if (const double* value = AsFloat()) return FloatText(*value);
  if (const std::string* value = AsString()) return *value;
  if (AsFunction() != nullptr) throw JinjaError("a function cannot be printed");
  return Repr();
}

std::string Value::Repr() const { return ReprAt(*this, 0); }
bool Value::Equals(const Value& other) const { return EqualAt(*this, other, 0); }

double Value::ToNumber(std::string_view what) const {
  if (const bool* value = AsBool()) return *value ? 1 : 0;
  if (const int64_t* value = AsInt()) return static_cast<double>(*value);
  if (const double* value = AsFloat()) return *value;
  if (const Undefined* value = AsUndefined())
    throw JinjaError(fmt::format("{}: '{}' is undefined", what, value->name));
  throw JinjaError(fmt::format("{}: {} is not a number", what, TypeName()));
}

int64_t Value::ToInteger(std::string_view what) const {
  if (const int64_t* value = AsInt()) return *value;
  if (const bool* value = AsBool()) return *value ? 1 : 0;
  throw JinjaError(fmt::format("{}: {} is not an integer", what, TypeName()));
}

const std::string& Value::ToStringRef(std::string_view what) const {
  if (const std::string* value = AsString()) return *value;
  if (const Undefined* value = AsUndefined())
    throw JinjaError(fmt::format("{}: '{}' is undefined", what, value->name));
  throw JinjaError(fmt::format("{}: {} is not a string", what, TypeName()));
}

std::string ToJsonText(const Value& value, int indent) {
  std::string out;
  Json(value, indent, 0, &out);
  return out;
}

std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = std::max<size_t>(1, DecodeUtf8(text.substr(at)).bytes);
    characters.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

std::string_view Strip(std::string_view text, std::string_view characters, bool left, bool right) {
  const auto stripped = [&](std::string_view one) {
    if (!characters.empty()) return characters.find(one) != std::string_view::npos;
    const uint32_t c = FirstCharacter(one);
    return IsWhitespace(c) || (c >= 0x1c && c <= 0x1f);
  };
  while (left && !text.empty()) {
    const size_t bytes = std::max<size_t>(1, DecodeUtf8(text).bytes);
    if (!stripped(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (text[begin] & 0xc0) == 0x80) --begin;
    if (!stripped(text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

}  // namespace davinci::text::jinja
