#include <fmt/format.h>

#include "davinci/teacher/candidate/candidate_writer.h"

namespace davinci::teacher {
namespace {

// Rounds to ten bits of fraction; what rounding would make infinite is cut off.
constexpr const char* kSplit = R"(@triton.jit
def split_tf32(x):
    bits = x.to(tl.int32, bitcast=True)
    high = ((bits + 0x1000) & -8192).to(tl.float32, bitcast=True)
    cut = (bits & -8192).to(tl.float32, bitcast=True)
    high = tl.where(tl.abs(high) < float("inf"), high, cut)
    high = tl.where(x == x, high, x)
    low = x - high
    return high, tl.where(low == low, low, 0.0)
)";
constexpr const char* kSplitRows = R"(@triton.jit
def split_rows_kernel(x_ptr, high_ptr, low_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    high, low = split_tf32(tl.load(x_ptr + i, mask=i < n, other=0.0))
    tl.store(high_ptr + i, high, mask=i < n)
    tl.store(low_ptr + i, low, mask=i < n)
)";
constexpr const char* kSplitTransposed = R"(@triton.jit
def split_transposed_kernel(x_ptr, high_ptr, low_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    matrix = tl.program_id(2).to(tl.int64) * rows * cols
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    x = tl.load(x_ptr + matrix + row[:, None] * cols + col[None, :], mask=inside, other=0.0)
    high, low = split_tf32(tl.trans(x))
    out = matrix + col[:, None] * rows + row[None, :]
    tl.store(high_ptr + out, high, mask=tl.trans(inside))
    tl.store(low_ptr + out, low, mask=tl.trans(inside))
)";

}  // namespace

std::pair<std::string, std::string> CandidateWriter::Split(Id factor, bool transposed) {
  const auto [found, added] = split_.try_emplace({factor, transposed});
  if (!added) return found->second;
  const std::string source = lines_.Host(factor);
  const std::string name = fmt::format("part{}", split_.size());
  found->second = {name, name + "_low"};
  d_.Line(fmt::format("{0}, {0}_low = {1}.new_empty({1}.numel()), {1}.new_empty({1}.numel())", name,
                      source));
  d_.file->Define(kSplit);
  d_.file->Define(transposed ? kSplitTransposed : kSplitRows);
  if (!transposed) {
    d_.Line(
        fmt::format("split_rows_kernel[(({0}.numel() + 4095) // 4096,)]({0}, {1}, {1}_low, "
                    "{0}.numel(), BLOCK=4096, num_warps=8)",
                    source, name));
    return found->second;
  }
  const auto& shape = d_.program[factor].shape;
  const std::string rows = d_.program.SizeText(shape[shape.size() - 2]),
                    cols = d_.program.SizeText(shape.back());
  std::string matrices = "1";
  if (shape.size() > 2)
    matrices = d_.program.SizeText(d_.program.Product({shape.begin(), shape.end() - 2}));
  d_.Line(
      fmt::format("split_transposed_kernel[(({0} + 63) // 64, ({1} + 63) // 64, {2})]({3}, {4}, "
                  "{4}_low, {0}, {1}, BLOCK=64)",
                  rows, cols, matrices, source, name));
  return found->second;
}

}  // namespace davinci::teacher
