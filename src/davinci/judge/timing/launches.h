// Several processes of baseline and candidate, timed by turns: what a process is born with (where
// its memory lies, above all) is sampled. Cpu only: on a device a process costs more than it tells.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// As many as the protocol asks for, loaded and warm, where they are cheap; the first is current.
Result<bool> LaunchMore(Trial& trial);

}  // namespace davinci::judge
