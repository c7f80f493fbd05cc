#include <fmt/format.h>

#include "davinci/teacher/emit/emitter.h"

namespace davinci::teacher {

std::string CudaPrelude(const std::set<std::string>& helpers, const std::string& kernels) {
  std::string text;
  if (kernels.find("__half") != std::string::npos) text += "#include <cuda_fp16.h>\n";
  if (kernels.find("__nv_bfloat16") != std::string::npos) text += "#include <cuda_bf16.h>\n";
  if (kernels.find("INFINITY") != std::string::npos || kernels.find("NAN") != std::string::npos)
    text += "#define INFINITY __int_as_float(0x7f800000)\n#define NAN __int_as_float(0x7fffffff)\n";
  if (kernels.find("int64_t") != std::string::npos) text += "typedef long long int64_t;\n";
  if (kernels.find("int32_t") != std::string::npos) text += "typedef int int32_t;\n";
  if (!text.empty()) text += '\n';
  if (helpers.contains("Pack"))
    text +=
        "// Sixteen bytes of a tensor, one access of a thread.\n"
        "template <class T>\nstruct alignas(16) Pack {\n  T at[16 / sizeof(T)];\n};\n\n";
  for (const auto& [name, form] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Maximum", "(a > b) | (a != a) ? a : b"}, {"Minimum", "(a < b) | (a != a) ? a : b"}})
    if (kernels.find(std::string(name) + "(") != std::string::npos)
      text += fmt::format(
          "__device__ __forceinline__ float {}(float a, float b) {{ return {}; }}\n\n", name, form);
  for (const auto& [name, form] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Sum", "a + b"},
           {"Product", "a * b"},
           {"Largest", "(a > b) | (a != a) ? a : b"},
           {"Smallest", "(a < b) | (a != a) ? a : b"}})
    if (helpers.contains(name))
      text += fmt::format(
          "struct {} {{\n  static __device__ __forceinline__ float Of(float a, float b) {{ return "
          "{}; }}\n}};\n\n",
          name, form);
  const bool block = helpers.contains("CombineBlock");
  if (block || helpers.contains("CombineWarp"))
    text +=
        "// All lanes get the result.\n"
        "template <class Op>\n__device__ __forceinline__ float CombineWarp(float x) {\n"
        "#pragma unroll\n"
        "  for (int offset = 16; offset > 0; offset /= 2)\n"
        "    x = Op::Of(x, __shfl_xor_sync(0xffffffffu, x, offset));\n"
        "  return x;\n}\n\n";
  if (block)
    text +=
        "// All threads get the result.\n"
        "template <class Op>\n__device__ float CombineBlock(float x) {\n"
        "  __shared__ float of_warp[32];\n"
        "  x = CombineWarp<Op>(x);\n"
        "  __syncthreads();  // of the call before\n"
        "  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;\n"
        "  __syncthreads();\n"
        "  x = of_warp[0];\n"
        "  for (int w = 1; w < blockDim.x / 32; ++w) x = Op::Of(x, of_warp[w]);\n"
        "  return x;\n}\n\n";
  if (helpers.contains("CombineColumn"))
    text +=
        "// Threads of one column get its result.\n"
        "template <class Op>\n__device__ float CombineColumn(float x) {\n"
        "  __shared__ float part[8][32];\n"
        "  __syncthreads();  // of the call before\n"
        "  part[threadIdx.x / 32][threadIdx.x % 32] = x;\n"
        "  __syncthreads();\n"
        "  x = part[0][threadIdx.x % 32];\n"
        "#pragma unroll\n"
        "  for (int w = 1; w < 8; ++w) x = Op::Of(x, part[w][threadIdx.x % 32]);\n"
        "  return x;\n}\n\n";
  return text;
}

}  // namespace davinci::teacher
