#include "davinci/comm/agree.h"

#include <fmt/format.h>

#include <string_view>

#include "davinci/base/number.h"

namespace davinci::comm {

Status Agree(RankGroup* group, const Status& mine) {
  if (group == nullptr) return mine;
  const std::string text =
      mine.ok() ? "" : fmt::format("{}:{}", static_cast<int>(mine.code()), mine.message());
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<std::string> all, group->Exchange(text));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const size_t colon = all[rank].find(':');
    const auto number = WholeNumber<int>(std::string_view(all[rank]).substr(0, colon));
    const auto code =
        number.has_value() ? static_cast<StatusCode>(number.value()) : StatusCode::kInternal;
    const std::string message = all[rank].substr(colon + 1);
    return {code, rank == 0 ? message : fmt::format("rank {}: {}", rank, message)};
  }
  return Status::Ok();
}

}  // namespace davinci::comm
