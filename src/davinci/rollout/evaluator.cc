#include "davinci/rollout/evaluator.h"

#include "davinci/base/hash.h"

namespace davinci::rollout {

std::string Question::Hash() const {
  Sha256 hash;
  if (repetition > 0) hash.Field("repetition").Field(std::to_string(repetition));
  for (const std::string& shape : shapes) hash.Field("shape").Field(shape);
  return hash.Field(task_hash)
      .Field(TargetName(target))
      .Field(LanguageName(language))
      .Field(source)
      .Field(protocol)
      .Field(baseline)
      .FinishHex();
}

}  // namespace davinci::rollout
