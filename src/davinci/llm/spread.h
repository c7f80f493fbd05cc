// SpreadBackbone: one model in several places (devices) as one Backbone.
//
// A conversation goes to the place of its beginning, the messages up to the first of the user,
// where that prompt is computed once for all its rollouts; where that place has much more to do
// than the idlest one, to that one. Where a request is answered decides nothing about the answer as
// long as the places hold the same weights and the request has a seed (model/engine.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/llm/backbone.h"

namespace davinci::llm {

class SpreadBackbone final : public Backbone {
 public:
  // At least one; all the same model.
  explicit SpreadBackbone(std::vector<std::unique_ptr<Backbone>> places);

  Result<Reply> Generate(const Request& request, const CancelToken& cancel) override;
  // Samples run at the same time.
  Result<std::vector<Reply>> GenerateMany(const Request& request, int n,
                                          const CancelToken& cancel) override;
  int64_t CountTokens(std::string_view text) const override;
  int64_t CountPromptTokens(const Request& request) const override;
  int64_t ContextTokens() const override;  // the least of all
  std::string Name() const override;

 private:
  const std::vector<std::unique_ptr<Backbone>> places_;
  Mutex mutex_;
  std::vector<int> under_way_ DAVINCI_GUARDED_BY(mutex_);  // by place
};

}  // namespace davinci::llm
