// Interpolation to a size or by a factor: nearest, linear, cubic.
#include <functional>

#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

// Source positions of one output axis and the weights of their elements.
struct Taps {
  std::vector<Id> at;
  std::vector<Meaning> weights;  // none: one tap of weight 1
};

// One axis: element `position` of `out` elements lies at position * scale of `in` elements.
struct ResampledAxis {
  DimId in, out;
  Id last;  // the last of `in`
  Meaning scale;
  Id position;
};

class TapFinder {
 public:
  TapFinder(const Call& call, const ResampledAxis& axis) : call_(call), b_(call.b), axis_(axis) {}

  Result<Taps> Find(const std::string& mode, bool align_corners) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning step, Real(axis_.position));
    if (mode == "nearest") return Nearest(step);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning place, Place(step, align_corners));
    if (mode == "linear") return Linear(place, align_corners);
    if (mode == "cubic") return Cubic(place);
    return Unknown("interpolation of this kind");
  }

 private:
  Result<Meaning> Real(Id index) { return b_.Point("position", {Meaning::Tensor(index)}); }

  Result<Taps> Nearest(const Meaning& step) {
    Taps taps;
    DAVINCI_ASSIGN_OR_RETURN(const Meaning place, b_.Point("mul", {step, axis_.scale}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, b_.Point("trunc_index", {place}));
    DAVINCI_ASSIGN_OR_RETURN(taps.at.emplace_back(), b_.Integer("imin", index.id, axis_.last));
    return taps;
  }

  Result<Meaning> Place(const Meaning& step, bool align_corners) {
    auto& dims = b_.p.graph.dims;
    if (align_corners) {
      if (b_.p.IsOne(axis_.out)) return Unknown("corners of one element");
      DAVINCI_ASSIGN_OR_RETURN(const Meaning ratio,
                               b_.Binary("/", b_.Size(dims.Binary('-', axis_.in, b_.Constant(1))),
                                         b_.Size(dims.Binary('-', axis_.out, b_.Constant(1)))));
      return b_.Point("mul", {step, ratio});
    }
    DAVINCI_ASSIGN_OR_RETURN(Meaning place, b_.Point("add", {step, Meaning::Number(0.5)}));
    DAVINCI_ASSIGN_OR_RETURN(place, b_.Point("mul", {place, axis_.scale}));
    return b_.Point("sub", {place, Meaning::Number(0.5)});
  }

  Result<Taps> Linear(Meaning place, bool align_corners) {
    if (!align_corners) {
      DAVINCI_ASSIGN_OR_RETURN(place, b_.Point("clamp_low", {place, Meaning::Number(0)}));
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, b_.Point("trunc_index", {place}));
    DAVINCI_ASSIGN_OR_RETURN(const Id low, b_.Integer("imin", index.id, axis_.last));
    DAVINCI_ASSIGN_OR_RETURN(const Id next, b_.IntegerBy("iadd", low, 1));
    DAVINCI_ASSIGN_OR_RETURN(const Id high, b_.Integer("imin", next, axis_.last));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning whole, Real(low));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning rest, b_.Point("sub", {place, whole}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning other, b_.Point("sub", {Meaning::Number(1), rest}));
    return Taps{{low, high}, {other, rest}};
  }

  // Keys' kernel with a = -0.75.
  Result<Taps> Cubic(const Meaning& place) {
    const Meaning one = Meaning::Number(1);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning floor, b_.Point("floor", {place}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, b_.Point("trunc_index", {floor}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning t, b_.Point("sub", {place, floor}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning before, b_.Point("add", {t, one}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning behind, b_.Point("sub", {one, t}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning far, b_.Point("add", {behind, one}));
    Taps taps;
    for (const auto& [name, distance] : {std::pair<const char*, Meaning>{"cubic_far", before},
                                         {"cubic_near", t},
                                         {"cubic_near", behind},
                                         {"cubic_far", far}}) {
      DAVINCI_ASSIGN_OR_RETURN(taps.weights.emplace_back(), call_.defined.Apply(name, {distance}));
    }
    for (const int64_t offset : {-1, 0, 1, 2}) {
      DAVINCI_ASSIGN_OR_RETURN(const Id moved, offset < 0 ? b_.IntegerBy("isub", index.id, 1)
                                                          : b_.IntegerBy("iadd", index.id, offset));
      DAVINCI_ASSIGN_OR_RETURN(const Id least, b_.IntegerBy("imax", moved, 0));
      DAVINCI_ASSIGN_OR_RETURN(taps.at.emplace_back(), b_.Integer("imin", least, axis_.last));
    }
    return taps;
  }

  const Call& call_;
  Builder& b_;
  const ResampledAxis& axis_;
};

// The sum over the taps of all axes.
Result<Meaning> WeightedSum(Builder& b, Id x, const std::vector<DimId>& space,
                            const std::vector<Taps>& taps) {
  const size_t rank = space.size();
  std::vector<Id> at = {b.Position(space, 0), b.Position(space, 1)};
  at.resize(rank);
  const std::function<Result<Meaning>(size_t)> sum = [&](size_t axis) -> Result<Meaning> {
    if (axis == rank) return b.Load(x, at);
    const Taps& own = taps[axis - 2];
    std::optional<Meaning> total;
    for (size_t k = 0; k < own.at.size(); ++k) {
      at[axis] = own.at[k];
      DAVINCI_ASSIGN_OR_RETURN(Meaning part, sum(axis + 1));
      if (!own.weights.empty()) {
        DAVINCI_ASSIGN_OR_RETURN(part, b.Point("mul", {own.weights[k], part}));
      }
      if (total) {
        DAVINCI_ASSIGN_OR_RETURN(part, b.Point("add", {*total, part}));
      }
      total = part;
    }
    return *total;
  };
  return sum(2);
}

// The nearest element by a whole factor needs no arithmetic of numbers.
Result<Meaning> NearestByFactor(const Call& call, const Meaning& factor) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  const auto scale = WholeNumber(factor);
  if (!scale || *scale < 2 || static_cast<double>(*scale) != factor.number.value_or(0))
    return call.NotKnown();
  auto space = shape;
  for (size_t i = 2; i < shape.size(); ++i)
    space[i] = b.p.graph.dims.Binary('*', shape[i], b.Constant(*scale));
  std::vector<Id> indices;
  for (size_t i = 0; i < shape.size(); ++i) {
    indices.push_back(b.Position(space, i));
    if (i < 2) continue;
    DAVINCI_ASSIGN_OR_RETURN(indices[i], b.IntegerBy("idiv", indices[i], *scale));
  }
  return b.Load(call.x(), indices);
}

Result<Meaning> Interpolate(const Call& call) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  const size_t rank = shape.size();
  const Meaning size = call.Argument(1, "size"), factor = call.Argument(2, "scale_factor");
  const Meaning mode = call.Argument(3, "mode"), corners = call.Argument(4, "align_corners");
  if (rank < 3 || b.p[call.x()].dtype != DType::kFloat) return call.NotKnown();
  std::string kind = mode.IsNone() ? "nearest" : mode.text;
  if (kind == "nearest" && size.IsNone()) return NearestByFactor(call, factor);
  if (kind == "bilinear" || kind == "trilinear") kind = "linear";
  if (kind == "bicubic") kind = "cubic";
  auto& dims = b.p.graph.dims;
  auto space = shape;
  std::vector<Meaning> scales;
  for (size_t i = 2; i < rank; ++i) {
    if (size.IsNone()) {
      if (!factor.number || *factor.number < 1) return call.NotKnown();
      const auto whole = static_cast<int64_t>(*factor.number);
      if (static_cast<double>(whole) != *factor.number) return call.NotKnown();
      space[i] = dims.Binary('*', shape[i], b.Constant(whole));
      scales.push_back(Meaning::Number(1.0 / *factor.number));
      continue;
    }
    const Meaning own = !size.IsSequence()              ? size
                        : size.items.size() == rank - 2 ? size.items[i - 2]
                                                        : Meaning{};
    if (!own.number && own.dim == synth::kNoDim) return call.NotKnown();
    space[i] =
        own.dim != synth::kNoDim ? own.dim : b.Constant(static_cast<int64_t>(own.number.value()));
    DAVINCI_ASSIGN_OR_RETURN(scales.emplace_back(),
                             b.Binary("/", b.Size(shape[i]), b.Size(space[i])));
  }
  std::vector<Taps> taps;
  for (size_t i = 2; i < rank; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const Id last, LastOfAxis(b, shape, i));
    const ResampledAxis axis{shape[i], space[i], last, scales[i - 2], b.Position(space, i)};
    DAVINCI_ASSIGN_OR_RETURN(taps.emplace_back(),
                             TapFinder(call, axis).Find(kind, IsTrue(corners)));
  }
  return WeightedSum(b, call.x(), space, taps);
}

// Options are keywords of the constructor.
Result<Meaning> UpsampleModule(const ModuleCall& call) {
  return call.arguments.empty() ? Interpolate(call.As("interpolate")) : call.NotKnown();
}

}  // namespace

void AddResampling(FunctionRegistry* registry) {
  registry->Add({"interpolate"}, Interpolate);
  registry->AddModules({"nn.Upsample"}, UpsampleModule);
}

}  // namespace davinci::teacher
