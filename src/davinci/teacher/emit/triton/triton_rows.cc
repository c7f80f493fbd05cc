#include "davinci/teacher/emit/triton/triton_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

constexpr double kMostInRegisters = 16384;  // elements of a row that one program holds
constexpr double kTile = 4096;              // elements of a program's tile of short rows
constexpr double kOnePassBlock = 1024;      // elements: five sums of each stay in registers

}  // namespace

KernelText TritonRows::Write() {
  std::vector<std::string> parameters = Parameters(), arguments = Arguments();
  SizesOfAxes(&parameters, &arguments);
  const double cols = CudaSize(form_.reduced), rows = CudaSize(form_.kept);
  const bool scan = HasScan();
  const Rule in_registers = HasMax() ? Rule::kSoftmaxInRegisters : Rule::kNormInRegisters;
  const bool registers =
      rules_.Contains(scan ? Rule::kScanTiles : in_registers) && cols <= kMostInRegisters;
  if (scan && rules_.Contains(Rule::kScanTiles)) text_.used.Insert(Rule::kScanTiles);
  const bool inner = !form_.axes.empty() && !form_.axes.back().reduced;  // lanes along rows
  const std::string rows_text = Multiplied(form_.kept), cols_text = Multiplied(form_.reduced);
  std::string block;
  // Rows of a program: of short rows several, but programs for every multiprocessor come first.
  const auto rows_of = [&](double least) {
    double count = kTile / std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
    count = std::max(count, least);
    while (count > 1 && rows / count < kPrograms) count /= 2;
    return count;
  };
  double tile_rows = rules_.Contains(Rule::kManyRows) ? rows_of(1) : 1;
  if (inner && rules_.Contains(Rule::kColumnsTriton)) {
    const double wide = std::max(rows_of(32), 16.0);
    if (wide != tile_rows || !registers) text_.used.Insert(Rule::kColumnsTriton);
    tile_rows = wide;
  } else if (tile_rows > 1) {
    text_.used.Insert(Rule::kManyRows);
  }
  const double padded = std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
  const bool windows = rules_.Contains(Rule::kColumnsTriton) && !scan && IsOfWindows(cols);
  if (windows) {
    text_.used.Insert(Rule::kColumnsTriton);
    text_.used.Erase(Rule::kManyRows);
    tile_rows = 1024;
    while (tile_rows > 128 && rows / tile_rows < kPrograms) tile_rows /= 2;
  }
  const bool held =
      registers && !windows && (tile_rows == 1 || tile_rows * padded <= kMostInRegisters);
  double width =
      inner && rules_.Contains(Rule::kColumnsTriton) ? 128 : std::min(4096.0, 4096 / tile_rows);
  if (windows) width = 1;
  if (!held && rules_.Contains(Rule::kOnePassVariance) && !scan) {
    FindVariances(program_, region_, &own_form_);
    if (!form_.variance_of.empty()) {
      text_.used.Insert(Rule::kOnePassVariance);
      width = std::min(width, kOnePassBlock / tile_rows);
    }
  }
  if (!held && rules_.Contains(Rule::kPlaneBlocks) && !scan && !inner && !windows)
    width = PlaneBlock(width);
  const double splits = scan || held || windows || !rules_.Contains(Rule::kSplitRows)
                            ? 1
                            : SplitsOf(std::ceil(rows / tile_rows), std::ceil(cols / width));
  const auto per = static_cast<int64_t>(tile_rows);
  one_row_ = brief_ && per == 1;
  windows_ = brief_ && windows;
  const std::string grid = per == 1 ? HostSize(form_.kept) : CeilDiv(HostSize(form_.kept), per);
  parameters.push_back("ROWS: tl.constexpr");
  parameters.push_back("BLOCK: tl.constexpr");
  if (splits > 1) {
    text_.used.Insert(Rule::kSplitRows);
    if (tile_rows * width > 2048) warps_ = 8;
    SplitRows(parameters, arguments, {rows_text, cols_text, grid, per, width, splits});
    return std::move(text_);
  }
  Row(rows_text);
  if (held) {
    if (!scan) text_.used.Insert(in_registers);
    if (brief_) text_.helpers.insert("cols");
    Columns("col", cols_text, brief_ ? "cols(BLOCK)" : "tl.arange(0, BLOCK)[None, :]");
    Decompose(form_.reduced, "col");
    ReduceInRegisters();
    StoreAll();
    block = NextPowerOfTwo(HostSize(form_.reduced));
    const double tile = tile_rows * std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
    if (tile > 4096) warps_ = tile > 8192 ? 16 : 8;
  } else {
    for (int pass = 0; pass < form_.num_passes; ++pass)
      Pass(pass, cols_text,
           planes_    ? fmt::format("range(0, {})", StepsText())
           : windows_ ? fmt::format("range({})", cols_text)
                      : fmt::format("range(0, {}, BLOCK)", cols_text),
           nullptr);
    for (const KernelTensor& tensor : form_.outputs)
      if (!region_.IsPerElement(tensor.value)) Store(tensor);
    // Without the rule a scan takes element after element.
    const double taken = scan && !rules_.Contains(Rule::kScanTiles) ? 1 : width;
    block = fmt::format("{}", static_cast<int64_t>(taken));
    if (tile_rows * taken > 2048) warps_ = 8;
  }
  Add(form_.name, parameters, arguments, fmt::format("({},)", grid), Constants(per, block));
  return std::move(text_);
}

bool TritonRows::IsOfWindows(double cols) const {
  constexpr double kMostElements = 64;
  if (cols > kMostElements || form_.kept.empty() || form_.num_passes > 1) return false;
  bool loads = false;
  for (const Id member : region_.members) {
    const TensorValue& value = p_[member];
    loads = loads || value.kind == Kind::kLoad;
    if (region_.IsPerElement(member) && IsOutput(member)) return false;
  }
  return loads;
}

double TritonRows::PlaneBlock(double otherwise) {
  constexpr double kMostLost = 0.2;
  // With sizes that the compiler knows, larger blocks over planes are faster than small ones.
  const double least = rules_.Contains(Rule::kConstantSizes) ? 512 : 128;
  if (form_.reduced.size() < 2 || !form_.axes.back().reduced) return otherwise;
  for (const KernelTensor& tensor : form_.outputs)
    if (region_.IsPerElement(tensor.value) && !HasLast(tensor)) return otherwise;
  const double plane = p_.At(form_.axes.back().dim, synth::Binding::kCuda);
  double block = otherwise;
  while (block >= least && std::ceil(plane / block) * block > plane / (1 - kMostLost)) block /= 2;
  if (block < least) return otherwise;
  planes_ = true;
  text_.used.Insert(Rule::kPlaneBlocks);
  return block;
}

std::string TritonRows::BlocksText() const {
  return fmt::format("tl.cdiv({}, BLOCK)", form_.axes.back().size);
}

std::string TritonRows::StepsText() const {
  const std::vector<int> outer(form_.reduced.begin(), form_.reduced.end() - 1);
  return Multiplied(outer) + " * " + BlocksText();
}

void TritonRows::Row(const std::string& rows_text) {
  if (brief_) {
    text_.helpers.insert("rows");
    Line(Counts32() ? "row = rows(ROWS)" : "row = rows(ROWS).to(tl.int64)");
  } else {
    Line(fmt::format("row = ({} * ROWS + tl.arange(0, ROWS))[:, None]", FirstProgram()));
  }
  if (!one_row_) Line(fmt::format("in_row = row < {}", rows_text));
  Decompose(form_.kept, "row");
}

std::string TritonRows::Constants(int64_t rows_per, const std::string& block) const {
  const int warps = std::clamp(static_cast<int>(warps_ * launch_.warps), 1, 16);
  return fmt::format(", ROWS={}, BLOCK={}{}", rows_per, block,
                     warps != 4 ? fmt::format(", num_warps={}", warps) : "");
}

}  // namespace davinci::teacher
