#include "davinci/rollout/evaluator.h"

#include "davinci/base/hash.h"

namespace davinci::rollout {

std::string Question::Hash() const {
  return Sha256()
      .Field(task_hash)
      .Field(TargetName(target))
      .Field(LanguageName(language))
      .Field(source)
      .Field(protocol)
      .Field(baseline)
      .FinishHex();
}

}  // namespace davinci::rollout
