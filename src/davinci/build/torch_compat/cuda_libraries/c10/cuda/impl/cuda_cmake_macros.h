// A LibTorch for CPUs comes without this header, which is generated for CUDA.
#pragma once
