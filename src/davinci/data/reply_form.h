// The two forms of a reply of the Policy agent.
#pragma once

namespace davinci {

enum class ReplyForm {
  kFile,  // the candidate's whole Python file
  kDelta  // what the task's file and the prelude do not have: kernels, and the class or function
};

}  // namespace davinci
