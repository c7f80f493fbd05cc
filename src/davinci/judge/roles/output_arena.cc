#include "davinci/judge/roles/output_arena.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "davinci/base/utf8.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr int64_t kAlign = 256;
// Strided outputs may span more than their dense size; beyond this factor they are copied element
// by element.
constexpr int64_t kMaxSpanFactor = 2;

constexpr size_t kPiecesAtOnce = 1 << 16;

int64_t AlignUp(int64_t value) { return (value + kAlign - 1) / kAlign * kAlign; }

int64_t DenseBytes(const std::vector<OutputTensor>& tensors) {
  int64_t total = 0;
  for (const OutputTensor& t : tensors)
    total += AlignUp(std::max<int64_t>(8, NumElements(t) * ElementBytes(t.dtype)));
  return total;
}

// "tuple(T,T)" and "list(T,T)" are the same answer, a Python number the same as a 0-d tensor.
std::string Normalise(std::string structure) {
  for (size_t at = 0; (at = structure.find("list(", at)) != std::string::npos;)
    structure.replace(at, 5, "tuple(");
  std::replace(structure.begin(), structure.end(), 'N', 'T');
  return structure;
}

Failure Wrong(Outcome outcome, std::string message) { return {outcome, std::move(message), {}}; }

std::vector<int64_t> DenseStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    stride[d - 1] = stride[d] * std::max<int64_t>(1, shape[d]);
  return stride;
}

// Copies the elements of a strided tensor behind one another, run by run of its innermost
// contiguous dimensions.
Status ReadElements(const worker::Process& process, const OutputTensor& tensor, char* to) {
  size_t outer = tensor.shape.size();
  int64_t run = 1;
  while (outer > 0 && (tensor.shape[outer - 1] == 1 || tensor.stride[outer - 1] == run))
    run *= tensor.shape[--outer];
  const int64_t element = ElementBytes(tensor.dtype);
  const auto size = static_cast<size_t>(run * element);
  std::vector<uint64_t> addresses;
  std::vector<int64_t> index(outer, 0);
  uint64_t address = tensor.address;
  for (int64_t left = NumElements(tensor) / run; left > 0; --left) {
    addresses.push_back(address);
    if (addresses.size() == kPiecesAtOnce || left == 1) {
      DAVINCI_RETURN_IF_ERROR(process.ReadPieces(addresses, size, to));
      to += addresses.size() * size;
      addresses.clear();
    }
    for (size_t d = outer; d-- > 0;) {
      const auto step = static_cast<uint64_t>(tensor.stride[d] * element);
      address += step;
      if (++index[d] < tensor.shape[d]) break;
      address -= step * static_cast<uint64_t>(tensor.shape[d]);
      index[d] = 0;
    }
  }
  return Status::Ok();
}

}  // namespace

int64_t ElementBytes(std::string_view dtype) {
  if (dtype == "f64" || dtype == "i64") return 8;
  if (dtype == "f32" || dtype == "i32") return 4;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16") return 2;
  if (dtype == "i8" || dtype == "u8" || dtype == "bool") return 1;
  return 0;
}

int64_t NumElements(const OutputTensor& tensor) {
  int64_t n = 1;
  for (int64_t size : tensor.shape) n *= size;
  return n;
}

bool OverlapsItself(const OutputTensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t d = 0; d < tensor.shape.size() && d < tensor.stride.size(); ++d)
    if (tensor.shape[d] > 1) dims.emplace_back(tensor.stride[d], tensor.shape[d]);
  if (NumElements(tensor) == 0) return false;
  std::sort(dims.begin(), dims.end());
  int64_t span = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < span) return true;
    span += (size - 1) * stride;
  }
  return false;
}

bool Overlap(const OutputTensor& one, const OutputTensor& other) {
  for (const OutputTensor* tensor : {&one, &other})
    if (!IsContiguous(*tensor) || NumElements(*tensor) == 0) return false;
  const auto end = [](const OutputTensor& tensor) {
    return tensor.address + static_cast<uint64_t>(NumElements(tensor) * ElementBytes(tensor.dtype));
  };
  return one.address < end(other) && other.address < end(one);
}

Result<OutputArena> OutputArena::Create(const std::vector<OutputTensor>& expected) {
  OutputArena arena;
  arena.num_bytes_ = 2 * (kMaxSpanFactor * DenseBytes(expected) + kAlign);
  arena.num_bytes_ = (arena.num_bytes_ + 4095) / 4096 * 4096;
  arena.fd_.Reset(memfd_create("davinci-outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!arena.fd_.valid()) return FromErrno(errno, "creating shared memory for outputs");
  if (ftruncate(arena.fd_.get(), arena.num_bytes_) != 0)
    return FromErrno(errno, "sizing shared memory for outputs");
  fcntl(arena.fd_.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
  void* mapped = mmap(nullptr, static_cast<size_t>(arena.num_bytes_), PROT_READ | PROT_WRITE,
                      MAP_SHARED, arena.fd_.get(), 0);
  if (mapped == MAP_FAILED) return FromErrno(errno, "mapping shared memory for outputs");
  arena.data_ = static_cast<char*>(mapped);
  return arena;
}

OutputArena::OutputArena(OutputArena&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      num_bytes_(std::exchange(other.num_bytes_, 0)) {}

OutputArena& OutputArena::operator=(OutputArena&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(num_bytes_, other.num_bytes_);
  return *this;
}

OutputArena::~OutputArena() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(num_bytes_));
}

bool OutputArena::Fits(const std::vector<OutputTensor>& expected) const {
  return 2 * (kMaxSpanFactor * DenseBytes(expected) + kAlign) <= num_bytes_;
}

std::optional<Failure> OutputArena::Collect(const worker::Process& process, Side side,
                                            const std::vector<OutputTensor>& outputs,
                                            json* layout) {
  const int64_t half = num_bytes_ / 2 / kAlign * kAlign;
  int64_t offset = side == Side::kCandidate ? 0 : half;
  const int64_t end = offset + half;
  *layout = json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputTensor& tensor = outputs[i];
    const int64_t element = ElementBytes(tensor.dtype);
    int64_t span = 1;
    bool sane = tensor.stride.size() == tensor.shape.size();
    for (size_t d = 0; sane && d < tensor.shape.size(); ++d) {
      if (tensor.shape[d] == 0) span = 0;
      if (span == 0) continue;
      int64_t step = 0;
      sane = tensor.stride[d] >= 0 &&
             !__builtin_mul_overflow(tensor.shape[d] - 1, tensor.stride[d], &step) &&
             !__builtin_add_overflow(span, step, &span);
    }
    if (NumElements(tensor) == 0) span = 0;
    // A number has one element, whatever is claimed beside it.
    if (tensor.value)
      sane = tensor.shape.empty() && tensor.stride.empty() &&
             (tensor.dtype == "f64" || std::abs(*tensor.value) < 0x1p62);
    offset = AlignUp(offset);
    const int64_t room = (end - offset) / std::max<int64_t>(1, element);
    std::vector<int64_t> stride = tensor.stride;
    const bool sparse = sane && !tensor.value && span > kMaxSpanFactor * NumElements(tensor);
    if (sparse) {  // a view of something larger: only its elements are taken
      stride = DenseStrides(tensor.shape);
      span = NumElements(tensor);
    }
    if (!sane || element == 0 || span > room) {
      return Broken(
          Rule::kOutputLayout,
          fmt::format("output {} claims strides {} over shape {} of {}; return a dense tensor", i,
                      tensor.stride, tensor.shape, ElideMiddle(tensor.dtype, 40)));
    }
    const int64_t bytes = span * element;
    if (tensor.value) {
      if (tensor.dtype == "f64") {
        std::memcpy(data_ + offset, &*tensor.value, 8);
      } else {
        const auto integer = static_cast<int64_t>(*tensor.value);
        std::memcpy(data_ + offset, &integer, 8);
      }
    } else if (bytes > 0) {
      if (const Status read = sparse ? ReadElements(process, tensor, data_ + offset)
                                     : process.ReadMemory(tensor.address, data_ + offset,
                                                          static_cast<size_t>(bytes));
          !read.ok()) {
        return Broken(
            Rule::kUnreadableOutput,
            fmt::format(
                "output {} has no readable memory behind it ({}); return an ordinary tensor", i,
                read.message()));
      }
    }
    layout->push_back({{"offset", offset},
                       {"bytes", bytes},
                       {"dtype", tensor.dtype},
                       {"shape", tensor.shape},
                       {"stride", stride}});
    offset += bytes;
  }
  return std::nullopt;
}

bool IsContiguous(const OutputTensor& tensor) {
  int64_t step = 1;
  for (size_t d = tensor.shape.size(); d-- > 0;) {
    if (tensor.shape[d] == 0) return true;
    if (tensor.shape[d] > 1 && (d >= tensor.stride.size() || tensor.stride[d] != step))
      return false;
    step *= tensor.shape[d];
  }
  return true;
}

std::optional<Failure> CheckSignature(const std::string& structure,
                                      const std::vector<OutputTensor>& outputs,
                                      const std::string& expected_structure,
                                      const std::vector<OutputTensor>& expected,
                                      std::string_view device) {
  if (Normalise(structure) != Normalise(expected_structure) || outputs.size() != expected.size())
    return Wrong(
        Outcome::kWrongShape,
        fmt::format("forward returned {}, the reference returns {} (T = tensor, C = complex){}",
                    ElideMiddle(structure, 200), expected_structure,
                    structure.find("unsupported:") == std::string::npos
                        ? ""
                        : "; return torch tensors and numbers only"));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputTensor& got = outputs[i];
    const OutputTensor& want = expected[i];
    if (!got.plain) {
      return Broken(Rule::kTensorSubclass,
                    fmt::format("output {} is a tensor subclass; return a plain torch.Tensor", i));
    }
    if (got.shape != want.shape)
      return Wrong(
          Outcome::kWrongShape,
          fmt::format("output {} has shape {}, the reference's is {}", i, got.shape, want.shape));
    if (got.dtype != want.dtype)
      return Wrong(Outcome::kWrongDtype, fmt::format("output {} is {}, the reference's is {}", i,
                                                     ElideMiddle(got.dtype, 40), want.dtype));
    if (!got.value && IsContiguous(want) && !IsContiguous(got))
      return Wrong(Outcome::kWrongShape,
                   fmt::format("output {} has strides {}, the reference's is contiguous; return a "
                               "contiguous tensor",
                               i, got.stride));
    if (got.device != device && !got.value)
      return Wrong(Outcome::kWrongDtype, fmt::format("output {} lies on {}, it must lie on {}", i,
                                                     ElideMiddle(got.device, 40), device));
  }
  return std::nullopt;
}

}  // namespace davinci::judge
