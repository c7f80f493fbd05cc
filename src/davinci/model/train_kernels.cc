#include "davinci/model/train_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "davinci/model/kernel_launch.h"

namespace davinci::model {
namespace {

const char* const kTrainSource =
#include "davinci_model_train.inc"
    ;
constexpr int64_t kTrainMultiprocessors =
    132;  // of an H100 or H200; with others only the grids change
constexpr unsigned kSumThreads = 1024;
constexpr unsigned kUpdateThreads = 256;

constexpr unsigned WholeWarps(int64_t threads) {
  return static_cast<unsigned>((threads + 31) / 32 * 32);
}

// Threads that share a head, each 16 of its values: a power of two.
int HeadLanes(int dim) {
  int lanes = 1;
  while (16 * lanes < dim) lanes *= 2;
  return lanes;
}

// Threads that a multiprocessor holds at once, by the registers each takes. Kernels whose blocks do
// row after row start exactly so many: a second round would leave most of the device idle.
constexpr int64_t kResidentNorm = 1536, kResidentNormBackward = 768;
constexpr int64_t kResidentHeads = 1024, kResidentHeadsBackward = 768;

int64_t NormBlocks(int64_t rows, int64_t width, int64_t resident) {
  const int64_t threads = WholeWarps(width / 8);
  return std::min(rows, kTrainMultiprocessors * std::clamp<int64_t>(resident / threads, 1, 16));
}

// Blocks of Heads() and HeadsBackward(): how many rows each does at once, and its threads.
struct HeadGrid {
  int lanes = 0;
  int at_once = 0;
  unsigned threads = 0;
  int64_t blocks = 0;
};
HeadGrid GridOf(const TrainKernels::HeadShape& shape, int done_heads, int64_t resident,
                int64_t rows) {
  HeadGrid grid;
  grid.lanes = HeadLanes(shape.dim);
  const int row_threads = grid.lanes * done_heads;
  grid.at_once = std::max(1, 256 / row_threads);
  grid.threads = WholeWarps(static_cast<int64_t>(grid.at_once) * row_threads);
  grid.blocks =
      std::min<int64_t>((rows + grid.at_once - 1) / grid.at_once,
                        kTrainMultiprocessors * std::max<int64_t>(1, resident / grid.threads));
  return grid;
}

unsigned ScoreThreads(int64_t vocab) {
  // Four chunks of eight a thread, where that many threads there are.
  return WholeWarps(std::clamp<int64_t>(vocab / 32, 32, 1024));
}

}  // namespace

std::string TrainKernels::Source() { return kTrainSource; }

bool TrainKernels::CanHeads(const HeadShape& shape) {
  return shape.dim % 16 == 0 && shape.dim <= 512 &&
         HeadLanes(shape.dim) * (shape.heads + 2 * shape.kv_heads) <= kMostHeadThreads;
}

int64_t TrainKernels::NormParts(int64_t rows, int64_t width) {
  return NormBlocks(rows, width, kResidentNormBackward);
}

int64_t TrainKernels::HeadParts(const HeadShape& shape, int64_t rows) {
  return GridOf(shape, shape.heads + 2 * shape.kv_heads, kResidentHeadsBackward, rows).blocks;
}

Result<std::unique_ptr<TrainKernels>> TrainKernels::Load(int ordinal,
                                                         std::vector<std::string> directories) {
  std::unique_ptr<TrainKernels> kernels(new TrainKernels());
  DAVINCI_ASSIGN_OR_RETURN(auto context, gpu::CudaContext::Retain(ordinal));
  gpu::KernelLibraryOptions options;
  options.source = Source();
  options.library_directories = std::move(directories);
  DAVINCI_ASSIGN_OR_RETURN(kernels->library_,
                           gpu::KernelLibrary::Load(std::move(context), options));
  const std::pair<const char*, gpu::CuFunction*> functions[] = {
      {"dv_train_norm", &kernels->norm_},
      {"dv_train_norm_back", &kernels->norm_back_},
      {"dv_train_sum", &kernels->sum_},
      {"dv_train_heads", &kernels->heads_},
      {"dv_train_heads_back", &kernels->heads_back_},
      {"dv_silu_mul", &kernels->silu_},
      {"dv_train_silu_back", &kernels->silu_back_},
      {"dv_train_score", &kernels->score_},
      {"dv_train_score_back", &kernels->score_back_},
      {"dv_train_squares", &kernels->squares_},
      {"dv_train_total", &kernels->total_},
      {"dv_train_adamw", &kernels->adamw_},
  };
  for (const auto& [name, function] : functions) {
    DAVINCI_ASSIGN_OR_RETURN(*function, kernels->library_->Find(name));
  }
  return kernels;
}

Status TrainKernels::Launch(gpu::CuFunction function, const char* name, void* stream,
                            int64_t blocks, unsigned threads, void** parameters) const {
  // Threads of autograd, which run backward passes, have no context of their own accord.
  const gpu::ScopedCudaContext scope(library_->context());
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return LaunchKernel(*library_, function, name, stream, blocks, 1, threads, parameters);
}

Status TrainKernels::Norm(void* stream, const void* x, const void* weight, float eps, void* out,
                          int64_t rows, int64_t width) const {
  long long count = rows;
  int chunks = static_cast<int>(width / 8);
  std::array<void*, 6> parameters = {&x, &weight, &out, &count, &chunks, &eps};
  return Launch(norm_, "dv_train_norm", stream, NormBlocks(rows, width, kResidentNorm),
                WholeWarps(chunks), parameters.data());
}

Status TrainKernels::NormBackward(void* stream, const void* x, const void* weight,
                                  const void* d_out, const void* d_sum, float eps, void* d_x,
                                  float* parts, int64_t rows, int64_t width) const {
  long long count = rows;
  int chunks = static_cast<int>(width / 8);
  std::array<void*, 9> parameters = {&x,     &weight, &d_out,  &d_sum, &d_x,
                                     &parts, &count,  &chunks, &eps};
  return Launch(norm_back_, "dv_train_norm_back", stream, NormParts(rows, width),
                WholeWarps(chunks), parameters.data());
}

Status TrainKernels::Sum(void* stream, const float* parts, void* out, int64_t count,
                         int64_t width) const {
  int rows = static_cast<int>(count);
  int columns = static_cast<int>(width);
  std::array<void*, 4> parameters = {&parts, &out, &rows, &columns};
  return Launch(sum_, "dv_train_sum", stream, (width + 31) / 32, kSumThreads, parameters.data());
}

Status TrainKernels::Heads(void* stream, const HeadShape& shape, const void* qkv, void* out,
                           const void* q_norm, const void* k_norm, const float* cos_sin,
                           const int64_t* positions, int64_t rows) const {
  HeadShape of = shape;
  HeadGrid grid = GridOf(shape, shape.heads + shape.kv_heads, kResidentHeads, rows);
  long long count = rows;
  long long in_stride = static_cast<long long>(shape.heads + 2 * shape.kv_heads) * shape.dim;
  long long out_stride =
      qkv == out ? in_stride : static_cast<long long>(shape.heads + shape.kv_heads) * shape.dim;
  std::array<void*, 15> parameters = {
      &qkv,       &in_stride, &out,      &out_stride,  &q_norm, &k_norm,     &of.eps,      &cos_sin,
      &positions, &count,     &of.heads, &of.kv_heads, &of.dim, &grid.lanes, &grid.at_once};
  return Launch(heads_, "dv_train_heads", stream, grid.blocks, grid.threads, parameters.data());
}

Status TrainKernels::HeadsBackward(void* stream, const HeadShape& shape, const void* qkv,
                                   const void* d_q, const void* d_k, const void* d_v, void* d_qkv,
                                   const void* q_norm, const void* k_norm, const float* cos_sin,
                                   const int64_t* positions, float* parts, int64_t rows) const {
  HeadShape of = shape;
  HeadGrid grid = GridOf(shape, shape.heads + 2 * shape.kv_heads, kResidentHeadsBackward, rows);
  long long count = rows;
  std::array<void*, 17> parameters = {
      &qkv,      &d_q,         &d_k,     &d_v,        &d_qkv,       &q_norm,
      &k_norm,   &of.eps,      &cos_sin, &positions,  &parts,       &count,
      &of.heads, &of.kv_heads, &of.dim,  &grid.lanes, &grid.at_once};
  return Launch(heads_back_, "dv_train_heads_back", stream, grid.blocks, grid.threads,
                parameters.data());
}

Status TrainKernels::Silu(void* stream, const void* both, void* out, int64_t rows,
                          int64_t width) const {
  int chunks = static_cast<int>(width / 8);
  long long total = rows * chunks;
  std::array<void*, 4> parameters = {&both, &out, &total, &chunks};
  return Launch(silu_, "dv_silu_mul", stream, (total + 255) / 256, 256, parameters.data());
}

Status TrainKernels::SiluBackward(void* stream, const void* both, const void* d_out, void* d_both,
                                  int64_t rows, int64_t width) const {
  auto chunks = static_cast<unsigned>(width / 8);
  unsigned total = static_cast<unsigned>(rows) * chunks;
  std::array<void*, 5> parameters = {&both, &d_out, &d_both, &total, &chunks};
  return Launch(silu_back_, "dv_train_silu_back", stream, (static_cast<int64_t>(total) + 255) / 256,
                256, parameters.data());
}

Status TrainKernels::Score(void* stream, void* logits, int64_t rows, int64_t vocab,
                           float inverse_temperature, const int64_t* expected, const float* slopes,
                           float* log_probs, float* log_sums, float* entropies) const {
  int chunks = static_cast<int>(vocab / 8);
  std::array<void*, 8> parameters = {&logits,   &chunks,   &inverse_temperature,
                                     &expected, &slopes,   &log_probs,
                                     &log_sums, &entropies};
  return Launch(score_, "dv_train_score", stream, rows, ScoreThreads(vocab), parameters.data());
}

Status TrainKernels::ScoreBackward(void* stream, void* logits, int64_t rows, int64_t vocab,
                                   float inverse_temperature, const int64_t* expected,
                                   const float* slopes, const float* log_sums) const {
  int chunks = static_cast<int>(vocab / 8);
  std::array<void*, 6> parameters = {&logits,   &chunks, &inverse_temperature,
                                     &expected, &slopes, &log_sums};
  return Launch(score_back_, "dv_train_score_back", stream, rows, ScoreThreads(vocab),
                parameters.data());
}

Status TrainKernels::Squares(void* stream, const int64_t* slots, const int32_t* blocks,
                             int64_t num_blocks, float* parts, double* total) const {
  long long count = num_blocks;
  std::array<void*, 3> each = {&slots, &blocks, &parts};
  DAVINCI_RETURN_IF_ERROR(
      Launch(squares_, "dv_train_squares", stream, num_blocks, kUpdateThreads, each.data()));
  std::array<void*, 3> all = {&parts, &count, &total};
  return Launch(total_, "dv_train_total", stream, 1, kSumThreads, all.data());
}

Status TrainKernels::AdamW(void* stream, const int64_t* slots, const int32_t* blocks,
                           int64_t num_blocks, const double* squares, const AdamStep& step) const {
  const auto at = static_cast<double>(step.step);
  auto clip_norm = static_cast<float>(step.clip_norm);
  auto beta1 = static_cast<float>(step.beta1);
  auto beta2 = static_cast<float>(step.beta2);
  auto epsilon = static_cast<float>(step.epsilon);
  auto rate_decay = static_cast<float>(step.learning_rate * step.weight_decay);
  auto step_size = static_cast<float>(step.learning_rate / (1 - std::pow(step.beta1, at)));
  auto correction = static_cast<float>(std::sqrt(1 - std::pow(step.beta2, at)));
  std::array<void*, 10> parameters = {&slots, &blocks,  &squares,    &clip_norm, &beta1,
                                      &beta2, &epsilon, &rate_decay, &step_size, &correction};
  return Launch(adamw_, "dv_train_adamw", stream, num_blocks, kUpdateThreads, parameters.data());
}

}  // namespace davinci::model
