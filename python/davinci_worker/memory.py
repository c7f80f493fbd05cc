"""Did memory run out? Asked of an exception, whoever raised it."""

import torch

# Texts of torch's host allocator, of the driver, of the CUDA runtime and of cuBLAS.
_TEXTS = ("DefaultCPUAllocator", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")


def ran_out(error):
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS)
