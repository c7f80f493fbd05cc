#include "davinci/teacher/semantics/windows.h"

#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {

WindowSpace SpaceOfWindows(DimId batch, DimId channels, const std::vector<DimId>& out,
                           const std::vector<DimId>& window) {
  WindowSpace space{{batch, channels}, {}, {}};
  const auto add = [&](std::vector<size_t>* at, DimId size) {
    at->push_back(space.sizes.size());
    space.sizes.push_back(size);
  };
  for (size_t i = 0; i + 1 < out.size(); ++i) add(&space.out_at, out[i]);
  for (const DimId size : window) add(&space.window_at, size);
  add(&space.out_at, out.back());
  return space;
}

Result<Id> PlaceInWindow(Builder& b, const WindowSpace& space, const std::vector<DimId>& shape,
                         size_t axis, const WindowSteps& steps, std::optional<Meaning>* inside) {
  DAVINCI_ASSIGN_OR_RETURN(
      Id at, b.IntegerBy("imul", b.Position(space.sizes, space.out_at[axis]), steps.stride));
  DAVINCI_ASSIGN_OR_RETURN(
      const Id step,
      b.IntegerBy("imul", b.Position(space.sizes, space.window_at[axis]), steps.dilation));
  DAVINCI_ASSIGN_OR_RETURN(at, b.Integer("iadd", at, step));
  if (steps.padding <= 0 && !steps.ceil) return at;
  if (steps.padding > 0) {
    DAVINCI_ASSIGN_OR_RETURN(at, b.IntegerBy("isub", at, steps.padding));
  }
  return Clamped(b, at, shape, 2 + axis, inside);
}

}  // namespace davinci::teacher
