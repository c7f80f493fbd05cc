#include "judging.h"

#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"

namespace davinci::app {

Result<JudgeSetup> SetUpJudges(const Installation& installation, std::string_view devices) {
  JudgeSetup setup{MakeJudgeOptions(installation), {}};
  if (devices.empty()) return setup;
  DAVINCI_ASSIGN_OR_RETURN(
      setup.devices,
      gpu::ChooseDevices(gpu::VisibleDevices(*gpu::DeviceMonitor::Create()), devices));
  if (!setup.devices.empty()) setup.options.device = setup.devices.front();
  if (devices == gpu::kNoDevice) setup.options.device = gpu::kNoDevice;
  return setup;
}

OwnJudges::OwnJudges(const JudgeSetup& setup, int in_flight)
    : pool_(setup.options, setup.devices),
      lane_("judge", in_flight),
      service_(&pool_, &lane_, nullptr) {}

Result<judge::ServiceReply> OwnJudges::Evaluate(const judge::EvaluationRequest& request,
                                                const CancelToken& cancel) {
  return service_.Evaluate(request, cancel);
}

void OwnJudges::LetGo() { pool_.LetGo(); }

}  // namespace davinci::app
