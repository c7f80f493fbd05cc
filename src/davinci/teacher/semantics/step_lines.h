// The lines of steps (steps.h) and what they name: sizes by letters, tensors by arguments, weights
// and results. An expression names a tensor by its key, which lines write as the tensor's name.
// Internal.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/evaluator.h"
#include "davinci/teacher/semantics/python_expression.h"
#include "davinci/teacher/semantics/step_names.h"

namespace davinci::teacher {

// Letters of sizes, in the order in which they are first written.
class SizeLetters {
 public:
  // `dims` may grow. No letter is one of `taken`.
  SizeLetters(const synth::DimTable& dims, std::set<std::string> taken)
      : dims_(dims), taken_(std::move(taken)) {}

  // "A", "A * B". What takes a division or difference to say has a letter of its own.
  std::string Text(DimId dim);
  // "[A, B]", "int[A]", "bool[]"
  std::string Type(const std::vector<DimId>& shape, DType dtype);
  // The letter of the size; "": it has none of its own.
  std::string Letter(DimId dim) const;
  std::set<std::string> Letters() const;
  // "A = 512, B = 384"; "" without letters.
  std::string Values(synth::Binding binding) const;

 private:
  std::string NewLetter(DimId dim);

  const synth::DimTable& dims_;
  const std::set<std::string> taken_;
  std::vector<std::pair<DimId, std::string>> letters_;
  int next_ = 0;
};

class StepLines {
 public:
  // No result has one of the names `taken`.
  StepLines(const synth::Graph& graph, const std::set<std::string>& taken)
      : program_(graph), sizes_(program_.graph.dims, taken), taken_(taken) {}
  StepLines(const StepLines&) = delete;
  StepLines& operator=(const StepLines&) = delete;

  Program& program() { return program_; }  // for an evaluator
  const Names& names() const { return names_; }
  std::string TypeOf(synth::ValueId id);

  // A tensor of the graph has this Python text from now on.
  void Know(synth::ValueId id, const std::string& text);
  void KnowWeight(synth::ValueId id, const std::string& text);
  std::string TextOf(synth::ValueId id) const;  // "?" where it has none

  bool IsTensor(const PythonExpression& e) const;
  // Does one of its parts give a tensor? "x.shape" gives none.
  bool HasTensor(const PythonExpression& e) const;
  std::optional<size_t> Rank(const PythonExpression& e) const;
  // With the weights' Python names, which say whose they are.
  PythonExpression WithWeights(PythonExpression e) const;
  // With all names as lines write them.
  PythonExpression Written(PythonExpression e);

  // A line for `written`, or the one that says the same; its result. `meant` gives the shape, where
  // the evaluator knows it.
  PythonExpression Add(const PythonExpression& written, const PythonExpression& meant,
                       Evaluator* evaluator);
  void AddEffect(const std::string& text) { lines_.push_back({"", "", text, "", "", {}}); }
  // The graph's value is this tensor, whose type is known.
  void Name(synth::ValueId id, const PythonExpression& tensor);

  // The steps since the last call of this; effects are none.
  std::vector<Step> NewSteps();
  // Says what the names of lines so far stand for.
  void Tell(Steps* steps) const;
  // Sizes ("": there are none), the types of weights, and the calls, one a line.
  std::vector<std::string> Text(synth::Binding binding) const;

 private:
  struct Line {
    std::string name;  // "": no result
    std::string type;  // "[A, B]", or "": not known
    std::string expression;
    std::string operation;
    std::string key;
    PythonExpression meant;
  };
  struct Weight {
    std::string name, type;
    size_t axes;
  };

  Program program_;
  SizeLetters sizes_;
  const std::set<std::string> taken_;
  Names names_;                               // shapes, by key
  std::map<std::string, std::string> texts_;  // what is written, by key
  std::map<std::string, std::string> made_;   // key of each expression that has a line
  std::map<std::string, std::string> keys_;   // of weights, by their Python names
  std::vector<Weight> weights_;
  std::vector<Line> lines_;
  int count_ = 0;
  size_t told_ = 0;  // lines
};

// "x.shape", "x.size(0)": what PyTorch's tensors say of themselves, which is no tensor.
bool IsFact(const PythonExpression& e);
bool IsFactCall(const std::string& function);
// The key of a tensor of the graph.
std::string KeyOf(synth::ValueId id);
// A name in an expression.
PythonExpression NameOf(std::string text);

}  // namespace davinci::teacher
