#include "davinci/trainer/learner.h"

#include "davinci/comm/agree.h"
#include "davinci/model/library_abi.h"

namespace davinci::trainer {

namespace {

Result<const TrainerApi*> LoadApi() {
  DAVINCI_ASSIGN_OR_RETURN(void* symbol, model::ModelLibrarySymbol(kTrainerSymbol));
  const TrainerApi* api = reinterpret_cast<const TrainerApi* (*)()>(symbol)();
  if (api->abi != kTrainerAbi)
    return FailedPrecondition("libdavinci_model.so is of another build; build davinci again");
  return api;
}

}  // namespace

Result<std::unique_ptr<Learner>> OpenLearner(const LearnerOptions& options) {
  const Result<const TrainerApi*> api = LoadApi();
  DAVINCI_RETURN_IF_ERROR(comm::Agree(options.ranks, api.status()));
  return (*api)->make_learner(options);
}

}  // namespace davinci::trainer
