// Matrix products that a kernel of one's own computes: which ones, with which tiles, and the loop
// over the inner dimension. What follows a product is the epilogue of its kernel, where a tile
// holds all that it needs; emitter.h writes it. Internal.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/regions/fusion.h"
#include "davinci/teacher/regions/kernel_form.h"

namespace davinci::teacher {

// A tile of the result, and how far a step goes along the inner dimension.
struct ProductTile {
  int rows = 64, cols = 64, depth = 32, warps = 4, stages = 3;
};

struct ProductShape {
  double batch = 1, rows = 1, cols = 1, depth = 1;  // on the cuda target
};

// A product as a kernel sees it. `region` has a kept axis for rows and a reduced one for columns.
struct ProductKernel {
  Id value = -1;
  ProductTile tile;
  bool whole_rows = false;  // a tile holds the row: something reduces it
  bool grouped = false;
  bool compensated = false;
  // Operands are split into TF32 numbers and rests by kernels of their own, and lie along the inner
  // dimension: `left` and `left_low`, `right` and `right_low`.
  bool split = false;
  bool mirrored = false;  // tiles above the diagonal are written by those below it
  // Bounds of the inner dimension for a tile, as kernel text, where an operand is a triangle whose
  // zeros are left out; "": from 0, to the depth. `first` is a multiple of the step.
  std::string first, last;
  std::string left_low, right_low;  // where split
  std::string left, right, bias;    // Python text at the call; bias may be ""
  std::string batch, batched_rows;  // Python text: matrices, rows of one of them; "": no batch
  std::string depth;
};

// Marks the products that get a kernel (`TensorValue::own`), but those of `vendor`; their operands
// become the tensors that lie in memory, without transposing views.
void ChooseProducts(Program* program, const RuleSet& rules, const std::set<Id>& vendor);

ProductShape ShapeOf(const Program& program, Id value);

// Whether the region, all of it, is an epilogue of the product: one element for each of its own,
// and reductions over rows that a tile holds.
bool IsEpilogue(const Program& program, const Region& region, Id product);
// The region with the product's columns as reduced axes, which is how epilogues are written.
Region EpilogueOf(const Program& program, Region region, Id product);
// The product alone as a region: it has no members, its output is the product.
Region RegionOf(const Program& program, Id product);

ProductTile TileFor(const Program& program, Id product, bool whole_rows);
// True where a kernel that reads operands which were split before is the fastest: for a large fp32
// product.
bool SplitsOnce(const Program& program, Id product);
// True where the library is faster unless something follows in the kernel.
bool NeedsEpilogue(const Program& program, Id product, const RuleSet& rules);
// Whether the kernel is compiled for the depth, which lets it read rows of that length in vectors.
bool KnowsDepth(const Program& program, Id product);

// Whether the product is a matrix times its transpose, and the region computes the same of each of
// its elements wherever that lies.
bool IsSymmetric(const Program& program, const Region& region, Id product);

// Fills the bounds of a kernel whose operands are torch.tril(…) or torch.triu(…).
void SkipTriangles(const Program& program, ProductKernel* kernel);

// The lines of a kernel in front of the epilogue: they define row, col, in_row, in_col and `total`.
// `rows`, `cols`: text of the numbers of rows and columns in the kernel.
std::vector<std::string> ProductLines(const Program& program, const ProductKernel& kernel,
                                      const std::string& rows, const std::string& cols, bool wide);

}  // namespace davinci::teacher
