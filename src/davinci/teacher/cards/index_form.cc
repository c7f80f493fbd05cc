#include "davinci/teacher/cards/index_form.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

namespace davinci::teacher {
namespace {

constexpr uint64_t kMostShift = 7;
constexpr double kWrapped = 0.4;  // share with a pointwise function around
constexpr double kPlain = 0.25;   // share of moves whose result is not joined with `x`
constexpr std::array<std::string_view, 7> kFactors = {"0.25", "0.3", "0.5", "0.75",
                                                      "1.5",  "2.0", "2.5"};

class Drawing {
 public:
  explicit Drawing(SplitMix64* rng) : rng_(*rng) {}

  IndexForm Run() {
    switch (rng_.Below(5)) {
      case 0:
      case 1:
        Moved("* D", AlongLast());
        break;
      case 2:
        Lagged();
        break;
      case 3:
        Cropped();
        break;
      default:
        Moved("N C H W", InPlane());
        break;
    }
    if (rng_.Uniform() < kWrapped) Wrap();
    return std::move(form_);
  }

 private:
  int Shift() { return 1 + static_cast<int>(rng_.Below(kMostShift)); }
  std::string Factor() { return std::string(kFactors[rng_.Below(kFactors.size())]); }

  // `x` with its elements elsewhere, of the same shape.
  std::string AlongLast() {
    const int k = Shift();
    switch (rng_.Below(5)) {
      case 0:
        return fmt::format("F.pad({{x}}, ({0}, 0))[..., :-{0}]", k);
      case 1:
        return fmt::format("F.pad({{x}}, (0, {0}))[..., {0}:]", k);
      case 2:
        return fmt::format("torch.roll({{x}}, {}, -1)", rng_.Below(2) == 0 ? k : -k);
      case 3:
        return fmt::format("torch.cat(({{x}}[..., {0}:], {{x}}[..., :{0}]), -1)", k);
      default:
        return "{x}.flip(-1)";
    }
  }

  std::string InPlane() {
    const int k = 1 + static_cast<int>(rng_.Below(3)), l = 1 + static_cast<int>(rng_.Below(3));
    switch (rng_.Below(4)) {
      case 0:
        return fmt::format("F.pad({{x}}, ({0}, 0, {1}, 0))[..., :-{1}, :-{0}]", k, l);
      case 1:
        return fmt::format("F.pad({{x}}, (0, {0}, {1}, 0))[..., :-{1}, {0}:]", k, l);
      case 2:
        return fmt::format("torch.roll({{x}}, ({}, {}), (2, 3))", k, -l);
      default:
        return rng_.Below(2) == 0 ? "{x}.flip(2)" : "{x}.flip(1)";
    }
  }

  void Range(const std::string& most) {
    form_.hi = most;
    form_.lo = fmt::format("0 - ({})", most);
  }

  // Two tensors of one shape.
  void Combine(const std::string& a, const std::string& b) {
    switch (rng_.Below(6)) {
      case 0:
        form_.definition = fmt::format("{} - {}", a, b);
        return Range("2*m");
      case 1:
        form_.definition = fmt::format("{} + {}", a, b);
        return Range("2*m");
      case 2:
        form_.definition = fmt::format("{} * {}", a, b);
        return Range("m*m");
      case 3:
        form_.definition = fmt::format("torch.maximum({}, {})", a, b);
        return Range("m");
      case 4:
        form_.definition = fmt::format("torch.minimum({}, {})", a, b);
        return Range("m");
      default:
        form_.definition = fmt::format("{} * {} + {} * {}", Factor(), a, Factor(), b);
        return Range("5*m");
    }
  }

  void Moved(const char* shape, const std::string& moved) {
    form_.input = form_.output = shape;
    if (rng_.Uniform() >= kPlain)
      return rng_.Below(2) == 0 ? Combine("{x}", moved) : Combine(moved, "{x}");
    form_.definition = fmt::format("{} * {}", Factor(), moved);
    Range("3*m");
  }

  void Lagged() {
    const int k = Shift();
    form_.input = "* D";
    form_.output = fmt::format("* D-{}", k);
    Combine(fmt::format("{{x}}[..., {}:]", k), fmt::format("{{x}}[..., :-{}]", k));
  }

  // Neighbours within a border.
  void Cropped() {
    const std::array<const char*, 3> parts = {":-2", "1:-1", "2:"};
    const size_t row = rng_.Below(3), column = rng_.Below(3);
    const size_t other = (row + 1 + rng_.Below(2)) % 3;
    const auto at = [&](size_t i, size_t k) {
      return fmt::format("{{x}}[..., {}, {}]", parts[i], parts[k]);
    };
    form_.input = "N C H W";
    form_.output = "N C H-2 W-2";
    Combine(at(row, column), at(other, rng_.Below(3)));
  }

  void Wrap() {
    struct Wrapper {
      const char* form;
      const char *lo, *hi;  // null: as before
    };
    static const std::vector<Wrapper> wrappers = {{"torch.tanh({})", "0 - 1", "0 + 1"},
                                                  {"torch.sigmoid({})", "0 + 0", "0 + 1"},
                                                  {"F.relu({})", "0 + 0", nullptr},
                                                  {"torch.abs({})", "0 + 0", nullptr},
                                                  {"torch.sin({})", "0 - 1", "0 + 1"}};
    const Wrapper& wrapper = wrappers[rng_.Below(wrappers.size())];
    form_.definition = fmt::format(fmt::runtime(wrapper.form), form_.definition);
    form_.lo = wrapper.lo;
    if (wrapper.hi != nullptr) form_.hi = wrapper.hi;
  }

  SplitMix64& rng_;
  IndexForm form_;
};

}  // namespace

IndexForm DrawIndexForm(SplitMix64* rng) { return Drawing(rng).Run(); }

}  // namespace davinci::teacher
