// Values of a running template. Internal to jinja*.cc; JinjaError does not leave them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace davinci::text::jinja {

class JinjaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Value;
struct Undefined {
  std::string name;  // for messages
};
struct None {};
using List = std::vector<Value>;
// Keys keep their order; few enough for a scan.
struct Dict {
  std::vector<std::pair<std::string, Value>> items;
  bool is_namespace = false;
  const Value* Find(std::string_view key) const;
  void Set(std::string_view key, Value value);
};
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  // The argument at `index` or called `name`; nullptr: not given.
  const Value* Get(size_t index, std::string_view name) const;
};
using Function = std::function<Value(const Arguments&)>;

class Value {
 public:
  Value() : state_(Undefined{}) {}
  Value(Undefined undefined) : state_(std::move(undefined)) {}  // NOLINT
  Value(None none) : state_(none) {}                            // NOLINT
  Value(bool value) : state_(value) {}                          // NOLINT
  Value(int64_t value) : state_(value) {}                       // NOLINT
  Value(double value) : state_(value) {}                        // NOLINT
  Value(std::string value)
      : state_(std::make_shared<const std::string>(std::move(value))) {}  // NOLINT
  // JinjaError for a container nested more than 100 deep, or one that holds a namespace: values are
  // trees whose destruction recurses.
  Value(List value);                                                                     // NOLINT
  Value(Dict value);                                                                     // NOLINT
  Value(Function value) : state_(std::make_shared<const Function>(std::move(value))) {}  // NOLINT

  // JinjaError as above.
  static Value FromJson(const nlohmann::ordered_json& json, int depth = 0);

  bool IsUndefined() const { return std::holds_alternative<Undefined>(state_); }
  bool IsNone() const { return std::holds_alternative<None>(state_); }
  const bool* AsBool() const { return std::get_if<bool>(&state_); }
  const int64_t* AsInt() const { return std::get_if<int64_t>(&state_); }
  const double* AsFloat() const { return std::get_if<double>(&state_); }
  const std::string* AsString() const { return Pointer<const std::string>(); }
  const List* AsList() const { return Pointer<const List>(); }
  Dict* AsDict() const { return Pointer<Dict>(); }
  const Function* AsFunction() const { return Pointer<const Function>(); }
  const Undefined* AsUndefined() const { return std::get_if<Undefined>(&state_); }

  bool Truthy() const;
  const char* TypeName() const;  // as Python calls it
  std::string ToText() const;    // Python's str()
  std::string Repr() const;      // Python's repr()
  // Python's ==.
  bool Equals(const Value& other) const;
  // The number, True and False as 1 and 0. JinjaError for others.
  double ToNumber(std::string_view what) const;
  int64_t ToInteger(std::string_view what) const;
  const std::string& ToStringRef(std::string_view what) const;

 private:
  void NestedIn(const Value& child);

  template <typename T>
  T* Pointer() const {
    const auto* held = std::get_if<std::shared_ptr<T>>(&state_);
    return held == nullptr ? nullptr : held->get();
  }
  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const List>, std::shared_ptr<Dict>, std::shared_ptr<const Function>>
      state_;
  int depth_ = 0;  // of the deepest container in it
};

// Python's json.dumps(value, ensure_ascii=False, indent=indent); indent below 0: one line.
std::string ToJsonText(const Value& value, int indent);
// The code points of valid UTF-8 as strings of their own.
std::vector<std::string_view> Characters(std::string_view text);
// Python's str.strip and relatives: an empty `characters` means whitespace.
std::string_view Strip(std::string_view text, std::string_view characters, bool left, bool right);

}  // namespace davinci::text::jinja
