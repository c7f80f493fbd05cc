// Launches that a caller chooses in the place of the estimate's.
#pragma once

namespace davinci::teacher {

// Settings of the costliest kernel, as factors of what the estimate says. A measurement may find
// better ones.
struct LaunchSettings {
  double warps = 1;     // Triton: of kernels over rows
  double block = 1;     // Triton: elements of a program that computes point by point
  double tile = 1;      // Triton: sides of a product's tile
  double parallel = 1;  // C++: elements below which one thread computes all
  bool operator==(const LaunchSettings&) const = default;
};

}  // namespace davinci::teacher
