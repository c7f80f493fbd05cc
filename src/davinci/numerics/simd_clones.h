// Hot loops are compiled for several instruction sets and picked at load time; the build names no
// processor.
#pragma once

// Sanitizers are not initialised when indirect functions are resolved, so they get the plain
// version.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DV_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DV_SIMD_CLONES
#endif
