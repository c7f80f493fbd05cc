// Windows that move over an image: pools take their largest or mean element, convolutions sum them
// under weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {

// The axes N, C, O1, …, window 1, …, window n, On. Lanes along the last one read side by side.
struct WindowSpace {
  std::vector<DimId> sizes;
  std::vector<size_t> out_at, window_at;  // places in `sizes`
};

// `out`: how many windows lie along each axis; `window`: their sizes.
WindowSpace SpaceOfWindows(DimId batch, DimId channels, const std::vector<DimId>& out,
                           const std::vector<DimId>& window);

// How windows lie along one axis.
struct WindowSteps {
  int64_t stride = 1, padding = 0, dilation = 1;
  bool ceil = false;  // a last window may reach beyond the end
};

// Returns the index of a window's element along the spatial axis `axis` of an image (N, C, …) of
// this shape; `inside` gets where padding is not read.
Result<Id> PlaceInWindow(Builder& b, const WindowSpace& space, const std::vector<DimId>& shape,
                         size_t axis, const WindowSteps& steps, std::optional<Meaning>* inside);

}  // namespace davinci::teacher
