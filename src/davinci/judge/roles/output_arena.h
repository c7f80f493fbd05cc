// OutputArena: where outputs of a frozen runner are copied to, shared with the oracle that compares
// them (cpu target).
//
// A sealed memfd mapped in both processes, in two halves: candidate and baseline. Copying checks
// every claim of the runner: sizes, strides and the extent of the memory behind them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"
#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/failure.h"

namespace davinci::judge {

enum class Side { kCandidate = 0, kBaseline = 1 };

class OutputArena {
 public:
  // Room for `expected` on both sides (strided outputs may take up to twice their dense size).
  static Result<OutputArena> Create(const std::vector<OutputTensor>& expected);
  OutputArena() = default;
  OutputArena(OutputArena&& other) noexcept;
  OutputArena& operator=(OutputArena&& other) noexcept;
  ~OutputArena();

  int fd() const { return fd_.get(); }
  int64_t num_bytes() const { return num_bytes_; }
  bool Fits(const std::vector<OutputTensor>& expected) const;

  // Copies the outputs out of the frozen process; on success `layout` describes them for the
  // oracle.
  std::optional<Failure> Collect(const worker::Process& process, Side side,
                                 const std::vector<OutputTensor>& outputs, nlohmann::json* layout);

 private:
  UniqueFd fd_;
  char* data_ = nullptr;
  int64_t num_bytes_ = 0;
};

// Bytes per element of "f32", "i64", …; 0 for an unknown name.
int64_t ElementBytes(std::string_view dtype);
int64_t NumElements(const OutputTensor& tensor);
// Whether two elements may lie in one place: a broadcast, or windows that overlap.
bool OverlapsItself(const OutputTensor& tensor);
// Have two contiguous outputs memory in common?
bool Overlap(const OutputTensor& one, const OutputTensor& other);

// Row by row without gaps, as most operators return it.
bool IsContiguous(const OutputTensor& tensor);

// Structure, count, dtype and shape of what came back, against what the reference returns; and
// whether it is contiguous where that is, since bringing it into order is work (runners do it
// before they say done).
std::optional<Failure> CheckSignature(const std::string& structure,
                                      const std::vector<OutputTensor>& outputs,
                                      const std::string& expected_structure,
                                      const std::vector<OutputTensor>& expected,
                                      std::string_view device);

}  // namespace davinci::judge
