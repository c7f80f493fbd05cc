// One class of a rendered task: its constructor and its forward(). Internal to the renderer.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "davinci/synth/rendered_task.h"
#include "davinci/synth/style.h"

namespace davinci::synth {

// What all classes of one file share.
struct RenderState {
  const Graph& graph;
  const Grammar& grammar;
  const StyleBook& book;
  const StyleChoice& style;
  SplitMix64 rng;
  std::map<DimId, std::string> symbol_names;   // snake case
  std::map<std::string, std::string> classes;  // text without its name -> name
  std::vector<std::string> definitions;        // helper classes and functions, in order
  std::set<std::string> names;                 // of the module
  std::vector<std::pair<std::string, std::string>> constants;  // further module constants
  bool uses_f = false, uses_math = false;
  bool has_state = false;  // weights, buffers or modules
  Binding literal = Binding::kCuda;

  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[rng.Below(from.size())];
  }
  const std::string& Word(const std::string& key) { return Pick(book.words.at(key)); }
  bool Chance(double p) { return rng.Uniform() < p; }
  // The module constant of a symbol.
  std::string ConstantName(DimId symbol) const;
  std::string Quoted(std::string_view text) const;
  std::string ShapeText(const std::vector<DimId>& shape) const;  // "batch, features", for people
};

struct ClassArgument {
  std::string name;
  DimId dim = kNoDim;   // a size, or
  std::string literal;  // the value of a lifted attribute
  std::string text;     // for the docstring
};

class ClassWriter {
 public:
  // Scope 0 is the model itself.
  ClassWriter(RenderState* state, int32_t scope);

  // Renders constructor and forward. Call once.
  void Write();

  const std::vector<ClassArgument>& arguments() const { return arguments_; }
  const std::vector<ValueId>& reads() const { return reads_; }
  const std::vector<std::string>& read_names() const { return read_names_; }
  // By node of the graph, paths relative to this class.
  const std::map<int, NodeText>& node_texts() const { return node_texts_; }
  const std::vector<std::string>& result_keys() const { return result_keys_; }
  // The class with `name`; `init_default`: sizes as default values.
  std::string Text(const std::string& name, const std::string& summary);

 private:
  struct Item {
    int node = -1;       // a node, or
    int32_t scope = -1;  // a call of a helper class
    std::vector<int> nodes;
  };
  struct Text_ {
    std::string text;
    bool atomic = true;
    bool variable = false;
    std::vector<ValueId> reads;
  };

  void Collect();
  bool Inline(int32_t scope) const;
  void WriteNode(size_t index);
  void WriteSequential(size_t first, size_t last);
  void WriteCall(size_t index, size_t* last);
  size_t SequentialEnd(size_t first);
  std::string ChooseSpelling(const Node& node, std::string* kind);
  std::string Fill(const Node& node, std::string_view form, bool init, std::vector<ValueId>* reads,
                   const std::string& module = "");
  std::string AttrText(const Node& node, const AttrSpec& spec, bool init);
  std::string ValueText(const AttrSpec& spec, const AttrValue& value, const Node& node, bool init);
  std::string DimText(DimId dim, bool init);
  std::string NameOfDim(DimId dim, bool init);
  std::string ArgumentFor(DimId dim);
  std::string AttributeName(const std::vector<std::string>& names, std::string_view otherwise);
  std::string WeightText(const Node& node, std::string_view name);
  void Define(const std::vector<ValueId>& outputs, Text_ text, bool last_item, int uses_inside,
              const std::string& comment);
  Text_ Use(ValueId value, bool plain);
  void Emit(const std::string& line) { forward_.push_back(line); }
  std::string NewVariable(const std::string& hint);
  std::string ModuleCall(const Node& node, const std::string& member, std::vector<ValueId>* reads);
  std::string Constructor(const Node& node, std::string_view form);
  std::string Description(const Node& node) const;
  static std::string CallForm(const Node& node);
  void Adopt(const std::map<int, NodeText>& inner, const std::string& prefix);

  RenderState* s_;
  const Graph& g_;
  int32_t scope_;
  std::vector<Item> items_;
  std::vector<ValueId> reads_;
  std::vector<std::string> read_names_;
  std::vector<ValueId> results_;
  std::vector<ClassArgument> arguments_;
  std::vector<std::string> init_, forward_;
  std::map<std::string, DimId, std::less<>> formals_;
  std::set<std::string> members_;
  std::map<DimId, std::string> stored_;                 // sizes kept as self.name
  std::map<ValueId, std::vector<std::string>> unpack_;  // names of an input's axes
  std::set<ValueId> unpacked_;
  std::map<ValueId, Text_> texts_;
  std::vector<int> remaining_;
  std::map<ValueId, std::string> variable_of_;
  std::set<std::string> variables_;
  std::map<ValueId, std::string> weight_names_;
  std::map<std::string, std::string> lifted_;          // node:attr -> argument
  std::map<std::string, std::string> lifted_members_;  // node:attr -> self.name
  std::map<const Node*, std::map<std::string, std::string>> axis_sign_;
  std::string primary_;
  std::string return_text_;
  std::map<int, NodeText> node_texts_;
  std::vector<std::string> result_keys_;
};

std::string FloatText(double value);
std::string CamelCase(std::string_view snake);

}  // namespace davinci::synth
