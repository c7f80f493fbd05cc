#include "davinci/text/jinja_builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include "davinci/text/characters.h"

namespace davinci::text::jinja {
namespace {

constexpr std::array<std::string_view, 31> kFilters = {
    "capitalize", "count",      "d",       "default", "dictsort", "first",  "float",      "indent",
    "int",        "items",      "join",    "last",    "length",   "list",   "lower",      "map",
    "reject",     "rejectattr", "replace", "reverse", "safe",     "select", "selectattr", "string",
    "title",      "tojson",     "trim",    "unique",  "upper",    "sort",   "abs"};
constexpr std::array<std::string_view, 27> kTests = {
    "boolean", "callable", "defined",  "divisibleby", "eq",   "equalto",  "even",
    "false",   "float",    "ge",       "gt",          "in",   "integer",  "iterable",
    "le",      "lower",    "lt",       "mapping",     "ne",   "none",     "number",
    "odd",     "sameas",   "sequence", "string",      "true", "undefined"};

std::string Capitalize(std::string_view text) {
  if (text.empty()) return "";
  const size_t first = Characters(text).front().size();
  return UpperCase(text.substr(0, first)) + LowerCase(text.substr(first));
}

std::string Title(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const std::string_view c : Characters(text)) {
    out += inside ? LowerCase(c) : UpperCase(c);
    inside = IsLetter(FirstCharacter(c));
  }
  return out;
}

bool HasLetter(std::string_view text) {
  const auto characters = Characters(text);
  return std::any_of(characters.begin(), characters.end(),
                     [](std::string_view c) { return IsLetter(FirstCharacter(c)); });
}

std::string Replace(std::string_view text, std::string_view from, std::string_view to, int64_t most,
                    Budget* budget) {
  if (from.empty()) throw JinjaError("replace: an empty text to replace is not supported");
  std::string out;
  size_t at = 0;
  for (size_t found; most != 0 && (found = text.find(from, at)) != std::string_view::npos; --most) {
    out += text.substr(at, found - at);
    out += to;
    budget->Spend(to.size());
    at = found + from.size();
  }
  return out += text.substr(at);
}

size_t LengthOf(const Value& value) {
  if (value.IsUndefined()) return 0;
  if (const std::string* text = value.AsString()) return Characters(*text).size();
  if (const List* list = value.AsList()) return list->size();
  if (const Dict* dict = value.AsDict()) return dict->items.size();
  throw JinjaError(fmt::format("length: a value of type {} has none", value.TypeName()));
}

Value AttributeOf(const Value& item, const std::string& path) {
  Value value = item;
  for (size_t at = 0; at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    const Dict* dict = value.AsDict();
    const Value* found =
        dict == nullptr ? nullptr : dict->Find(std::string_view(path).substr(at, dot - at));
    if (found == nullptr) return Undefined{path};
    Value next = *found;
    value = std::move(next);
    at = dot + 1;
  }
  return value;
}

Arguments Rest(const Arguments& arguments, size_t from) {
  Arguments rest;
  for (size_t i = from; i < arguments.positional.size(); ++i)
    rest.positional.push_back(arguments.positional[i]);
  return rest;
}

const std::string& Name(const Arguments& arguments, size_t index, std::string_view what) {
  const Value* value = arguments.Get(index, "");
  if (value == nullptr) throw JinjaError(fmt::format("{}: an argument is missing", what));
  return value->ToStringRef(what);
}

// select, reject, selectattr, rejectattr.
Value Filtered(std::string_view name, const Value& value, const Arguments& arguments,
               Budget* budget) {
  const bool keep = name.starts_with("select");
  const bool attribute = name.ends_with("attr");
  const size_t test = attribute ? 1 : 0;
  List result;
  for (const Value& item : Iterate(value, name)) {
    budget->Spend();
    const Value subject = attribute ? AttributeOf(item, Name(arguments, 0, name)) : item;
    bool passes = subject.Truthy();
    if (arguments.positional.size() > test) {
      const std::string& what = Name(arguments, test, name);
      if (!IsKnownTest(what)) throw JinjaError(fmt::format("the test '{}' is not supported", what));
      passes = ApplyTest(what, subject, Rest(arguments, test + 1));
    }
    if (passes == keep) result.push_back(item);
  }
  return result;
}

Value Mapped(const Value& value, const Arguments& arguments, Budget* budget) {
  List result;
  const Value* attribute = arguments.Get(~size_t{0}, "attribute");
  const Value* otherwise = arguments.Get(~size_t{0}, "default");
  for (const Value& item : Iterate(value, "map")) {
    budget->Spend();
    if (attribute != nullptr) {
      Value found = AttributeOf(item, attribute->ToStringRef("map"));
      if (found.IsUndefined() && otherwise != nullptr) found = *otherwise;
      result.push_back(std::move(found));
      continue;
    }
    const std::string& filter = Name(arguments, 0, "map");
    if (!IsKnownFilter(filter))
      throw JinjaError(fmt::format("the filter '{}' is not supported", filter));
    result.push_back(ApplyFilter(filter, item, Rest(arguments, 1), budget));
  }
  return result;
}

Value Sorted(List list, const Arguments& arguments, Budget* budget) {
  const Value* reverse = arguments.Get(0, "reverse");
  const Value* attribute = arguments.Get(2, "attribute");
  const auto key = [&](const Value& item) {
    Value value = attribute == nullptr ? item : AttributeOf(item, attribute->ToStringRef("sort"));
    const std::string* text = value.AsString();
    return text == nullptr ? value : Value(LowerCase(*text));  // Jinja's default ignores case
  };
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    budget->Spend();
    return Order(key(a), key(b)) < 0;
  });
  if (reverse != nullptr && reverse->Truthy()) std::reverse(list.begin(), list.end());
  return list;
}

Value SortedDict(const Value& value) {
  const Dict* dict = value.AsDict();
  if (dict == nullptr) throw JinjaError("dictsort: not a mapping");
  List result;
  for (const auto& [key, item] : dict->items) result.push_back(List{key, item});
  std::stable_sort(result.begin(), result.end(), [](const Value& a, const Value& b) {
    return LowerCase(*(*a.AsList())[0].AsString()) < LowerCase(*(*b.AsList())[0].AsString());
  });
  return result;
}

Value Unique(const List& list, Budget* budget) {
  List result;
  for (const Value& item : list) {
    budget->Spend(result.size() * 16);
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const Value& other) { return other.Equals(item); });
    if (!known) result.push_back(item);
  }
  return result;
}

std::string Indent(const std::string& text, const Arguments& arguments, Budget* budget) {
  const Value* width = arguments.Get(0, "width");
  const Value* first = arguments.Get(1, "first");
  const Value* blank = arguments.Get(2, "blank");
  std::string pad = "    ";
  if (width != nullptr && width->AsString() != nullptr)
    pad = *width->AsString();
  else if (width != nullptr)
    pad = std::string(static_cast<size_t>(std::clamp<int64_t>(width->ToInteger("indent"), 0, 1000)),
                      ' ');
  std::string out;
  for (size_t at = 0, line = 0; at <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const bool pads = line == 0 ? first != nullptr && first->Truthy()
                                : end > at || (blank != nullptr && blank->Truthy());
    budget->Spend(pad.size());
    if (pads) out += pad;
    out += text.substr(at, end - at);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

Value ToInt(const Value& value, const Arguments& arguments) {
  if (value.AsInt() != nullptr) return value;
  if (value.AsBool() != nullptr) return value.ToInteger("int");
  if (const double* real = value.AsFloat())
    if (std::fabs(*real) < 9e18) return static_cast<int64_t>(*real);
  if (const std::string* text = value.AsString()) {
    const std::string_view trimmed = Strip(*text, "", true, true);
    int64_t number = 0;
    const auto [end, error] =
        std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
    if (error == std::errc() && end == trimmed.data() + trimmed.size()) return number;
  }
  const Value* otherwise = arguments.Get(0, "default");
  return otherwise == nullptr ? Value(int64_t{0}) : *otherwise;
}

Value ToFloat(const Value& value, const Arguments& arguments) {
  if (value.AsInt() || value.AsBool() || value.AsFloat()) return value.ToNumber("float");
  if (const std::string* text = value.AsString()) {
    double number = 0;
    const std::string_view trimmed = Strip(*text, "", true, true);
    const auto [end, error] =
        std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
    if (error == std::errc() && end == trimmed.data() + trimmed.size()) return number;
  }
  const Value* otherwise = arguments.Get(0, "default");
  return otherwise == nullptr ? Value(0.0) : *otherwise;
}

std::string Join(const Value& value, const Arguments& arguments, Budget* budget) {
  const Value* separator = arguments.Get(0, "d");
  const Value* attribute = arguments.Get(1, "attribute");
  std::string out;
  bool first = true;
  for (const Value& item : Iterate(value, "join")) {
    if (!first && separator != nullptr) out += separator->ToText();
    first = false;
    out += attribute == nullptr ? item.ToText()
                                : AttributeOf(item, attribute->ToStringRef("join")).ToText();
    budget->Spend(out.size() / 16);
  }
  return out;
}

Value Split(const std::string& text, const Arguments& arguments, bool from_right, Budget* budget) {
  const Value* separator = arguments.Get(0, "sep");
  const Value* most = arguments.Get(1, "maxsplit");
  int64_t left = most == nullptr ? -1 : most->ToInteger("split");
  List parts;
  if (separator == nullptr || separator->IsNone()) {
    if (left >= 0) throw JinjaError("split: a limit without separator is not supported");
    std::string word;
    for (const std::string_view c : Characters(text)) {
      if (Strip(c, "", true, false).empty()) {
        if (!word.empty()) parts.push_back(std::exchange(word, {}));
      } else {
        word += c;
      }
    }
    if (!word.empty()) parts.push_back(word);
    return parts;
  }
  const std::string& by = separator->ToStringRef("split");
  if (by.empty()) throw JinjaError("split: empty separator");
  std::string_view rest = text;
  while (left != 0) {
    const size_t found = from_right ? rest.rfind(by) : rest.find(by);
    if (found == std::string_view::npos) break;
    budget->Spend(16);
    if (from_right) {
      parts.push_back(std::string(rest.substr(found + by.size())));
      rest = rest.substr(0, found);
    } else {
      parts.push_back(std::string(rest.substr(0, found)));
      rest = rest.substr(found + by.size());
    }
    --left;
  }
  parts.push_back(std::string(rest));
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

bool Affix(const std::string& text, const Arguments& arguments, bool begin) {
  const Value* given = arguments.Get(0, "");
  if (given == nullptr) throw JinjaError("startswith or endswith: an argument is missing");
  const auto matches = [&](const Value& affix) {
    const std::string& part = affix.ToStringRef("startswith or endswith");
    return begin ? text.starts_with(part) : text.ends_with(part);
  };
  if (const List* list = given->AsList()) return std::any_of(list->begin(), list->end(), matches);
  return matches(*given);
}

Value StringMethod(const Value& object, std::string_view name, Budget* budget) {
  const auto method = [&](auto body) -> Value {
    return Function([object, budget, body](const Arguments& arguments) -> Value {
      budget->Spend(object.AsString()->size());
      return body(*object.AsString(), arguments, budget);
    });
  };
  using Text = const std::string&;
  using Args = const Arguments&;
  const auto strip = [&](bool left, bool right) {
    return method([left, right](Text text, Args arguments, Budget*) -> Value {
      const Value* set = arguments.Get(0, "chars");
      const bool given = set != nullptr && !set->IsNone();
      if (given && set->ToStringRef("strip").empty()) return text;
      return std::string(Strip(text, given ? set->ToStringRef("strip") : "", left, right));
    });
  };
  if (name == "strip") return strip(true, true);
  if (name == "lstrip") return strip(true, false);
  if (name == "rstrip") return strip(false, true);
  if (name == "split" || name == "rsplit") {
    const bool right = name == "rsplit";
    return method([right](Text text, Args arguments, Budget* spent) {
      return Split(text, arguments, right, spent);
    });
  }
  if (name == "startswith" || name == "endswith") {
    const bool begin = name == "startswith";
    return method([begin](Text text, Args arguments, Budget*) -> Value {
      return Affix(text, arguments, begin);
    });
  }
  if (name == "lower")
    return method([](Text text, Args, Budget*) -> Value { return LowerCase(text); });
  if (name == "upper")
    return method([](Text text, Args, Budget*) -> Value { return UpperCase(text); });
  if (name == "title") return method([](Text text, Args, Budget*) -> Value { return Title(text); });
  if (name == "capitalize")
    return method([](Text text, Args, Budget*) -> Value { return Capitalize(text); });
  if (name == "replace")
    return method([](Text text, Args arguments, Budget* spent) -> Value {
      const Value* most = arguments.Get(2, "count");
      return Replace(text, Name(arguments, 0, "replace"), Name(arguments, 1, "replace"),
                     most == nullptr ? -1 : most->ToInteger("replace"), spent);
    });
  if (name == "find")
    return method([](Text text, Args arguments, Budget*) -> Value {
      const size_t found = text.find(Name(arguments, 0, "find"));
      if (found == std::string::npos) return int64_t{-1};
      return static_cast<int64_t>(Characters(std::string_view(text).substr(0, found)).size());
    });
  if (name == "count")
    return method([](Text text, Args arguments, Budget*) -> Value {
      const std::string& part = Name(arguments, 0, "count");
      if (part.empty()) throw JinjaError("count: an empty text");
      int64_t count = 0;
      for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
      return count;
    });
  if (name == "join")
    return method([](Text text, Args arguments, Budget* spent) -> Value {
      const Value* list = arguments.Get(0, "");
      if (list == nullptr) throw JinjaError("join: an argument is missing");
      return Join(*list, Arguments{{text}, {}}, spent);
    });
  if (name == "splitlines")
    return method([](Text text, Args, Budget* spent) -> Value {
      List lines;
      for (size_t at = 0; at < text.size();) {
        spent->Spend(16);
        const size_t end = std::min(text.find('\n', at), text.size());
        size_t size = end - at;
        if (size > 0 && text[at + size - 1] == '\r') --size;
        lines.push_back(text.substr(at, size));
        at = end + 1;
      }
      return lines;
    });
  return Undefined{std::string(name)};
}

Value ItemsOf(const Dict& dict) {
  List list;
  for (const auto& [key, value] : dict.items) list.push_back(List{key, value});
  return list;
}

Value Now(const Arguments& arguments) {
  const std::string& format = Name(arguments, 0, "strftime_now");
  if (format.size() > 100) throw JinjaError("strftime_now: a format of more than 100 bytes");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[1024];
  return std::string(text, std::strftime(text, sizeof text, format.c_str(), &local));
}

}  // namespace

bool IsKnownFilter(std::string_view name) {
  return std::find(kFilters.begin(), kFilters.end(), name) != kFilters.end();
}

bool IsKnownTest(std::string_view name) {
  return name == "upper" || std::find(kTests.begin(), kTests.end(), name) != kTests.end();
}

void Budget::Spend(size_t made) {
  left_ -= 1 + static_cast<int64_t>(std::min<size_t>(made / 16, size_t{1} << 40));
  if (left_ < 0) throw JinjaError("the template takes too many steps");
}

List Iterate(const Value& value, std::string_view what) {
  if (const List* list = value.AsList()) return *list;
  if (value.IsUndefined()) return {};
  List result;
  if (const Dict* dict = value.AsDict()) {
    for (const auto& [key, item] : dict->items) result.push_back(key);
  } else if (const std::string* text = value.AsString()) {
    for (const std::string_view c : Characters(*text)) result.push_back(std::string(c));
  } else {
    throw JinjaError(
        fmt::format("{}: a value of type {} cannot be iterated", what, value.TypeName()));
  }
  return result;
}

bool Contains(const Value& container, const Value& item) {
  if (const std::string* text = container.AsString())
    return text->find(item.ToStringRef("in")) != std::string::npos;
  if (const Dict* dict = container.AsDict())
    return item.AsString() != nullptr && dict->Find(*item.AsString()) != nullptr;
  const List list = Iterate(container, "in");
  return std::any_of(list.begin(), list.end(),
                     [&](const Value& other) { return other.Equals(item); });
}

int Order(const Value& a, const Value& b) {
  const std::string* x = a.AsString();
  const std::string* y = b.AsString();
  if (x != nullptr && y != nullptr) return x->compare(*y) < 0 ? -1 : *x == *y ? 0 : 1;
  if (x != nullptr || y != nullptr)
    throw JinjaError(fmt::format("{} and {} have no order", a.TypeName(), b.TypeName()));
  const double left = a.ToNumber("<");
  const double right = b.ToNumber("<");
  return left < right ? -1 : left > right ? 1 : 0;
}

Value ApplyFilter(std::string_view name, const Value& value, const Arguments& arguments,
                  Budget* budget) {
  budget->Spend(value.AsString() == nullptr ? 0 : value.AsString()->size());
  if (name == "tojson") {
    const Value* indent = arguments.Get(0, "indent");
    std::string text = ToJsonText(
        value, indent == nullptr || indent->IsNone()
                   ? -1
                   : static_cast<int>(std::clamp<int64_t>(indent->ToInteger("tojson"), 0, 100)));
    budget->Spend(text.size());
    return text;
  }
  if (name == "length" || name == "count") return static_cast<int64_t>(LengthOf(value));
  if (name == "default" || name == "d") {
    const Value* otherwise = arguments.Get(0, "default_value");
    const Value* falsy = arguments.Get(1, "boolean");
    const bool absent =
        value.IsUndefined() || (falsy != nullptr && falsy->Truthy() && !value.Truthy());
    if (!absent) return value;
    return otherwise == nullptr ? Value(std::string()) : *otherwise;
  }
  if (name == "trim") {
    const Value* set = arguments.Get(0, "chars");
    const bool given = set != nullptr && !set->IsNone();
    return std::string(Strip(value.ToText(), given ? set->ToStringRef("trim") : "", true, true));
  }
  if (name == "string" || name == "safe") {
    if (value.AsString() != nullptr) return value;
    return value.ToText();
  }
  if (name == "upper") return UpperCase(value.ToText());
  if (name == "lower") return LowerCase(value.ToText());
  if (name == "title") return Title(value.ToText());
  if (name == "capitalize") return Capitalize(value.ToText());
  if (name == "replace") {
    const Value* most = arguments.Get(2, "count");
    return Replace(value.ToText(), Name(arguments, 0, name), Name(arguments, 1, name),
                   most == nullptr || most->IsNone() ? -1 : most->ToInteger(name), budget);
  }
  if (name == "indent") return Indent(value.ToText(), arguments, budget);
  if (name == "int") return ToInt(value, arguments);
  if (name == "float") return ToFloat(value, arguments);
  if (name == "abs") {
    if (const int64_t* integer = value.AsInt(); integer != nullptr && *integer > INT64_MIN)
      return *integer < 0 ? -*integer : *integer;
    return std::fabs(value.ToNumber("abs"));
  }
  if (name == "join") return Join(value, arguments, budget);
  if (name == "map") return Mapped(value, arguments, budget);
  if (name == "dictsort") return SortedDict(value);
  if (name == "items") {
    if (value.IsUndefined()) return List{};
    if (value.AsDict() == nullptr) throw JinjaError("items: not a mapping");
    return ItemsOf(*value.AsDict());
  }
  if (name.starts_with("select") || name.starts_with("reject"))
    return Filtered(name, value, arguments, budget);
  List list = Iterate(value, name);
  budget->Spend(list.size() * 16);
  if (name == "list") return list;
  if (name == "first") return list.empty() ? Value(Undefined{"first"}) : list.front();
  if (name == "last") return list.empty() ? Value(Undefined{"last"}) : list.back();
  if (name == "sort") return Sorted(std::move(list), arguments, budget);
  if (name == "unique") return Unique(list, budget);
  if (name == "reverse") {
    std::reverse(list.begin(), list.end());
    if (value.AsString() == nullptr) return list;
    std::string text;
    for (const Value& c : list) text += *c.AsString();
    return text;
  }
  throw JinjaError(fmt::format("the filter '{}' is not supported", name));
}

bool ApplyTest(std::string_view name, const Value& value, const Arguments& arguments) {
  if (name == "defined") return !value.IsUndefined();
  if (name == "undefined") return value.IsUndefined();
  if (name == "none") return value.IsNone();
  if (name == "string") return value.AsString() != nullptr;
  if (name == "mapping") return value.AsDict() != nullptr && !value.AsDict()->is_namespace;
  if (name == "sequence")
    return value.AsList() || value.AsString() || value.AsDict() || value.IsUndefined();
  if (name == "iterable")
    return value.AsList() || value.AsString() || value.AsDict() || value.IsUndefined();
  if (name == "boolean") return value.AsBool() != nullptr;
  if (name == "true") return value.AsBool() != nullptr && *value.AsBool();
  if (name == "false") return value.AsBool() != nullptr && !*value.AsBool();
  if (name == "integer") return value.AsInt() != nullptr;
  if (name == "float") return value.AsFloat() != nullptr;
  if (name == "number") return value.AsInt() || value.AsFloat() || value.AsBool();
  if (name == "callable") return value.AsFunction() != nullptr;
  if (name == "odd") return value.ToInteger(name) % 2 != 0;
  if (name == "even") return value.ToInteger(name) % 2 == 0;
  if (name == "lower" || name == "upper") {
    const std::string text = value.ToText();
    return HasLetter(text) && text == (name == "lower" ? LowerCase(text) : UpperCase(text));
  }
  const Value* other = arguments.Get(0, "");
  if (other == nullptr) throw JinjaError(fmt::format("the test '{}' needs an argument", name));
  if (name == "eq" || name == "equalto") return value.Equals(*other);
  if (name == "ne") return !value.Equals(*other);
  if (name == "in") return Contains(*other, value);
  if (name == "sameas")
    return std::string_view(value.TypeName()) == other->TypeName() && value.Equals(*other);
  if (name == "divisibleby") {
    const int64_t by = other->ToInteger(name);
    if (by == 0) throw JinjaError("divisibleby: 0");
    return by == -1 || value.ToInteger(name) % by == 0;
  }
  const int order = Order(value, *other);
  if (name == "lt") return order < 0;
  if (name == "le") return order <= 0;
  if (name == "gt") return order > 0;
  return order >= 0;  // "ge"
}

Value Method(const Value& object, std::string_view name, Budget* budget) {
  if (object.AsString() != nullptr) return StringMethod(object, name, budget);
  const Dict* dict = object.AsDict();
  if (dict == nullptr || dict->is_namespace) return Undefined{std::string(name)};
  if (name == "items")
    return Function([object](const Arguments&) { return ItemsOf(*object.AsDict()); });
  if (name == "keys")
    return Function([object](const Arguments&) -> Value { return Iterate(object, "keys"); });
  if (name == "values")
    return Function([object](const Arguments&) -> Value {
      List list;
      for (const auto& [key, value] : object.AsDict()->items) list.push_back(value);
      return list;
    });
  if (name == "get")
    return Function([object](const Arguments& arguments) -> Value {
      const Value* key = arguments.Get(0, "");
      if (key == nullptr) throw JinjaError("get: an argument is missing");
      const Value* found =
          key->AsString() == nullptr ? nullptr : object.AsDict()->Find(*key->AsString());
      if (found != nullptr) return *found;
      const Value* otherwise = arguments.Get(1, "");
      return otherwise == nullptr ? Value(None{}) : *otherwise;
    });
  return Undefined{std::string(name)};
}

std::vector<std::pair<std::string, Value>> GlobalFunctions(Budget* budget) {
  const auto named = [](bool is_namespace) {
    return Function([is_namespace](const Arguments& arguments) -> Value {
      Dict dict;
      for (const Value& given : arguments.positional) {
        if (given.AsDict() == nullptr) throw JinjaError("expected a mapping");
        dict.items = given.AsDict()->items;
      }
      for (const auto& [key, value] : arguments.named) dict.Set(key, value);
      dict.is_namespace = is_namespace;
      return dict;
    });
  };
  return {
      {"namespace", named(true)},
      {"dict", named(false)},
      {"strftime_now", Function(Now)},
      {"raise_exception", Function([](const Arguments& arguments) -> Value {
         const Value* message = arguments.Get(0, "message");
         throw JinjaError("the template refuses: " +
                          (message == nullptr ? std::string("?") : message->ToText()));
       })},
      {"range", Function([budget](const Arguments& arguments) -> Value {
         int64_t begin = 0;
         int64_t end = 0;
         int64_t step = 1;
         const auto& given = arguments.positional;
         if (given.empty() || given.size() > 3) throw JinjaError("range: 1 to 3 integers");
         if (given.size() == 1) {
           end = given[0].ToInteger("range");
         } else {
           begin = given[0].ToInteger("range");
           end = given[1].ToInteger("range");
         }
         if (given.size() == 3) step = given[2].ToInteger("range");
         if (step == 0) throw JinjaError("range: a step of 0");
         List list;
         for (int64_t i = begin; step > 0 ? i < end : i > end;) {
           budget->Spend(16);
           list.push_back(i);
           if (__builtin_add_overflow(i, step, &i)) break;
         }
         return list;
       })},
  };
}

}  // namespace davinci::text::jinja
