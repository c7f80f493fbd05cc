// Filters, tests, methods and functions of jinja.h. Internal to jinja*.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "davinci/text/jinja_value.h"

namespace davinci::text::jinja {

// What one run may use up.
class Budget {
 public:
  // One step, and one more for each 16 bytes (or elements) made. JinjaError when it is spent.
  void Spend(size_t made = 0);

 private:
  int64_t left_ = 20'000'000;
};

Value ApplyFilter(std::string_view name, const Value& value, const Arguments& arguments,
                  Budget* budget);
bool ApplyTest(std::string_view name, const Value& value, const Arguments& arguments);
// The method of a string or mapping; undefined where there is none.
Value Method(const Value& object, std::string_view name, Budget* budget);
std::vector<std::pair<std::string, Value>> GlobalFunctions(Budget* budget);

// Items of a list, keys of a mapping, characters of a string, nothing of what is undefined.
List Iterate(const Value& value, std::string_view what);
bool Contains(const Value& container, const Value& item);
// Below, equal, above: -1, 0, 1. JinjaError for values without an order.
int Order(const Value& a, const Value& b);

// Names the parser checks, so that an unknown one is an error before anything runs.
bool IsKnownFilter(std::string_view name);
bool IsKnownTest(std::string_view name);

}  // namespace davinci::text::jinja
