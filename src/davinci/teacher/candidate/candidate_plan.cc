#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/regions/memory_order.h"

namespace davinci::teacher {

void CandidateWriter::MakePlan() {
  std::set<Id> vendor;
  const Program before = d_.program;
  for (bool again = true; again;) {
    again = false;
    d_.program = before;
    ChooseProducts(&d_.program, d_.rules, vendor);
    d_.plan = Fuse(&d_.program, d_.rules);
    if (d_.Allows(Rule::kReadSlices))
      for (Region& region : d_.plan.regions) FollowMemory(d_.program, &region);
    d_.fused.assign(d_.plan.regions.size(), -1);
    for (size_t r = 0; r < d_.plan.regions.size(); ++r)
      for (const auto& [id, placement] : d_.plan.regions[r].placements)
        if (d_.program[id].own && d_.Allows(Rule::kProductEpilogue) &&
            IsEpilogue(d_.program, d_.plan.regions[r], id))
          d_.fused[r] = id;
    for (const Plan::Step& step : d_.plan.steps)
      if (step.region < 0 && d_.program[step.value].own &&
          NeedsEpilogue(d_.program, step.value, d_.rules) &&
          std::find(d_.fused.begin(), d_.fused.end(), step.value) == d_.fused.end())
        again = vendor.insert(step.value).second || again;
  }
}

ProductKernel CandidateWriter::KernelOf(Id value, const Region& region,
                                        const LaunchSettings& launch) {
  ProductKernel kernel;
  const TensorValue& made = d_.program[value];
  const MatrixProduct& product = *made.product;
  kernel.value = value;
  kernel.whole_rows = !region.members.empty() && region.HasReduction();
  kernel.tile = TileFor(d_.program, value, kernel.whole_rows);
  kernel.split =
      d_.Allows(Rule::kSplitOperands) && !kernel.whole_rows && SplitsOnce(d_.program, value);
  if (kernel.split) kernel.tile = {128, 128, 32, 8, 3};
  if (launch.tile != 1 && !kernel.whole_rows) {
    const auto scaled = [&](int side) {
      return std::clamp(static_cast<int>(side * launch.tile), 16, 256);
    };
    kernel.tile.rows = scaled(kernel.tile.rows);
    kernel.tile.cols = scaled(kernel.tile.cols);
    kernel.tile.warps = std::clamp(static_cast<int>(kernel.tile.warps * launch.tile), 2, 8);
  }
  kernel.compensated = d_.graph.precision == synth::Precision::kFp32;
  const ProductShape shape = ShapeOf(d_.program, value);
  // Where operands do not stay in the cache anyway.
  kernel.grouped = d_.Allows(Rule::kGroupTiles) && !kernel.whole_rows &&
                   shape.rows >= 8 * kernel.tile.rows && shape.cols >= 8 * kernel.tile.cols;
  kernel.left = lines_.Host(product.left);
  kernel.right = lines_.Host(product.right);
  if (kernel.split) {
    std::tie(kernel.left, kernel.left_low) = Split(product.left, product.left_transposed);
    std::tie(kernel.right, kernel.right_low) = Split(product.right, !product.right_transposed);
  }
  if (product.bias >= 0) kernel.bias = lines_.Host(product.bias);
  const auto& left = d_.program[product.left].shape;
  kernel.depth = d_.program.SizeText(left[left.size() - (product.left_transposed ? 2 : 1)]);
  if (d_.program[product.right].shape.size() > 2) {
    kernel.batch =
        d_.program.SizeText(d_.program.Product({made.shape.begin(), made.shape.end() - 2}));
    kernel.batched_rows = d_.program.SizeText(made.shape[made.shape.size() - 2]);
  }
  if (d_.Allows(Rule::kSkipTriangle)) SkipTriangles(d_.program, &kernel);
  kernel.mirrored = d_.Allows(Rule::kMirrorSymmetric) && IsSymmetric(d_.program, region, value) &&
                    kernel.tile.rows == kernel.tile.cols && shape.rows > kernel.tile.rows;
  // Two layouts of a larger tile do not fit into registers.
  if (kernel.mirrored && kernel.tile.rows > 64)
    kernel.tile = {64, 64, kernel.tile.depth, 4, kernel.tile.stages};
  if (kernel.mirrored) kernel.last = "tl.where(tile_n <= tile_m, depth, 0)";
  return kernel;
}

void CandidateWriter::NoteProduct(const ProductKernel& kernel, bool epilogue) {
  if (kernel.compensated) d_.Use(Rule::kCompensatedTf32);
  if (kernel.split) d_.Use(Rule::kSplitOperands);
  if (kernel.grouped) d_.Use(Rule::kGroupTiles);
  if (kernel.mirrored)
    d_.Use(Rule::kMirrorSymmetric);
  else if (!kernel.first.empty() || !kernel.last.empty())
    d_.Use(Rule::kSkipTriangle);
  if (epilogue) d_.Use(Rule::kProductEpilogue);
}

void CandidateWriter::ReadSlices() {
  for (const auto& [view, load] : d_.program.read_as) slices_[load] = view;
  if (d_.Allows(Rule::kReadSlices)) return;
  for (TensorValue& value : d_.program.values)
    for (Id& operand : value.operands)
      if (const auto found = slices_.find(operand); found != slices_.end()) operand = found->second;
}

void CandidateWriter::LeaveOutProducts() {
  std::vector<bool> live(d_.program.values.size());
  for (const auto* ends : {&d_.program.outputs, &d_.program.effects})
    for (const Id end : *ends) live[static_cast<size_t>(end)] = true;
  std::vector<int> readers(d_.program.values.size());
  for (const Id output : d_.program.outputs) ++readers[static_cast<size_t>(output)];
  for (const auto& [value, buffer] : d_.program.updates) live[static_cast<size_t>(value)] = true;
  for (size_t i = d_.program.values.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const Id operand : d_.program.values[i].operands) {
      live[static_cast<size_t>(operand)] = true;
      ++readers[static_cast<size_t>(operand)];
    }
  }
  for (const auto& [sum, instead] : d_.program.cheaper) {
    if (!live[static_cast<size_t>(sum)] ||
        readers[static_cast<size_t>(d_.program[sum].operands[0])] != 1)
      continue;
    for (size_t i = static_cast<size_t>(instead) + 1; i < d_.program.values.size(); ++i)
      for (Id& operand : d_.program.values[i].operands)
        if (operand == sum) operand = instead;
    for (Id& output : d_.program.outputs)
      if (output == sum) output = instead;
    for (auto& [value, buffer] : d_.program.updates)
      if (value == sum) value = instead;
  }
}

}  // namespace davinci::teacher
