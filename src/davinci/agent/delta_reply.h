// Replies of the form "delta" (data/reply_form.h): kernels, and the class or function that takes
// the place of the task's, which may extend what the task's file defines. The candidate that is
// judged and exported is one plain file:
//
//   the task's file | its sizes of the target | what the reply names of the prelude | the reply
//
// A reply's forward that leaves out what the task's steps say is filled in first (plain_forward.h),
// without kernels that cannot work (sound_kernels.h).
// A name of the prelude (data/prelude.h) that the task's file binds too gets another one, in the
// prelude and in the reply. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/sound_kernels.h"
#include "davinci/agent/task_brief.h"
#include "davinci/data/prelude.h"
#include "davinci/llm/code_extraction.h"

namespace davinci::agent {

// The code of a reply (llm/code_extraction.h). Beside steps the class is the module's own, so that
// kernels count whose class is missing, or which end in the middle because the reply was cut.
llm::Extraction ExtractReply(std::string_view text, llm::FinishReason finish,
                             const TaskBrief& task);

// `reply`: the code of the reply (llm/code_extraction.h). The brief gives the task's file and
// sizes. `sound`, if not null: what of the reply is in the candidate, and what is not. `wrong`:
// kernels to leave out that are known to be wrong.
std::string AssembleCandidate(const Prelude& prelude, const TaskBrief& task,
                              const std::string& reply, SoundKernels* sound = nullptr,
                              const std::vector<LeftOut>& wrong = {});

}  // namespace davinci::agent
