// What has no name in CUDA C++ without headers. For tests on the host host_threads.h has the same. Behind common.cu.

#ifdef __CUDA_ARCH__
// With programmatic dependent launch a kernel begins while the one ahead runs; behind this its results are there.
__device__ __forceinline__ void AwaitPrevious() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The next kernel may begin.
__device__ __forceinline__ void ReleaseNext() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Past the first-level cache: written by a kernel that may still have been running when this one began.
__device__ __forceinline__ uint4 LoadFresh(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ unsigned LoadFreshWord(const unsigned* from) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}
__device__ __forceinline__ void Prefetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
// Products of pairs, rounded to bf16. Added is -0, which changes no product.
__device__ __forceinline__ unsigned MulPair(unsigned a, unsigned b) {
  unsigned out;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(0x80008000u));
  return out;
}
// c += a b for 16 rows, 8 columns and 16 elements of k.
__device__ __forceinline__ void Mma(float* c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                    unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
// 0 where the exponent is that of a denormal.
__device__ __forceinline__ float PowerOfTwo(float exponent) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(exponent));
  return out;
}
// Of a matrix of 8 by 8 values of 16 bits, whose row g has values 2 t and 2 t + 1 in lane 4 g + t: its transpose.
__device__ __forceinline__ unsigned Transpose(unsigned pair) {
  unsigned out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
  return out;
}
#else
__device__ __forceinline__ unsigned MulPair(unsigned a, unsigned b) {
  const unsigned low = Narrow(Widen((Bf16)(a & 0xffffu)) * Widen((Bf16)(b & 0xffffu)));
  const unsigned high = Narrow(Widen((Bf16)(a >> 16)) * Widen((Bf16)(b >> 16)));
  return low | high << 16;
}
#endif  // __CUDA_ARCH__
