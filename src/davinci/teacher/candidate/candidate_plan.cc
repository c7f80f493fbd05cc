#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/regions/memory_order.h"

namespace davinci::teacher {

void CandidateWriter::MakePlan() {
  std::set<Id> vendor;
  const Program before = p_;
  for (bool again = true; again;) {
    again = false;
    p_ = before;
    ChooseProducts(&p_, rules_, vendor);
    plan_ = Fuse(&p_, rules_);
    if (Allows(Rule::kReadSlices))
      for (Region& region : plan_.regions) FollowMemory(p_, &region);
    fused_.assign(plan_.regions.size(), -1);
    for (size_t r = 0; r < plan_.regions.size(); ++r)
      for (const auto& [id, placement] : plan_.regions[r].placements)
        if (p_[id].own && Allows(Rule::kProductEpilogue) && IsEpilogue(p_, plan_.regions[r], id))
          fused_[r] = id;
    for (const Plan::Step& step : plan_.steps)
      if (step.region < 0 && p_[step.value].own && NeedsEpilogue(p_, step.value, rules_) &&
          std::find(fused_.begin(), fused_.end(), step.value) == fused_.end())
        again = vendor.insert(step.value).second || again;
  }
}

ProductKernel CandidateWriter::KernelOf(Id value, const Region& region,
                                        const LaunchSettings& launch) {
  ProductKernel kernel;
  const TensorValue& made = p_[value];
  const MatrixProduct& product = *made.product;
  kernel.value = value;
  kernel.whole_rows = !region.members.empty() && region.HasReduction();
  kernel.tile = TileFor(p_, value, kernel.whole_rows);
  kernel.split = Allows(Rule::kSplitOperands) && !kernel.whole_rows && SplitsOnce(p_, value);
  if (kernel.split) kernel.tile = {128, 128, 32, 8, 3};
  if (launch.tile != 1 && !kernel.whole_rows) {
    const auto scaled = [&](int side) {
      return std::clamp(static_cast<int>(side * launch.tile), 16, 256);
    };
    kernel.tile.rows = scaled(kernel.tile.rows);
    kernel.tile.cols = scaled(kernel.tile.cols);
    kernel.tile.warps = std::clamp(static_cast<int>(kernel.tile.warps * launch.tile), 2, 8);
  }
  kernel.compensated = graph_.precision == synth::Precision::kFp32;
  const ProductShape shape = ShapeOf(p_, value);
  // Where operands do not stay in the cache anyway.
  kernel.grouped = Allows(Rule::kGroupTiles) && !kernel.whole_rows &&
                   shape.rows >= 8 * kernel.tile.rows && shape.cols >= 8 * kernel.tile.cols;
  kernel.left = Host(product.left);
  kernel.right = Host(product.right);
  if (kernel.split) {
    std::tie(kernel.left, kernel.left_low) = Split(product.left, product.left_transposed);
    std::tie(kernel.right, kernel.right_low) = Split(product.right, !product.right_transposed);
  }
  if (product.bias >= 0) kernel.bias = Host(product.bias);
  const auto& left = p_[product.left].shape;
  kernel.depth = p_.SizeText(left[left.size() - (product.left_transposed ? 2 : 1)]);
  if (p_[product.right].shape.size() > 2) {
    kernel.batch = p_.SizeText(p_.Product({made.shape.begin(), made.shape.end() - 2}));
    kernel.batched_rows = p_.SizeText(made.shape[made.shape.size() - 2]);
  }
  if (Allows(Rule::kSkipTriangle)) SkipTriangles(p_, &kernel);
  kernel.mirrored = Allows(Rule::kMirrorSymmetric) && IsSymmetric(p_, region, value) &&
                    kernel.tile.rows == kernel.tile.cols && shape.rows > kernel.tile.rows;
  // Two layouts of a larger tile do not fit into registers.
  if (kernel.mirrored && kernel.tile.rows > 64)
    kernel.tile = {64, 64, kernel.tile.depth, 4, kernel.tile.stages};
  if (kernel.mirrored) kernel.last = "tl.where(tile_n <= tile_m, depth, 0)";
  return kernel;
}

void CandidateWriter::NoteProduct(const ProductKernel& kernel, bool epilogue) {
  if (kernel.compensated) Use(Rule::kCompensatedTf32);
  if (kernel.split) Use(Rule::kSplitOperands);
  if (kernel.grouped) Use(Rule::kGroupTiles);
  if (kernel.mirrored)
    Use(Rule::kMirrorSymmetric);
  else if (!kernel.first.empty() || !kernel.last.empty())
    Use(Rule::kSkipTriangle);
  if (epilogue) Use(Rule::kProductEpilogue);
}

void CandidateWriter::ReadSlices() {
  for (const auto& [view, load] : p_.read_as) slices_[load] = view;
  if (Allows(Rule::kReadSlices)) return;
  for (TensorValue& value : p_.values)
    for (Id& operand : value.operands)
      if (const auto found = slices_.find(operand); found != slices_.end()) operand = found->second;
}

void CandidateWriter::LeaveOutProducts() {
  std::vector<bool> live(p_.values.size());
  for (const auto* ends : {&p_.outputs, &p_.effects})
    for (const Id end : *ends) live[static_cast<size_t>(end)] = true;
  std::vector<int> readers(p_.values.size());
  for (const Id output : p_.outputs) ++readers[static_cast<size_t>(output)];
  for (const auto& [value, buffer] : p_.updates) live[static_cast<size_t>(value)] = true;
  for (size_t i = p_.values.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const Id operand : p_.values[i].operands) {
      live[static_cast<size_t>(operand)] = true;
      ++readers[static_cast<size_t>(operand)];
    }
  }
  for (const auto& [sum, instead] : p_.cheaper) {
    if (!live[static_cast<size_t>(sum)] || readers[static_cast<size_t>(p_[sum].operands[0])] != 1)
      continue;
    for (size_t i = static_cast<size_t>(instead) + 1; i < p_.values.size(); ++i)
      for (Id& operand : p_.values[i].operands)
        if (operand == sum) operand = instead;
    for (Id& output : p_.outputs)
      if (output == sum) output = instead;
    for (auto& [value, buffer] : p_.updates)
      if (value == sum) value = instead;
  }
}

}  // namespace davinci::teacher
