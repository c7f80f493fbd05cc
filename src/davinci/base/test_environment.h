// Environment variables of tests.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace davinci {

// Sets environment variables; its destructor restores what they were. The environment belongs to
// the whole process: while a test changes it, no other thread of the test may read it.
class TestEnvironment {
 public:
  TestEnvironment() = default;
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;
  ~TestEnvironment() {
    for (const auto& [name, value] : before_) Put(name, value);
  }

  void Set(const std::string& name, std::string value) { Change(name, std::move(value)); }
  void Unset(const std::string& name) { Change(name, std::nullopt); }

 private:
  using Value = std::optional<std::string>;

  void Change(const std::string& name, const Value& value) {
    const char* const before = std::getenv(name.c_str());
    before_.try_emplace(name, before == nullptr ? Value() : Value(before));
    Put(name, value);
  }
  static void Put(const std::string& name, const Value& value) {
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread reads the environment now
    if (value.has_value()) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }

  std::map<std::string, Value> before_;
};

}  // namespace davinci
