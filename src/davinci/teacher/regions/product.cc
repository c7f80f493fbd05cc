#include "davinci/teacher/regions/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace davinci::teacher {
namespace {

constexpr double kMultiprocessors = 132;
constexpr double kLeastSide = 16;         // tl.dot takes no smaller tiles
constexpr double kMostColumns = 128;      // of a row that a tile holds, in fp32
constexpr double kMostHalfColumns = 256;  // the same in half precision
// Half-precision products stay with the library from this depth on: reading and writing the result
// once more is a small share of them.
constexpr double kMostHalfDepth = 1024;
// Terms below which writing the result is the work, which the library does better.
constexpr double kLeastDepthAlone = 64;
// Enough tiles for nearly every multiprocessor.
constexpr double kBusy = 0.9 * kMultiprocessors;
// Products of so few terms take the time of a launch, however few tiles there are.
constexpr double kFewTerms = 256;
// Elements from which on fp32 rows are read in vectors: the length of a row is a multiple.
constexpr double kVector = 4;
// Multiplications and additions per microsecond: the library in fp32; one kernel that splits what
// it loads, where both operands lie along the inner dimension and where one does not (it is
// transposed in registers); a kernel whose operands were split before. And bytes per microsecond,
// and a launch.
constexpr double kLibraryRate = 52e6, kAlongRate = 75e6, kAcrossRate = 38e6, kSplitRate = 105e6;
constexpr double kBytesPerUs = 2.5e6, kLaunchUs = 3;
constexpr ProductTile kSplitTile = {128, 128, 32, 8, 3};
// The depth from which a product with an operand that does not lie along it is the library's.
constexpr double kLeastDepthAcross = 256;
constexpr double kMostIndex32 = 2147483648.0;

const std::vector<DimId>& Shape(const Program& p, Id id) { return p[id].shape; }

bool Batched(const Program& p, const MatrixProduct& product) {
  return Shape(p, product.right).size() > 2;
}

std::vector<int> AllAxes(const std::vector<std::vector<int>>& axes, size_t from, size_t to) {
  std::vector<int> all;
  for (size_t i = from; i < to; ++i) all.insert(all.end(), axes[i].begin(), axes[i].end());
  std::sort(all.begin(), all.end());
  return all;
}

bool IsMultiple(double number, double of) { return std::fmod(number, of) == 0; }

// Both operands are read in vectors. A depth that the compiler knows needs no more than kVector; a
// size known at run time is specialised where it is a multiple of 16.
bool ReadsVectors(const ProductShape& shape, const MatrixProduct& product) {
  return IsMultiple(shape.depth, kVector) &&
         (product.right_transposed || IsMultiple(shape.cols, 16)) &&
         (!product.left_transposed || IsMultiple(shape.rows, 16));
}

double Tiles(const ProductShape& shape, const ProductTile& tile) {
  return shape.batch * std::ceil(shape.rows / tile.rows) * std::ceil(shape.cols / tile.cols);
}

// Tiles of fp32 products, with how fast they are where there are enough of them.
struct RatedTile {
  ProductTile tile;
  double rate;
};
const std::vector<RatedTile>& CompensatedTiles() {
  static const std::vector<RatedTile> tiles = {
      {{128, 128, 32, 8, 3}, 1.47}, {{64, 64, 32, 4, 3}, 1.35}, {{64, 32, 32, 4, 3}, 1.15}};
  return tiles;
}

// A form that the kernel has: operands of equal batch, or a matrix on the right.
bool IsRegular(const Program& p, Id id, const MatrixProduct& product) {
  const auto &out = Shape(p, id), &left = Shape(p, product.left), &right = Shape(p, product.right);
  if (out.size() < 2 || left.size() < 2 || right.size() < 2 || left.size() != out.size())
    return false;
  if (p[product.left].dtype != DType::kFloat || p[product.right].dtype != DType::kFloat)
    return false;
  if (right.size() > 2) {
    if (right.size() != left.size() || product.bias >= 0) return false;
    for (size_t i = 0; i + 2 < left.size(); ++i)
      if (!p.Same(left[i], right[i])) return false;
  } else if (product.left_transposed && left.size() > 2) {
    return false;
  }
  const size_t a = left.size(), b = right.size();
  const DimId depth = left[product.left_transposed ? a - 2 : a - 1];
  return p.Same(depth, right[product.right_transposed ? b - 1 : b - 2]) &&
         p.Same(out[out.size() - 2], left[product.left_transposed ? a - 1 : a - 2]) &&
         p.Same(out.back(), right[product.right_transposed ? b - 2 : b - 1]);
}

bool LiesAlongDepth(const MatrixProduct& product) {
  return product.right_transposed && !product.left_transposed;
}

enum class Corner { kNone, kUpper, kLower };  // where elements may differ from zero

// Of torch.tril(x) and torch.triu(x).
Corner CornerOf(const Program& p, Id id) {
  const TensorValue& value = p[id];
  if (value.kind != TensorValue::Kind::kPoint || value.primitive->name != "where" ||
      p[value.operands[2]].number != 0.0)
    return Corner::kNone;
  const TensorValue& keep = p[value.operands[0]];
  if (keep.kind != TensorValue::Kind::kPoint ||
      (keep.primitive->name != "ge" && keep.primitive->name != "le"))
    return Corner::kNone;
  const TensorValue &col = p[keep.operands[0]], &row = p[keep.operands[1]];
  const auto rank = static_cast<int>(value.shape.size());
  if (rank < 2 || col.kind != TensorValue::Kind::kIota || row.kind != TensorValue::Kind::kIota ||
      col.axes != std::vector<int>{rank - 1} || row.axes != std::vector<int>{rank - 2})
    return Corner::kNone;
  return keep.primitive->name == "le" ? Corner::kLower : Corner::kUpper;
}

Corner Transposed(Corner corner, bool transposed) {
  if (!transposed || corner == Corner::kNone) return corner;
  return corner == Corner::kLower ? Corner::kUpper : Corner::kLower;
}

}  // namespace

ProductShape ShapeOf(const Program& p, Id value) {
  const MatrixProduct& product = p[value].product.value();
  const auto& out = Shape(p, value);
  const auto at = [&](DimId dim) { return p.At(dim, synth::Binding::kCuda); };
  ProductShape shape;
  shape.cols = at(out.back());
  for (size_t i = 0; i + 1 < out.size(); ++i)
    (Batched(p, product) && i + 2 < out.size() ? shape.batch : shape.rows) *= at(out[i]);
  const auto& left = Shape(p, product.left);
  shape.depth = at(left[left.size() - (product.left_transposed ? 2 : 1)]);
  return shape;
}

void ChooseProducts(Program* program, const RuleSet& rules, const std::set<Id>& vendor) {
  const bool fp32 = program->graph.precision == synth::Precision::kFp32;
  if (!rules.Contains(fp32 ? Rule::kCompensatedTf32 : Rule::kProductEpilogue)) return;
  for (size_t i = 0; i < program->values.size(); ++i) {
    const auto id = static_cast<Id>(i);
    const auto product = program->MatrixProductOf(id);
    if (!product || vendor.contains(id) || !IsRegular(*program, id, *product)) continue;
    TensorValue& value = program->values[i];
    const auto before = value.product;
    value.product = product;
    const ProductShape shape = ShapeOf(*program, id);
    const bool large = shape.rows >= kLeastSide && shape.cols >= kLeastSide && shape.depth >= 16;
    // Few tiles and a long inner dimension: the library splits it.
    const bool busy =
        fp32 ? Tiles(shape, CompensatedTiles().back().tile) >= kBusy || shape.depth <= kFewTerms
             : Tiles(shape, {64, 64}) >= kMultiprocessors / 2 || shape.depth <= 1024;
    // Half precision: only with an epilogue to save a pass over memory, decided by who reads it.
    const bool pays = fp32 ? ReadsVectors(shape, *product) ||
                                 (rules.Contains(Rule::kSplitOperands) && SplitsOnce(*program, id))
                           : shape.depth <= kMostHalfDepth;
    if (!large || !busy || !pays) {
      value.product = before;
      continue;
    }
    value.own = true;
    value.operands = {product->left, product->right};
    if (product->bias >= 0) value.operands.push_back(product->bias);
  }
}

bool IsEpilogue(const Program& p, const Region& region, Id product) {
  const auto placed = region.placements.find(product);
  if (placed == region.placements.end()) return false;
  const auto& axes = placed->second.axes;
  const std::vector<int> columns = AllAxes(axes, axes.size() - 1, axes.size());
  const std::vector<int> all = AllAxes(axes, 0, axes.size());
  if (columns.empty() || columns.size() == all.size()) return false;
  if (all.size() != region.space.size() || std::adjacent_find(all.begin(), all.end()) != all.end())
    return false;
  for (const Id member : region.members) {
    const TensorValue& value = p[member];
    if (value.kind == TensorValue::Kind::kScan) return false;
    if (value.kind == TensorValue::Kind::kLoad && value.operands[0] == product) return false;
  }
  for (size_t i = 0; i < p.values.size(); ++i) {
    const auto& reads = p.values[i].operands;
    if (std::find(reads.begin(), reads.end(), product) == reads.end()) continue;
    if (std::find(region.members.begin(), region.members.end(), static_cast<Id>(i)) ==
        region.members.end())
      return false;
  }
  if (std::find(p.outputs.begin(), p.outputs.end(), product) != p.outputs.end()) return false;
  if (!region.HasReduction()) return true;
  std::vector<int> reduced;
  for (size_t a = 0; a < region.space.size(); ++a)
    if (region.space[a].reduced) reduced.push_back(static_cast<int>(a));
  const ProductShape shape = ShapeOf(p, product);
  // Tiles of whole rows are few: enough of them must be left.
  const bool fp32 = p.graph.precision == synth::Precision::kFp32;
  return reduced == columns && shape.cols <= (fp32 ? kMostColumns : kMostHalfColumns) &&
         shape.batch * shape.rows / 64 >= (fp32 ? kBusy : kMultiprocessors / 2);
}

Region EpilogueOf(const Program&, Region region, Id product) {
  for (const int axis : region.placements.at(product).axes.back())
    region.space[static_cast<size_t>(axis)].reduced = true;
  return region;
}

Region RegionOf(const Program& p, Id product) {
  Region region;
  Placement placement;
  const auto& shape = Shape(p, product);
  for (size_t i = 0; i < shape.size(); ++i) {
    placement.hidden.emplace_back();
    placement.axes.emplace_back();
    if (p.IsOne(shape[i])) continue;
    const auto axis = static_cast<int>(region.space.size());
    region.space.push_back({shape[i], i + 1 == shape.size(), false});
    region.order.push_back(axis);
    placement.axes.back().push_back(axis);
  }
  region.placements[product] = placement;
  region.outputs = {product};
  return region;
}

ProductTile TileFor(const Program& p, Id product, bool whole_rows) {
  const ProductShape shape = ShapeOf(p, product);
  const bool fp32 = p.graph.precision == synth::Precision::kFp32;
  const int depth = fp32 ? 32 : 64;
  if (whole_rows) {
    const int cols = std::max(16, static_cast<int>(std::exp2(std::ceil(std::log2(shape.cols)))));
    if (fp32 && cols == 128 && shape.batch * shape.rows / 128 >= kBusy)
      return {128, cols, depth, 8, 3};
    return {64, cols, cols > 128 ? depth / 2 : depth, cols > 64 ? 8 : 4, cols > 128 ? 2 : 3};
  }
  if (fp32) {
    // Multiprocessors take tiles in waves.
    const auto cost = [&](const RatedTile& rated) {
      const ProductTile& tile = rated.tile;
      return std::ceil(Tiles(shape, tile) / kMultiprocessors) * tile.rows * tile.cols / rated.rate;
    };
    const auto& tiles = CompensatedTiles();
    return std::min_element(tiles.begin(), tiles.end(),
                            [&](const auto& a, const auto& b) { return cost(a) < cost(b); })
        ->tile;
  }
  // From the largest on: the first of which there are enough for every multiprocessor.
  for (const ProductTile& tile :
       {ProductTile{128, 128, depth, 8, 3}, ProductTile{128, 64, depth, 8, 3},
        ProductTile{64, 64, depth, 4, 3}}) {
    const bool fits = 2 * shape.cols > tile.cols && 2 * shape.rows > tile.rows;
    if (fits && Tiles(shape, tile) >= kMultiprocessors) return tile;
  }
  return {shape.rows > 32 ? 64 : 32, shape.cols > 32 ? 64 : 32, depth, 4, 3};
}

bool SplitsOnce(const Program& p, Id value) {
  const MatrixProduct& product = p[value].product.value();
  const ProductShape shape = ShapeOf(p, value);
  if (p.graph.precision != synth::Precision::kFp32 || product.left == product.right ||
      !IsMultiple(shape.depth, kVector))
    return false;
  const auto padded = [&](const ProductTile& tile) {
    const double waves = std::ceil(Tiles(shape, tile) / kMultiprocessors);
    return 2 * waves * kMultiprocessors * tile.rows * tile.cols * shape.depth;
  };
  const double library =
      2 * shape.batch * shape.rows * shape.cols * shape.depth / kLibraryRate + kLaunchUs;
  const double one =
      padded(kSplitTile) / (LiesAlongDepth(product) ? kAlongRate : kAcrossRate) + kLaunchUs;
  const double elements = p.Elements(product.left, synth::Binding::kCuda) +
                          p.Elements(product.right, synth::Binding::kCuda);
  const double split =
      padded(kSplitTile) / kSplitRate + 12 * elements / kBytesPerUs + 3 * kLaunchUs;
  return split < 0.95 * std::min(library, one);
}

bool NeedsEpilogue(const Program& p, Id product, const RuleSet& rules) {
  const double depth = ShapeOf(p, product).depth;
  return p.graph.precision != synth::Precision::kFp32 || depth < kLeastDepthAlone ||
         (depth >= kLeastDepthAcross && !LiesAlongDepth(p[product].product.value()) &&
          !(rules.Contains(Rule::kSplitOperands) && SplitsOnce(p, product)));
}

bool KnowsDepth(const Program& p, Id product) {
  return p.graph.precision == synth::Precision::kFp32 && !IsMultiple(ShapeOf(p, product).depth, 16);
}

bool IsSymmetric(const Program& p, const Region& region, Id id) {
  const MatrixProduct& product = p[id].product.value();
  for (const Id member : region.members) {
    if (p[member].kind != TensorValue::Kind::kPoint) return false;
    for (const Id operand : p[member].operands)
      if (operand != id && p[operand].kind != TensorValue::Kind::kScalar &&
          std::find(region.members.begin(), region.members.end(), operand) == region.members.end())
        return false;
  }
  return product.left == product.right && product.left_transposed != product.right_transposed &&
         product.bias < 0 && Shape(p, product.left).size() == 2;
}

void SkipTriangles(const Program& p, ProductKernel* kernel) {
  const MatrixProduct& product = p[kernel->value].product.value();
  // Rows of several matrices on one on the right are numbered through.
  const bool own_rows = Batched(p, product) || Shape(p, product.left).size() == 2;
  const Corner left =
      own_rows ? Transposed(CornerOf(p, product.left), product.left_transposed) : Corner::kNone;
  // A tile of whole rows needs all of the right one.
  const Corner right = kernel->whole_rows
                           ? Corner::kNone
                           : Transposed(CornerOf(p, product.right), product.right_transposed);
  const auto both = [](const char* pick, std::vector<std::string> bounds) {
    return bounds.size() == 2 ? fmt::format("tl.{}({}, {})", pick, bounds[0], bounds[1])
           : bounds.empty()   ? ""
                              : bounds[0];
  };
  std::vector<std::string> first, last;
  if (left == Corner::kUpper) first.emplace_back("tile_m * ROWS");
  if (left == Corner::kLower) last.emplace_back("(tile_m + 1) * ROWS");
  if (right == Corner::kLower) first.emplace_back("tile_n * BLOCK");
  if (right == Corner::kUpper) last.emplace_back("(tile_n + 1) * BLOCK");
  kernel->first = both("maximum", first);
  kernel->last = both("minimum", last);
  if (first.size() == 2) kernel->first = "(" + kernel->first + ")";
  if (!first.empty()) kernel->first += " // DEPTH * DEPTH";
  if (!last.empty()) kernel->last = fmt::format("tl.minimum({}, depth)", kernel->last);
}

std::vector<std::string> ProductLines(const Program& p, const ProductKernel& kernel,
                                      const std::string& rows, const std::string& cols, bool wide) {
  const MatrixProduct& product = p[kernel.value].product.value();
  const bool batched = !kernel.batched_rows.empty();
  const std::string own_rows = batched ? "m" : rows;
  const std::string to64 = wide ? ".to(tl.int64)" : "";
  std::vector<std::string> lines;
  const auto line = [&](const std::string& text) { lines.push_back(text); };
  if (kernel.whole_rows) {
    line("tile_m = tl.program_id(0)" + to64);
    line("tile_n = 0");
  } else if (kernel.grouped) {
    line(fmt::format("tiles_m, tiles_n = tl.cdiv({}, ROWS), tl.cdiv({}, BLOCK)", own_rows, cols));
    line("# Programs that run together share strips of both operands.");
    line("group = tl.program_id(0)" + to64 + " // (8 * tiles_n)");
    line("height = tl.minimum(tiles_m - group * 8, 8)");
    line("place = tl.program_id(0) % (8 * tiles_n)");
    line("tile_m = group * 8 + place % height");
    line("tile_n = place // height");
  } else {
    line(fmt::format("tiles_n = tl.cdiv({}, BLOCK)", cols));
    line("tile_m = tl.program_id(0)" + to64 + " // tiles_n");
    line("tile_n = tl.program_id(0) % tiles_n");
  }
  if (kernel.mirrored) {
    line("# The result is symmetric: tiles above the diagonal are written by those below it.");
  }
  line(batched ? "r = (tile_m * ROWS + tl.arange(0, ROWS))[:, None]"
               : "row = (tile_m * ROWS + tl.arange(0, ROWS))[:, None]");
  line(kernel.mirrored ? fmt::format("in_row = row < tl.where(tile_n <= tile_m, {}, 0)", own_rows)
                       : fmt::format("in_row = {} < {}", batched ? "r" : "row", own_rows));
  if (batched) {
    line("matrix = tl.program_id(1)" + to64);
    line("row = matrix * m + r");
  }
  line("col = (tile_n * BLOCK + tl.arange(0, BLOCK))[None, :]");
  line(fmt::format("in_col = col < {}", cols));
  line("k = tl.arange(0, DEPTH)");
  // Offsets, not pointers, live through the loop: they need half the registers.
  const bool left_transposed = product.left_transposed && !kernel.split;
  const bool right_transposed = product.right_transposed || kernel.split;
  if (left_transposed)
    line(batched ? "left = matrix * m * depth + r + k[None, :] * m"
                 : fmt::format("left = row + k[None, :] * {}", Bracketed(own_rows)));
  else
    line("left = row * depth + k[None, :]");
  const std::string from = batched ? fmt::format("matrix * depth * {} + ", Bracketed(cols)) : "";
  if (right_transposed)
    line(fmt::format("right = {}col * depth + k[:, None]", from));
  else
    line(fmt::format("right = {}k[:, None] * {} + col", from, Bracketed(cols)));
  const std::string left_step = left_transposed ? "start * " + Bracketed(own_rows) : "start";
  const std::string right_step = right_transposed ? "start" : "start * " + Bracketed(cols);
  // Tensor cores add with truncation. This form begins every step's sum at zero and adds steps with
  // rounding, so the error grows with the steps alone: no other accumulator is needed.
  const std::string precision = kernel.compensated ? ", input_precision=\"tf32x3\"" : "";
  line("total = tl.zeros((ROWS, BLOCK), tl.float32)");
  const std::string first = kernel.first.empty() ? "0" : "first";
  const std::string last = kernel.last.empty() ? "depth" : "last";
  if (first == "first" || (last == "last" && !kernel.mirrored))
    line("# Outside of these one operand is zero.");
  if (first == "first") line("first = " + kernel.first);
  if (last == "last") line("last = " + kernel.last);
  line(fmt::format("for start in range({}, {}, DEPTH):", first, last));
  line("    in_k = start + k < depth");
  const auto load = [&](const char* name, const char* side, const char* low,
                        const std::string& step, const char* mask) {
    line(fmt::format("    {} = tl.load({}{}_ptr + {} + {}, mask={}, other=0.0)", name, side, low,
                     side, step, mask));
  };
  const char *in_left = "in_row & in_k[None, :]", *in_right = "in_k[:, None] & in_col";
  load("a", "left", "", left_step, in_left);
  load("b", "right", "", right_step, in_right);
  if (kernel.split) {
    load("a_low", "left", "_low", left_step, in_left);
    load("b_low", "right", "_low", right_step, in_right);
    line("    part = tl.dot(a_low, b, input_precision=\"tf32\")");
    line("    part = tl.dot(a, b_low, part, input_precision=\"tf32\")");
    line("    total += tl.dot(a, b, part, input_precision=\"tf32\")");
  } else {
    line(fmt::format("    total = tl.dot(a, b, total{})", precision));
  }
  if (product.bias >= 0)
    line(fmt::format("total += tl.load(bias_ptr + col, mask=in_col, other=0.0){}",
                     p.graph.precision == synth::Precision::kFp32 ? "" : ".to(tl.float32)"));
  return lines;
}

}  // namespace davinci::teacher
