// The meaning of a Python expression: a value of the Program, or something that Python itself
// knows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/program/program.h"

namespace davinci::teacher {

struct Meaning {
  enum class Kind { kTensor, kNumber, kText, kNone, kSequence };
  Kind kind = Kind::kNone;
  Id id = -1;                    // kTensor; kSequence: the first item where it is read alone
  std::optional<double> number;  // kNumber: known now, or
  std::string text;              // kNumber: Python text; kText
  DimId dim = synth::kNoDim;     // kNumber: a size
  bool boolean = false;          // kNumber
  std::vector<Meaning> items;    // kSequence
  std::vector<DimId> filled;     // kNumber: the shape of a tensor full of it

  static Meaning Tensor(Id id) { return {Kind::kTensor, id, {}, "", synth::kNoDim, false, {}, {}}; }
  static Meaning Number(double value) {
    return {Kind::kNumber, -1, value, "", synth::kNoDim, false, {}, {}};
  }
  static Meaning Text(std::string text) {
    return {Kind::kText, -1, {}, std::move(text), synth::kNoDim, false, {}, {}};
  }
  static Meaning Sequence(std::vector<Meaning> items) {
    return {Kind::kSequence, -1, {}, "", synth::kNoDim, false, std::move(items), {}};
  }
  // Axes, counted from 0.
  static Meaning Axes(const std::vector<int>& axes) {
    Meaning all = Sequence({});
    for (const int axis : axes) all.items.push_back(Number(axis));
    return all;
  }
  bool IsTensor() const { return kind == Kind::kTensor; }
  bool IsNone() const { return kind == Kind::kNone; }
  bool IsSequence() const { return kind == Kind::kSequence; }
};
using Names = std::map<std::string, Meaning>;
using Meanings = std::vector<Meaning>;

// Remembers what it was asked for: a function that does not know a keyword does not ignore it.
class Keywords : public std::map<std::string, Meaning> {
 public:
  using map = std::map<std::string, Meaning>;
  using map::map;
  const_iterator find(const std::string& key) const { return asked.insert(key), map::find(key); }
  bool contains(const std::string& key) const { return asked.insert(key), map::contains(key); }
  mutable std::set<std::string> asked;
};

inline bool IsTrue(const Meaning& value) { return value.number && *value.number != 0; }
inline bool Says(const Meaning& value, std::string_view text) {
  return value.kind == Meaning::Kind::kText && value.text == text;
}
inline Status Unknown(const std::string& what) { return InvalidArgument("not known: " + what); }

// A whole number, or a sequence of one.
std::optional<int64_t> Integral(const Meaning& value);
// A whole number, or a sequence of equal ones.
std::optional<int64_t> WholeNumber(const Meaning& value);
// Sizes or axes that a function takes one by one or as one sequence, behind the first `skipped`.
Meanings Spread(const Meanings& arguments, size_t skipped);

}  // namespace davinci::teacher
