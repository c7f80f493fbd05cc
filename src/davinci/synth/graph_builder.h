// Executes a pattern and so makes an operator graph. Internal: BuildGraph (builder.h) is the entry.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/synth/build_options.h"

namespace davinci::synth {

// Names that a pattern's text has bound.
struct Environment {
  std::map<std::string, ValueId, std::less<>> values;
  std::map<std::string, DimId, std::less<>> dims;
  std::set<std::string, std::less<>> given;  // dims that the caller of a sub-pattern has set
};

// Every step returns nothing, or false, where the graph is rejected; why_ says why.
class Builder {
 public:
  Builder(const Grammar& grammar, const BuildOptions& options)
      : grammar_(grammar),
        options_(options),
        graph_(options.seed ^ 0x5eedull),
        rng_(options.seed) {}

  BuildOutcome Run(const Pattern& pattern);

 private:
  using Named = std::map<std::string, std::vector<Expression>>;
  // How much of the graph is there.
  struct Mark {
    size_t values, nodes, inputs;
  };

  BuildOutcome Rejected();
  bool Reject(std::string why);
  bool ReturnsTwice() const;
  bool Final();
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[rng_.Below(from.size())];
  }

  // build_sizes.cc
  int64_t DrawSize(const SizeRole& role, size_t binding, int64_t multiple);
  DimId NewSymbol(const std::string& role_name, std::string_view hint, int64_t multiple);
  std::string RoleOfName(const std::string& name) const;
  std::optional<DimId> LookUp(std::string_view name,
                              const std::map<std::string, DimId, std::less<>>& dims) const;
  bool Divides(DimId dim, int64_t multiple) const;
  std::optional<std::vector<DimId>> DrawShape(const std::string& name,
                                              std::map<std::string, DimId, std::less<>>* dims);
  // The sizes of a specification, made where they are not bound yet.
  std::optional<std::vector<DimId>> Instantiate(const ShapeSpec& spec,
                                                std::map<std::string, DimId, std::less<>>* dims,
                                                std::vector<DimId>* star, bool star_bound);
  std::optional<ValueId> NewInput(const InputSpec& spec,
                                  std::map<std::string, DimId, std::less<>>* dims,
                                  std::vector<DimId>* star, bool star_bound = false);
  ValueId AddInput(Value value);
  bool Match(const ShapeSpec& spec, const std::vector<DimId>& shape,
             std::map<std::string, DimId, std::less<>>* dims, std::vector<DimId>* star,
             bool* star_bound);

  // build_attributes.cc
  std::optional<double> NumberOf(std::string_view name, const Node& node, size_t binding) const;
  // Elements along what the node's axis attribute names.
  double AxisSize(const Node& node, size_t binding) const;
  NumberLookup LookupOf(const Node& node, size_t binding) const;
  std::optional<std::vector<int>> DrawAxes(const std::string& word, size_t rank, bool many);
  // Draws every attribute that `node` does not have yet.
  bool DrawAttrs(const Operator& op, size_t rank, Node* node);
  // The sizes and integers alone, for an operator that makes all its inputs.
  bool DrawSizes(const Operator& op, Node* node);
  bool SetNamed(const Operator& op, const Named& named, const Environment& environment, Node* node,
                size_t rank);

  // build_operator.cc
  void Undo(const Mark& mark);
  std::optional<std::vector<ValueId>> Apply(const Operator& op,
                                            const std::vector<ValueId>& arguments,
                                            const Named& named, const Environment& environment);
  std::optional<std::vector<ValueId>> ApplyOrFail(const Operator& op,
                                                  const std::vector<ValueId>& arguments,
                                                  const Named& named,
                                                  const Environment& environment);
  // Sizes that attributes bring may stand in the shapes.
  void BindSizes(Node* node);
  // Arguments that fit, and new inputs of the task for those that are not given.
  bool MakeInputs(const Operator& op, const std::vector<ValueId>& arguments, size_t rank,
                  Node* node);
  // `require` for every target, `needs` of the ranges.
  bool Holds(const Operator& op, const Node& node);
  bool RangeOf(const Operator& op, const Node& node, double* lo, double* hi);
  bool MakeWeights(const Operator& op, int32_t node_index, Node* node);
  bool MakeOutputs(const Operator& op, int32_t node_index, double lo, double hi, Node* node);
  std::optional<std::vector<DimId>> OutputShape(const OutputSpec& spec, Node* node);
  std::optional<std::vector<ValueId>> ApplyGroup(const std::string& group,
                                                 const std::vector<ValueId>& arguments,
                                                 const Named& named, const Environment& environment,
                                                 const std::vector<const Operator*>& avoid = {});
  Mark Now() const { return {graph_.values.size(), graph_.nodes.size(), graph_.inputs.size()}; }

  // build_pattern.cc
  std::optional<std::vector<ValueId>> Evaluate(const PatternTerm& term, Environment* environment);
  std::optional<std::vector<ValueId>> ApplyPattern(const PatternTerm& term,
                                                   const std::vector<ValueId>& arguments,
                                                   const Environment& outer);
  // False: rejected.
  bool Block(const std::vector<PatternStatement>& body, Environment* environment,
             std::vector<ValueId>* outputs);
  bool One(const PatternStatement& statement, Environment* environment,
           std::vector<ValueId>* outputs);

  const Grammar& grammar_;
  const BuildOptions& options_;
  Graph graph_;
  SplitMix64 rng_;
  std::string why_;
  int32_t scope_ = 0;
  int depth_ = 0;
  const Operator* last_ = nullptr;
};

}  // namespace davinci::synth
