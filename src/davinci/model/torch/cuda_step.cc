#include "davinci/model/torch/cuda_step.h"

namespace davinci::model {

using at::Tensor;

StepInputs StepInputs::Slice(const Tensor& bytes, int64_t rows) {
  StepInputs inputs;
  int64_t offset = 0;
  const auto take = [&](at::ScalarType type, int64_t count) {
    const auto size = static_cast<int64_t>(c10::elementSize(type)) * count;
    Tensor part = bytes.narrow(0, offset, size).view(type);
    offset += (size + 15) / 16 * 16;
    return part;
  };
  inputs.tokens = take(at::kLong, rows);
  inputs.positions = take(at::kLong, rows);
  inputs.at = take(at::kLong, rows);
  inputs.sources = take(at::kLong, rows);
  inputs.top_k = take(at::kLong, rows);
  inputs.noise = take(at::kFloat, rows);
  inputs.inverse_temperature = take(at::kFloat, rows);
  inputs.top_p = take(at::kFloat, rows);
  inputs.min_p = take(at::kFloat, rows);
  inputs.starts = take(at::kInt, rows + 1);
  inputs.lengths = take(at::kInt, rows);
  inputs.greedy = take(at::kBool, rows);
  return inputs;
}

int64_t StepInputs::NumBytes(int64_t rows) { return (5 * 8 + 6 * 4 + 1) * rows + 4 + 12 * 16; }

Drawn Drawn::Slice(const Tensor& bytes, int64_t rows) {
  return {bytes.narrow(0, 0, 8 * rows).view(at::kLong),
          bytes.narrow(0, 8 * rows, 4 * rows).view(at::kFloat)};
}

void CheckLaunch(const Status& status) { TORCH_CHECK(status.ok(), status.message()); }

}  // namespace davinci::model
