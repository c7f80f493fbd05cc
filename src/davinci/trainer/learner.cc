#include "davinci/trainer/learner.h"

#include "davinci/model/library_abi.h"

namespace davinci::trainer {

Result<std::unique_ptr<Learner>> OpenLearner(const LearnerOptions& options) {
  DAVINCI_ASSIGN_OR_RETURN(void* symbol, model::ModelLibrarySymbol(kTrainerSymbol));
  const TrainerApi* api = reinterpret_cast<const TrainerApi* (*)()>(symbol)();
  if (api->abi != kTrainerAbi)
    return FailedPrecondition("libdavinci_model.so is of another build; build davinci again");
  return api->make_learner(options);
}

}  // namespace davinci::trainer
