#include "davinci/llm/refusing_backbone.h"

#include <utility>

namespace davinci::llm {
namespace {

class Refusing final : public Backbone {
 public:
  explicit Refusing(std::string why) : why_(std::move(why)) {}
  Result<Reply> Generate(const Request&, const CancelToken&) override { return Internal(why_); }
  Result<std::vector<Reply>> GenerateMany(const Request&, int, const CancelToken&) override {
    return Internal(why_);
  }
  int64_t ContextTokens() const override { return 0; }
  std::string Name() const override { return "none"; }

 private:
  const std::string why_;
};

}  // namespace

std::unique_ptr<Backbone> RefusingBackbone(std::string why) {
  return std::make_unique<Refusing>(std::move(why));
}

}  // namespace davinci::llm
