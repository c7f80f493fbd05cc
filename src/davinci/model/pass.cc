#include "davinci/model/pass.h"

namespace davinci::model {

void FillStep(std::span<const StepRow> rows, int64_t count, int64_t spare,
              const StepColumns& columns) {
  const StepRow none{0, -1, 0, spare, {}};
  for (int64_t i = 0; i < count; ++i) {
    const StepRow& row =
        i < static_cast<int64_t>(rows.size()) ? rows[static_cast<size_t>(i)] : none;
    columns.tokens[i] = row.token;
    columns.sources[i] = row.source;
    columns.positions[i] = row.position;
    columns.at[i] = row.start + row.position;
    columns.starts[i] = static_cast<int32_t>(row.start);
    columns.lengths[i] = static_cast<int32_t>(row.position + 1);
  }
}

}  // namespace davinci::model
