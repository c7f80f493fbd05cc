#include "davinci/model/decode_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numbers>

#include "davinci/model/kernel_launch.h"

namespace davinci::model {
namespace {

const char* const kSource =
#include "davinci_model_decode.inc"
    ;
constexpr unsigned kDrawThreads = 1024;
// Multiprocessors of an H200.
constexpr int64_t kMultiprocessors = 132;
// The first driver that captures overlapping launches into a graph: of CUDA 12.3.
constexpr int kOverlapDriver = 12030;
constexpr unsigned kProductThreads = 256;
constexpr DecodeKernels::Tile kTiles[] = {{1, 1, 1}, {2, 2, 1}, {4, 2, 1}, {4, 4, 1}, {4, 4, 2}};
constexpr DecodeKernels::Tile kGatedTiles[] = {{1, 2, 1}, {2, 4, 1}, {4, 4, 1},
                                               {4, 4, 2}, {4, 8, 1}, {4, 8, 2}};

}  // namespace

std::string DecodeKernels::Source(const Shape& shape) {
  std::string source;
  if (CanAttend(shape))
    source = fmt::format("#define DV_GROUP {}\n#define DV_LANES {}\n", shape.heads / shape.kv_heads,
                         shape.head_dim / 8);
  return source + kSource;
}

bool DecodeKernels::CanAttend(const Shape& shape) {
  const int group = shape.heads / shape.kv_heads;
  return (shape.head_dim == 64 || shape.head_dim == 128) && group <= 8 &&
         group * shape.kv_heads == shape.heads;
}

Result<std::unique_ptr<DecodeKernels>> DecodeKernels::Load(int ordinal, Shape shape,
                                                           std::vector<std::string> directories,
                                                           bool overlap) {
  std::unique_ptr<DecodeKernels> kernels(new DecodeKernels());
  kernels->shape_ = shape;
  DAVINCI_ASSIGN_OR_RETURN(auto context, gpu::CudaContext::Retain(ordinal));
  gpu::KernelLibraryOptions options;
  options.source = Source(shape);
  options.library_directories = std::move(directories);
  DAVINCI_ASSIGN_OR_RETURN(kernels->library_,
                           gpu::KernelLibrary::Load(std::move(context), options));
  const auto find = [&](const char* name, gpu::CuFunction* function) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(*function, kernels->library_->Find(name));
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(find("dv_feed", &kernels->feed_));
  DAVINCI_RETURN_IF_ERROR(find("dv_heads", &kernels->heads_));
  DAVINCI_RETURN_IF_ERROR(find("dv_norm", &kernels->norm_));
  DAVINCI_RETURN_IF_ERROR(find("dv_keep", &kernels->keep_));
  DAVINCI_RETURN_IF_ERROR(find("dv_silu_mul", &kernels->silu_mul_));
  DAVINCI_RETURN_IF_ERROR(find("dv_normed_gate", &kernels->normed_gate_));
  DAVINCI_RETURN_IF_ERROR(find("dv_draw_bf16", &kernels->draw_bf16_));
  DAVINCI_RETURN_IF_ERROR(find("dv_draw_fp32", &kernels->draw_fp32_));
  if (kernels->can_attend()) {
    DAVINCI_RETURN_IF_ERROR(find("dv_attend", &kernels->attend_));
    DAVINCI_RETURN_IF_ERROR(find("dv_attend_whole", &kernels->attend_whole_));
  }
  const auto find_tiles = [&](const char* kind, bool gate,
                              std::vector<gpu::CuFunction>* functions) -> Status {
    for (const Tile& tile : Tiles(gate))
      DAVINCI_RETURN_IF_ERROR(
          find(fmt::format("dv_{}_{}_{}_{}", kind, tile.m, tile.n, tile.groups).c_str(),
               &functions->emplace_back()));
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(find_tiles("norm_product", false, &kernels->norm_products_));
  DAVINCI_RETURN_IF_ERROR(find_tiles("product", false, &kernels->products_));
  DAVINCI_RETURN_IF_ERROR(find_tiles("gated_product", true, &kernels->gated_products_));
  const gpu::CudaDeviceProperties& device = kernels->library_->context().properties();
  kernels->overlap_ =
      overlap && device.compute_major >= 9 && device.driver_cuda_version >= kOverlapDriver;
  return kernels;
}

Status DecodeKernels::Launch(gpu::CuFunction function, const char* name, void* stream,
                             int64_t grid_x, int64_t grid_y, unsigned threads,
                             void** parameters) const {
  return LaunchKernel(*library_, function, name, stream, grid_x, grid_y, threads, parameters);
}

Status DecodeKernels::Feed(void* stream, const int64_t* tokens, const int64_t* sources,
                           const int64_t* drawn, int64_t* out, int64_t rows) const {
  int count = static_cast<int>(rows);
  std::array<void*, 5> parameters = {&tokens, &sources, &drawn, &out, &count};
  return Launch(feed_, "dv_feed", stream, (rows + 255) / 256, 1, 256, parameters.data());
}

Status DecodeKernels::Heads(void* stream, void* qkv, const void* q_norm, const void* k_norm,
                            float eps, const float* cos_sin, const int64_t* positions,
                            int64_t rows) const {
  int heads = shape_.heads;
  int kv_heads = shape_.kv_heads;
  int dim = shape_.head_dim;
  std::array<void*, 9> parameters = {&qkv,       &q_norm, &k_norm,   &eps, &cos_sin,
                                     &positions, &heads,  &kv_heads, &dim};
  return Launch(heads_, "dv_heads", stream, rows, (heads + kv_heads + 3) / 4, 128,
                parameters.data());
}

Status DecodeKernels::Norm(void* stream, const void* x, const void* weight, float eps, void* out,
                           int64_t rows, int64_t width) const {
  int count = static_cast<int>(rows);
  int chunks = static_cast<int>(width / 8);
  std::array<void*, 6> parameters = {&x, &weight, &out, &count, &chunks, &eps};
  return Launch(norm_, "dv_norm", stream, (rows + 1) / 2, 1, 64, parameters.data());
}

Status DecodeKernels::Keep(void* stream, const void* keys, const void* values, int64_t stride,
                           const int64_t* at, void* cached_keys, void* cached_values,
                           int64_t rows) const {
  int chunks = shape_.kv_heads * shape_.head_dim / 8;
  long long pieces = stride / 8;
  std::array<void*, 7> parameters = {&keys,        &values,        &pieces, &at,
                                     &cached_keys, &cached_values, &chunks};
  return Launch(keep_, "dv_keep", stream, rows, 1, 128, parameters.data());
}

// A grid of one wave with short blocks has no tail; more warps a block keep enough loads under way
// where blocks are few.
int DecodeKernels::BestAttendWarps(int64_t rows) const {
  // kAttendResident of kernels/decode_attend.cu.
  const int64_t resident = kMultiprocessors * (shape_.head_dim == 64 ? 16 : 12);
  for (const int warps : {8, 4})
    if (rows * shape_.kv_heads * warps <= resident) return warps;
  return 2;
}

Status DecodeKernels::Attend(void* stream, const void* q, int64_t q_stride, const void* keys,
                             const void* values, const int32_t* starts, const int32_t* lengths,
                             float scale, void* out, int64_t rows, int warps) const {
  if (warps == 0) warps = BestAttendWarps(rows);
  scale *= std::numbers::log2e_v<float>;
  int kv_heads = shape_.kv_heads;
  std::array<void*, 9> parameters = {&q,       &q_stride, &keys,     &values, &starts,
                                     &lengths, &scale,    &kv_heads, &out};
  return Launch(attend_, "dv_attend", stream, kv_heads, rows, 32 * static_cast<unsigned>(warps),
                parameters.data());
}

Status DecodeKernels::LaunchNext(gpu::CuFunction function, const char* name, void* stream,
                                 int64_t grid_x, int64_t grid_y, unsigned threads,
                                 void** parameters) const {
  return (overlap_ ? LaunchOverlapping : LaunchKernel)(*library_, function, name, stream, grid_x,
                                                       grid_y, threads, parameters);
}

Status DecodeKernels::AttendWhole(void* stream, const void* qkv, const void* x, int64_t width,
                                  const void* q_norm, const void* k_norm, float eps,
                                  const float* cos_sin, const int64_t* positions, void* cached_keys,
                                  void* cached_values, const int32_t* starts,
                                  const int32_t* lengths, float scale, void* out, int64_t rows,
                                  int warps) const {
  if (warps == 0) warps = BestAttendWarps(rows);
  scale *= std::numbers::log2e_v<float>;
  int kv_heads = shape_.kv_heads;
  long long stride = int64_t{shape_.heads + 2 * kv_heads} * shape_.head_dim;
  int x_chunks = static_cast<int>(width / 8);
  std::array<void*, 16> parameters = {
      &qkv, &stride, &cached_keys, &cached_values, &starts,  &lengths,   &scale, &kv_heads,
      &out, &q_norm, &k_norm,      &eps,           &cos_sin, &positions, &x,     &x_chunks};
  return LaunchNext(attend_whole_, "dv_attend_whole", stream, kv_heads, rows,
                    32 * static_cast<unsigned>(warps), parameters.data());
}

std::span<const DecodeKernels::Tile> DecodeKernels::Tiles(bool gate) {
  return gate ? std::span<const Tile>(kGatedTiles) : std::span<const Tile>(kTiles);
}

int DecodeKernels::BestTile(int64_t rows, int64_t /*width*/, bool gate) {
  if (rows <= 16) return 0;
  if (rows <= 32) return 1;
  if (rows <= 64) return 2;
  return gate ? 4 : 3;
}

Status DecodeKernels::Project(void* stream, const Projection& p, int tile) const {
  if (tile < 0) tile = BestTile(p.rows, p.width, p.gate);
  const auto index = static_cast<size_t>(tile);
  const Tile shape = Tiles(p.gate)[index];
  const auto& functions = p.gate ? gated_products_ : p.norm != nullptr ? norm_products_ : products_;
  const void *x = p.x, *norm = p.norm, *weight = p.weight, *bias = p.bias, *residual = p.residual;
  void* out = p.out;
  float eps = p.eps;
  int rows = static_cast<int>(p.rows);
  int width = static_cast<int>(p.width);
  int inner = static_cast<int>(p.inner);
  std::array<void*, 10> parameters = {&x,        &norm, &eps,  &weight, &bias,
                                      &residual, &out,  &rows, &width,  &inner};
  const int64_t columns = int64_t{p.gate ? 4 : 8} * shape.n;
  const int64_t block_rows = int64_t{16} * shape.m * shape.groups;
  return LaunchNext(functions[index], "dv_product", stream, (p.width + columns - 1) / columns,
                    (p.rows + block_rows - 1) / block_rows, kProductThreads, parameters.data());
}

Status DecodeKernels::SiluMul(void* stream, const void* both, void* out, int64_t rows,
                              int64_t width) const {
  int chunks = static_cast<int>(width / 8);
  long long total = rows * chunks;
  std::array<void*, 4> parameters = {&both, &out, &total, &chunks};
  return Launch(silu_mul_, "dv_silu_mul", stream, (total + 255) / 256, 1, 256, parameters.data());
}

Status DecodeKernels::NormedGate(void* stream, const void* both, const void* x, int64_t inner,
                                 float eps, void* out, int64_t rows, int64_t width) const {
  int x_chunks = static_cast<int>(inner / 8);
  int chunks = static_cast<int>(width / 8);
  const int threads = std::min(256, (chunks + 31) / 32 * 32);
  std::array<void*, 6> parameters = {&both, &x, &x_chunks, &eps, &out, &chunks};
  return LaunchNext(normed_gate_, "dv_normed_gate", stream, rows, (chunks + threads - 1) / threads,
                    static_cast<unsigned>(threads), parameters.data());
}

Status DecodeKernels::Draw(void* stream, const void* logits, bool bf16, int64_t rows, int64_t vocab,
                           const float* inverse_temperature, const float* noise, const bool* greedy,
                           int64_t* tokens, float* logprobs) const {
  int size = static_cast<int>(vocab);
  std::array<void*, 7> parameters = {&logits, &size,    &inverse_temperature, &noise, &greedy,
                                     &tokens, &logprobs};
  return Launch(bf16 ? draw_bf16_ : draw_fp32_, "dv_draw", stream, rows, 1, kDrawThreads,
                parameters.data());
}

}  // namespace davinci::model
