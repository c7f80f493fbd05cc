// A brief answer in the words of the task's steps (semantics/steps.h): what a step makes has its
// name in forward, and a note in front of each kernel says which steps it takes, which tensors it
// reads, in the order of its arguments, and which it writes:
//   # t2 linear, t3 relu: t1, self.fc.weight, self.fc.bias -> t3
//   # also t5 linear, t6 relu: t3, self.fc2.weight, self.fc2.bias -> t6
// for each further use of the kernel. Internal, but for PlanOf().
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/candidate/draft.h"
#include "davinci/teacher/candidate/host_text.h"

namespace davinci::teacher {

// The steps' names of values, as kernels have them; empty where the draft has no steps.
std::map<Id, std::string> NamesInKernels(const Draft& draft);
// A note for each kernel of the text, which takes the steps of `nodes`: its place is in the text
// now, what it says in the draft.
void AddKernelNotes(const std::set<int>& nodes, Draft* draft, KernelText* text);
// The same for a further use of kernels that the file has under the names `known`; `text` has its
// own names in source and call.
void AddFurtherNotes(const std::set<int>& nodes, const KernelText& text,
                     const std::vector<std::string>& known, Draft* draft);
// The notes of a reply beside steps, a line each, as prompts show them (agent::TaskBrief::plan).
std::string PlanOf(const std::string& reply);
// The kernels of the file with the notes at their places.
std::string WithKernelNotes(std::string kernels, const std::vector<KernelNote>& notes,
                            const HostNames& names);
// The kernels, and behind each the lines up to its launch; the further lines behind the last one.
std::string WithLaunches(const std::string& kernels, const std::vector<std::string>& lines);
// The arguments that kernels write, of all lines that launch them.
std::set<std::string> WrittenTensors(const std::string& kernels,
                                     const std::vector<std::string>& lines);
// The steps' names of what the lines of forward name. Further tensors of step t12 are a12, b12, …
// in the order in which they are made. Empty where the draft has no steps.
HostNames NamesOfSteps(const Draft& draft, const std::vector<std::string>& lines);

}  // namespace davinci::teacher
