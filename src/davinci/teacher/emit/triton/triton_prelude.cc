#include <map>

#include "davinci/teacher/emit/emitter.h"

namespace davinci::teacher {

std::string_view TritonDirect() {
  return R"(class direct:
    """Launches a kernel that was compiled for such arguments without Triton's look-up."""

    def __init__(self, kernel):
        self.kernel, self.compiled = kernel, {}

    def __getitem__(self, grid):
        def launch(*args, **constants):
            # A kernel is compiled for types, alignment of addresses, sizes and constants.
            key = tuple([a if isinstance(a, (int, float)) else (a.dtype, a.data_ptr() % 16) for a in args])
            key = (args[0].device, key, *constants.values())
            if key in self.compiled:
                made, fixed = self.compiled[key]
                stream = driver.active.get_current_stream(args[0].device.index)
                place = (*grid, 1, 1)[:3]
                made[place](*args, *fixed, stream=stream)
                return
            made = self.kernel[grid](*args, **constants)
            if made is not None:  # Triton's interpreter compiles nothing
                self.compiled[key] = made, [constants[name] for name in self.kernel.arg_names[len(args) :]]

        return launch
)";
}

std::string TritonPrelude(const std::set<std::string>& helpers) {
  static const std::map<std::string, std::string> texts = {
      {"tanh",
       "@triton.jit\ndef tanh(x):\n"
       "    # Away from 0 by an exponential that cannot overflow, near 0 by a series.\n"
       "    a = tl.abs(x)\n"
       "    e = tl.exp(-2.0 * a)\n"
       "    large = (1.0 - e) / (1.0 + e)\n"
       "    s = a * a\n"
       "    small = a * (1.0 + s * (-0.33333334 + s * (0.13333334 + s * (-0.053968254 + s * "
       "0.021869488))))\n"
       "    y = tl.where(a < 0.25, small, large)\n"
       "    return tl.where(x < 0.0, -y, y)\n"},
      {"log1p",
       "@triton.jit\ndef log1p(x):\n"
       "    # The rounding of 1 + x, corrected to first order.\n"
       "    u = 1.0 + x\n"
       "    return tl.where((u == 1.0) | (u == float(\"inf\")), x, tl.log(u) * (x / (u - 1.0)))\n"},
      {"expm1",
       "@triton.jit\ndef expm1(x):\n"
       "    small = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.008333334 + "
       "x * "
       "(0.0013888889 + x * 0.0001984127))))))\n"
       "    return tl.where(tl.abs(x) < 0.5, small, tl.exp(x) - 1.0)\n"},
      {"round_even",
       "@triton.jit\ndef round_even(x):\n"
       "    f = tl.floor(x)\n"
       "    d = x - f\n"
       "    odd = f - 2.0 * tl.floor(f * 0.5)\n"
       "    up = (d > 0.5) | ((d == 0.5) & (odd == 1.0))\n"
       "    return tl.where(up, f + 1.0, f)\n"},
      {"atan",
       "@triton.jit\ndef atan(x):\n"
       "    # By tan(pi / 8): a series there, the rest by the sum of two angles.\n"
       "    a = tl.abs(x)\n"
       "    far = a > 2.4142135\n"
       "    middle = a > 0.41421357\n"
       "    t = tl.where(far, -1.0 / a, tl.where(middle, (a - 1.0) / (a + 1.0), a))\n"
       "    s = t * t\n"
       "    p = -0.13879850506782532 + s * 0.08060308545827866\n"
       "    p = t + t * s * (-0.33332955837249756 + s * (0.19977925717830658 + s * p))\n"
       "    y = p + tl.where(far, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))\n"
       "    return tl.where(x < 0.0, -y, tl.where(x == 0.0, x, y))\n"},
      {"atan2",
       "@triton.jit\ndef atan2(y, x):\n"
       "    a = tl.abs(x)\n"
       "    b = tl.abs(y)\n"
       "    most = tl.where(a > b, a, b)\n"
       "    t = tl.where(a == b, 1.0, tl.where(a > b, b, a) / most)\n"
       "    t = atan(tl.where(most == 0.0, 0.0, t))\n"
       "    t = tl.where(b > a, 1.5707963267948966 - t, t)\n"
       "    t = tl.where(x < 0.0, 3.141592653589793 - t, t)\n"
       "    return tl.where((x != x) | (y != y), x + y, tl.where(y < 0.0, -t, t))\n"},
      {"log_add",
       "@triton.jit\ndef log_add(a, b):\n"
       "    high = tl.maximum(a, b, tl.PropagateNan.ALL)\n"
       "    low = tl.minimum(a, b, tl.PropagateNan.ALL)\n"
       "    e = tl.exp(low - high)\n"
       "    # Below 2^-12 the logarithm of 1 + e is e - e e / 2 up to rounding.\n"
       "    more = tl.where(e < 0.000244140625, e - 0.5 * e * e, tl.log(1.0 + e))\n"
       "    return high + tl.where(high == low, 0.6931471805599453, more)\n"},
      {"larger",
       "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b, tl.PropagateNan.ALL)\n"},
      {"smaller",
       "@triton.jit\ndef smaller(a, b):\n    return tl.minimum(a, b, tl.PropagateNan.ALL)\n"},
      {"times", "@triton.jit\ndef times(a, b):\n    return a * b\n"}};
  std::string prelude;
  for (const std::string& helper : helpers) prelude += texts.at(helper) + "\n\n";
  return prelude;
}

}  // namespace davinci::teacher
