// Matrix products in fp32 with a weight in panels: 32 of its rows (columns of the product), element
// after element. A pass of one row reads the weight in the order in which it lies in memory, and a
// pass of many multiplies a block of rows by a panel in registers. Plain C++, no torch.
//
// Every output row depends on its own input row alone, bit by bit, whatever the number of rows, as
// in cpu_kernels.h: each sum runs over the inner dimension from its first element to its last.
#pragma once

#include <cstdint>

namespace davinci::model {

inline constexpr int64_t kPanelColumns = 32;
int64_t NumPanels(int64_t out);
// Floats of all panels; columns beyond the last are zero.
int64_t PanelsSize(int64_t out, int64_t inner);
// w: [out, inner], dense. Panels begin <= p < end.
void PackPanels(const float* w, int64_t out, int64_t inner, float* panels, int64_t begin,
                int64_t end);
// A row of the weight.
void UnpackPanelRow(const float* panels, int64_t inner, int64_t row, float* values);

// Instruction sets that there are kernels for. Their bits differ from each other.
enum class VectorSet { kGeneric, kAvx2, kAvx512 };
// The widest of this CPU.
VectorSet WidestVectors();

struct PanelProduct {
  const float* x = nullptr;  // [rows, inner], dense
  int64_t rows = 0;
  const float* panels = nullptr;
  int64_t out = 0;
  int64_t inner = 0;
  const float* bias = nullptr;  // [out]; may be null
  float* y = nullptr;           // [rows, out]: x w + bias, or added to y. Dense.
  bool add = false;
};
// Columns of the panels begin <= p < end; ranges do not change a bit, so that the caller decides
// about threads. `vectors`: one that this CPU has.
void MultiplyPanels(const PanelProduct& product, int64_t begin, int64_t end,
                    VectorSet vectors = WidestVectors());
// Rows that stay in the second-level cache while all panels pass over them: products of more are
// faster in pieces of so many.
int64_t PanelSlabRows(int64_t inner);

}  // namespace davinci::model
