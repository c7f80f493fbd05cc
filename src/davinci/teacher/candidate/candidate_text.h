// A candidate as text: the whole file, or a delta reply. Internal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davinci/teacher/candidate/draft.h"
#include "davinci/teacher/candidate/host_text.h"
#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

class CandidateText {
 public:
  explicit CandidateText(const Draft& draft) : d_(draft) {}

  // The whole file.
  std::string File() const;
  // The kernels, and a class that differs from the task's own in its forward alone.
  std::string Delta() const;
  // The forward() of an imported module.
  ImportedForward Forward() const;

 private:
  std::string ImportedDelta() const;
  // Axes of what PyTorch's calls make, by variable.
  std::map<std::string, size_t> ResultRanks() const;
  // The lines of forward() in few tokens.
  std::vector<std::string> DeltaLines(std::vector<std::string> lines, const HostNames& names) const;
  std::vector<std::string> BesideSteps(std::vector<std::string> lines,
                                       const HostNames& names) const;
  std::string Assembled(const std::string& kernels, const std::string& head,
                        const std::vector<std::string>& lines) const;
  std::string ResultText() const;
  // The lines of forward(), in C++ with deletions of what is no longer read.
  std::vector<std::string> LinesOfForward() const;
  // Variables of constants that forward() reads.
  std::vector<std::string> ReadConstants() const;
  // forward() by a graph of compute().
  std::string Replay(const std::string& inputs) const;

  const Draft& d_;
};

}  // namespace davinci::teacher
