// Convolutions of few channels as windows that a kernel sums; the others stay calls of the library,
// whose blocks of channels are faster.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"
#include "davinci/teacher/semantics/windows.h"

namespace davinci::teacher {
namespace {

// Measured on one core with AVX-512: a library pads channels to 16, and short rows leave vector
// registers unfilled.
constexpr int64_t kMostChannels = 8, kShortestRow = 32, kMostTaps = 128;

using Numbers = std::vector<int64_t>;

struct ConvAxis {
  int64_t size, kernel;
  WindowSteps steps;
  int64_t Out() const {
    return (size + 2 * steps.padding - steps.dilation * (kernel - 1) - 1) / steps.stride + 1;
  }
};

std::optional<Numbers> NumbersPerAxis(const Meaning& given, size_t axes, int64_t otherwise) {
  if (given.IsNone()) return Numbers(axes, otherwise);
  const Meanings all =
      given.IsSequence() && given.items.size() == axes
          ? given.items
          : Meanings(axes, given.IsSequence() && given.items.size() == 1 ? given.items[0] : given);
  Numbers numbers;
  for (const Meaning& one : all) {
    const auto number = Integral(one);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

WindowSpace SpaceOf(Builder& b, DimId batch, int64_t channels, const std::vector<ConvAxis>& axes) {
  std::vector<DimId> out, window;
  for (const ConvAxis& axis : axes) {
    out.push_back(b.Constant(axis.Out()));
    window.push_back(b.Constant(axis.kernel));
  }
  return SpaceOfWindows(batch, b.Constant(channels), out, window);
}

// The element of x under each tap; 0 beyond the border.
Result<Meaning> Tapped(Builder& b, Id x, const WindowSpace& space,
                       const std::vector<ConvAxis>& axes, bool per_channel) {
  const auto shape = b.p[x].shape;
  std::vector<Id> at = {b.Position(space.sizes, 0),
                        per_channel ? b.Position(space.sizes, 1) : b.p.Size(b.Constant(0))};
  std::optional<Meaning> inside;
  for (size_t i = 0; i < axes.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(at.emplace_back(),
                             PlaceInWindow(b, space, shape, i, axes[i].steps, &inside));
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, b.Load(x, at, Builder::Source::kInMemory));
  return inside ? b.Point("where", {*inside, element, Meaning::Number(0)}) : element;
}

// conv1d, conv2d, conv3d with one channel of the input for each of the output.
Result<Meaning> FewChannels(const Call& call) {
  Builder& b = call.b;
  const size_t axes = static_cast<size_t>(call.name[4] - '0');
  const Meaning weight = call.Argument(1, "weight"), bias = call.Argument(2, "bias");
  if (!b.Allows(Rule::kColumnsCpp) || b.p.graph.precision != synth::Precision::kFp32 ||
      !weight.IsTensor() || call.Rank() != axes + 2)
    return call.NotKnown();
  const auto x = ConstantSizes(b.p, call.x()), w = ConstantSizes(b.p, weight.id);
  const auto strides = NumbersPerAxis(call.Argument(3, "stride"), axes, 1);
  const auto paddings = NumbersPerAxis(call.Argument(4, "padding"), axes, 0);
  const auto dilations = NumbersPerAxis(call.Argument(5, "dilation"), axes, 1);
  const Meaning given = call.Argument(6, "groups");
  const auto groups = given.IsNone() ? std::optional<int64_t>(1) : Integral(given);
  if (!x || !w || w->size() != axes + 2 || !strides || !paddings || !dilations || !groups)
    return call.NotKnown();
  const int64_t channels = (*w)[0];
  const bool per_channel = (*x)[1] > 1;
  if ((*w)[1] != 1 || (*x)[1] != *groups || (per_channel && *groups != channels) ||
      channels > kMostChannels)
    return call.NotKnown();
  std::vector<ConvAxis> window;
  int64_t taps = 1;
  for (size_t i = 0; i < axes; ++i) {
    window.push_back(
        {(*x)[i + 2], (*w)[i + 2], {(*strides)[i], (*paddings)[i], (*dilations)[i], false}});
    taps *= window.back().kernel;
  }
  if (taps > kMostTaps || window.back().Out() < kShortestRow) return call.NotKnown();
  const WindowSpace space = SpaceOf(b, b.p[call.x()].shape[0], channels, window);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, Tapped(b, call.x(), space, window, per_channel));
  // Weight and bias along the axes of the sum.
  std::vector<DimId> wide(space.sizes.size(), b.Constant(1));
  wide[1] = space.sizes[1];
  std::vector<DimId> lifted(axes + 2, b.Constant(1));
  lifted[1] = space.sizes[1];
  for (const size_t axis : space.window_at) wide[axis] = space.sizes[axis];
  DAVINCI_ASSIGN_OR_RETURN(const Meaning kernel, b.Reshape(weight.id, wide));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning product, b.Binary("*", element, kernel));
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning sum,
      Reduce(b, ReduceKind::kSum, product.id,
             Meaning::Axes({space.window_at.begin(), space.window_at.end()}), false));
  if (!bias.IsTensor()) return sum;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning shift, b.Reshape(bias.id, lifted));
  return b.Binary("+", sum, shift);
}

}  // namespace

void AddConvolutions(FunctionRegistry* registry) {
  registry->Add({"conv1d", "conv2d", "conv3d"}, FewChannels);
}

}  // namespace davinci::teacher
