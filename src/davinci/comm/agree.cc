#include "davinci/comm/agree.h"

#include <fmt/format.h>

#include <cstdlib>

namespace davinci::comm {

Status Agree(RankGroup* group, const Status& mine) {
  if (group == nullptr) return mine;
  const std::string text =
      mine.ok() ? "" : fmt::format("{}:{}", static_cast<int>(mine.code()), mine.message());
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<std::string> all, group->Exchange(text));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const size_t colon = all[rank].find(':');
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): Agree() of a rank wrote the
    // text
    const auto code = static_cast<StatusCode>(std::atoi(all[rank].c_str()));
    const std::string message = all[rank].substr(colon + 1);
    return {code, rank == 0 ? message : fmt::format("rank {}: {}", rank, message)};
  }
  return Status::Ok();
}

}  // namespace davinci::comm
