// A delta reply leaves lines out where prompts show steps (TaskBrief::steps): calls that stay
// PyTorch's, sizes, short names of modules, the return. Behind each kernel a reply says what it
// computes,
//
//   @kernel
//   def f1(x, y, o, N, C):
//       ...
//
//   t1 = torch.empty_like(x)
//   f1[cdiv(A * B, 64)](x, self.fc.weight, t1, A * B, C)
//
//   class ModelNew(Model):
//       def forward(self, x):
//           ...
//
// and these lines become forward's, as if they stood in it. Kernels that cannot work are left out
// (sound_kernels.h), and what they would have computed is filled in, too. Each name of the steps
// that it reads and does not make is made in front of its first use, by the module's own calls. A
// forward without a return gets the module's, and the module's lines in the place of its own ones
// for the same names, but for memory that a kernel gets. Batches of batch norms are counted as the
// module's lines do it, where these do. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "davinci/agent/plain_code.h"
#include "davinci/agent/sound_kernels.h"

namespace davinci::agent {

// `code` with its forward filled in. A tensor of the plain forward, or an input of one
// without a return, is contiguous where it is an argument of a kernel. Code without a forward stays
// as it is.
std::string FilledIn(const PlainForward& plain, const std::string& code);

// The same without kernels that cannot work, and without those that are `wrong`. `sound`: what
// goes, and what stays.
std::string FilledIn(const PlainForward& plain, const KnownNames& known, const std::string& code,
                     SoundKernels* sound, const std::vector<LeftOut>& wrong = {});

// The lines of a whole forward that FilledIn() does not make by itself. `plain`: names that the
// plain forward makes; `written`: tensors that kernels write. A forward that changes something in
// place stays whole, as its lines have an order, but for the statistics of batch norms.
std::vector<std::string> WithoutPlainLines(const std::vector<std::string>& lines,
                                           const std::set<std::string>& plain,
                                           const std::set<std::string>& written);

}  // namespace davinci::agent
