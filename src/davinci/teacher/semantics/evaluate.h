// Evaluates a PyTorch expression to values of a Program: by the functions of the tables, and, for
// what needs shapes (reductions, views, normalizations), by the other evaluate_*.cc. Internal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/lower.h"
#include "davinci/teacher/semantics/tables.h"

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
};
using Names = std::map<std::string, Meaning>;
using Meanings = std::vector<Meaning>;

class Evaluator {
 public:
  Evaluator(Program* program, const Tables& tables, const LowerOptions& options)
      : p_(program), tables_(tables), options_(options), training_(program->graph.mode != "eval") {}

  // "module_(x)" calls this one.
  void SetModule(PythonExpression constructor, std::string path) {
    constructor_ = std::move(constructor);
    path_ = std::move(path);
  }
  Result<Meaning> Evaluate(const PythonExpression& expression, const Names& names);

 private:
  // Remembers what it was asked for: a function that does not know a keyword does not ignore it.
  class Keywords : public std::map<std::string, Meaning> {
   public:
    using map = std::map<std::string, Meaning>;
    using map::map;
    iterator find(const std::string& key) { return asked.insert(key), map::find(key); }
    const_iterator find(const std::string& key) const { return asked.insert(key), map::find(key); }
    bool contains(const std::string& key) const { return asked.insert(key), map::contains(key); }
    Meaning& operator[](const std::string& key) { return asked.insert(key), map::operator[](key); }
    mutable std::set<std::string> asked;
  };

  Result<Meaning> Call(const PythonExpression& call, const Names& names);
  Result<Meaning> Apply(const std::string& name, Meanings arguments, Keywords keywords);
  Result<Meaning> ApplyTable(const std::vector<Function>& definitions, Meanings arguments,
                             Keywords keywords, const Names& more, const std::string& name);
  Result<Meaning> Binary(const std::string& op, const Meaning& a, const Meaning& b);
  Result<Meaning> Subscript(const PythonExpression& expression, const Names& names);
  Result<Meaning> Point(const std::string& primitive, const Meanings& operands);
  Result<Meaning> Power(const Meaning& base, const Meaning& exponent);
  Result<Meaning> Matmul(Id a, Id b);

  // A call whose first argument is a tensor.
  struct NativeCall {
    const std::string& name;
    const Meanings& arguments;
    Keywords& keywords;
    // By position or keyword; kNone where it is not given.
    Meaning Argument(size_t at, const char* keyword) const {
      if (at < arguments.size()) return arguments[at];
      const auto found = keywords.find(keyword);
      return found == keywords.end() ? Meaning{} : found->second;
    }
  };
  // Functions that need shapes; nothing: not known to this one.
  std::optional<Result<Meaning>> Native(const std::string& name, Meanings& arguments,
                                        Keywords& keywords);             // evaluate_shapes.cc
  std::optional<Result<Meaning>> Viewed(const NativeCall& call);         // evaluate_shapes.cc
  std::optional<Result<Meaning>> Reduced(const NativeCall& call);        // evaluate_reductions.cc
  std::optional<Result<Meaning>> ClassLoss(const NativeCall& call);      // evaluate_reductions.cc
  std::optional<Result<Meaning>> Normalization(const NativeCall& call);  // evaluate_modules.cc
  // evaluate_moves.cc: tensors made of numbers, and elements that change place.
  std::optional<Result<Meaning>> Created(const std::string& name, const Meanings& arguments,
                                         const Keywords& keywords);
  Result<Meaning> Counted(const Meanings& arguments, const Meaning& type);
  std::optional<Result<Meaning>> Moved(const NativeCall& call);
  Result<Meaning> Spread(const Meanings& arguments);
  Result<Meaning> Triangle(const Meaning& x, bool upper, int64_t diagonal);
  Result<Meaning> Stacked(const Meanings& parts, const Meaning& dim);
  Result<Meaning> PixelShuffle(Id x, int64_t factor, bool back);
  Result<Meaning> ChannelShuffle(Id x, int64_t groups);
  Result<Meaning> Repeated(Id x, size_t axis, int64_t count, bool interleave);
  Result<Meaning> Unfolded(Id x, int64_t kernel, int64_t stride, int64_t padding);
  Result<Meaning> Reflected(Id x, const Meanings& sizes, bool replicate);
  // evaluate_resample.cc: windows of uneven sizes, interpolation.
  Result<Meaning> UnevenPool(Id x, size_t axes, int64_t count, bool max);
  std::optional<Result<Meaning>> Resampled(const NativeCall& call);
  // Source positions of one output axis and the weights of their elements.
  struct Taps {
    std::vector<Id> at;
    std::vector<Meaning> weights;  // none: one tap of weight 1
  };
  Result<Taps> TapsOf(const std::string& mode, bool align_corners, DimId in, DimId out,
                      const Meaning& scale, Id position);
  // evaluate_structure.cc: products that structure makes cheaper; nothing where it does not.
  bool Allows(const char* rule) const;
  bool ReadOnce(Id id) const;
  Meaning ByRule(const char* rule, const Meaning& value);
  std::optional<Result<Meaning>> Structured(Id a, Id b);
  std::optional<Result<Meaning>> SummedProduct(Id x, const std::vector<int>& axes, bool keepdim);
  Result<Meaning> Linear(Id x, const Meaning& weight, const Meaning& bias,
                         const std::string& module);
  // evaluate_products.cc: einsum, attention.
  Result<Meaning> Einsum(const std::string& equation, const Meanings& operands);
  std::optional<Result<Meaning>> Attention(const NativeCall& call);
  Result<Meaning> MultiheadAttention(const Meanings& arguments, Keywords& keywords,
                                     const Meanings& inputs);
  // evaluate_templates.cc: operators that a kernel of kernel_templates.h can compute.
  std::optional<Result<Meaning>> Templated(const NativeCall& call);
  // evaluate_index.cc: pooling, indexing, slices and other reads at computed places.
  std::optional<Result<Meaning>> Indexed(const std::string& name, const Meanings& arguments,
                                         Keywords& keywords);
  Result<Id> Integer(const char* primitive, Id a, Id b);
  Result<Id> IntegerBy(const char* primitive, Id a, int64_t b) {
    return Integer(primitive, a, p_->Size(p_->graph.dims.Constant(b)));
  }
  Result<Meaning> Load(Id source, const std::vector<Id>& indices);
  // Element i of an index, moved to `axis` among `rank`: for the other axes it has size 1.
  Result<Id> AlongAxis(Id index, size_t axis, size_t rank);
  Result<Meaning> Pool(Id x, const std::string& name, const Meanings& arguments,
                       Keywords& keywords);
  Result<Meaning> AdaptivePool(Id x, const std::string& name, const Meaning& size);
  Result<Meaning> Slice(Id x, size_t axis, DimId from, DimId size);
  Result<Meaning> Select(Id x, size_t axis, Id index);
  // x[…, a:b], x[:, i]: nothing where the subscript is of another kind.
  Result<std::optional<Meaning>> Part(Id x, const PythonExpression& subscript, const Names& names);
  Result<Meaning> Concatenated(const Meanings& parts, const Meaning& dim);
  Result<Meaning> Padded(Id x, const Meanings& sizes, const Meaning& value);
  // A view that a kernel reads without a copy, as `load`.
  Meaning ReadAs(const Meaning& view, const Result<Meaning>& load);
  Id Readable(Id id) const;
  Result<Meaning> Module(const Names& names, const Meanings& inputs);
  Result<Meaning> Reduce(ReduceKind kind, Id x, const Meaning& dim, bool keepdim);
  // The pair of extreme value and its index, along one axis.
  Result<Meaning> Extreme(ReduceKind kind, Id x, const Meaning& dim, bool keepdim);
  Id Position(const std::vector<DimId>& shape, size_t axis);
  Result<Meaning> Mean(Id x, const Meaning& dim, bool keepdim);
  Result<Meaning> Reshape(Id x, std::vector<DimId> shape);
  Result<Meaning> Normalized(Id x, std::vector<int> axes, const Meaning& eps, bool centred);
  Result<Meaning> Affine(Meaning x, const Meaning& weight, const Meaning& bias, size_t axis);
  // The running statistics by name; none: they are not kept.
  using Running = std::function<Meaning(const char*)>;
  Result<Meaning> BatchNorm(Id x, const Meaning& weight, const Meaning& bias, const Meaning& eps,
                            const Meaning& momentum, const Running& running);
  Result<Meaning> BatchNormOf(const Meaning& x, const Meaning& weight, const Meaning& bias,
                              const Meaning& eps, const Running& running);
  Result<Meaning> PickClass(Id x, Id index, size_t axis, bool keepdim);
  Meaning View(Id x, const std::string& text, std::vector<DimId> shape);
  Result<std::vector<int>> Axes(const Meaning& dim, size_t rank);
  Meaning Size(DimId dim);
  Meaning Weight(const std::string& name, std::vector<DimId> shape);
  Id ToTensor(const Meaning& meaning);
  std::vector<Id> Operands(const Meanings& meanings);

  Program* p_;
  const Tables& tables_;
  const LowerOptions& options_;
  bool training_;
  std::optional<PythonExpression> constructor_;
  std::string path_;
  int depth_ = 0;
};

inline bool IsTrue(const Meaning& value) { return value.number && *value.number != 0; }
inline Status Unknown(const std::string& what) { return InvalidArgument("not known: " + what); }

}  // namespace davinci::teacher
