// Adds values to a Program: what every function of semantics/ is made of. Shapes, element types and
// broadcasting are checked here. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/lower_options.h"
#include "davinci/teacher/semantics/meaning.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

class Builder {
 public:
  Builder(Program* program, const Tables& tables, const LowerOptions& lower_options)
      : p(*program), options(lower_options), tables_(tables) {}

  // A primitive of the tables, operands broadcast.
  Result<Meaning> Point(const std::string& primitive, const Meanings& operands);
  // A Python operator but "@".
  Result<Meaning> Binary(const std::string& op, const Meaning& a, const Meaning& b);
  Result<Meaning> Power(const Meaning& base, const Meaning& exponent);
  // A primitive of indices.
  Result<Id> Integer(const char* primitive, Id a, Id b);
  Result<Id> IntegerBy(const char* primitive, Id a, int64_t b) {
    return Integer(primitive, a, p.Size(Constant(b)));
  }
  // The element of `source` at one index for each of its axes. With kAny a source that is a cheap
  // function of tensors in memory is read through (builder_load.cc).
  enum class Source { kAny, kInMemory };
  Result<Meaning> Load(Id source, const std::vector<Id>& indices, Source from = Source::kAny);
  // The index along an axis, of size 1 along the others.
  Id Position(const std::vector<DimId>& shape, size_t axis);
  std::vector<Id> Positions(const std::vector<DimId>& shape);
  Result<Meaning> Reshape(Id x, std::vector<DimId> shape);
  // A view by PyTorch, as Python text with {0} for x.
  Meaning View(Id x, const std::string& text, std::vector<DimId> shape);
  // A view that a kernel reads without a copy, as `load`.
  Meaning ReadAs(const Meaning& view, const Result<Meaning>& load);
  Id Readable(Id id) const;
  // A size as a number.
  Meaning Size(DimId dim);
  DimId Constant(int64_t value) { return p.graph.dims.Constant(value); }
  // The axes that `dim` names, in order; all where it is None.
  static Result<std::vector<int>> Axes(const Meaning& dim, size_t rank);
  bool Allows(Rule rule) const { return options.rules.Contains(rule); }
  // Notes that a rule about structure gave the value.
  Meaning ByRule(Rule rule, const Meaning& value);

  Program& p;
  const LowerOptions& options;

 private:
  Status Convert(const Primitive& primitive, std::vector<Id>* operands);
  // The shape to which those of the values broadcast.
  Result<std::vector<DimId>> Broadcast(const std::vector<Id>& values, const char* otherwise) const;

  const Tables& tables_;
};

// The size of an axis as an index, and the last index along it.
Id SizeOfAxis(Builder& b, const std::vector<DimId>& shape, size_t axis);
Result<Id> LastOfAxis(Builder& b, const std::vector<DimId>& shape, size_t axis);

}  // namespace davinci::teacher
