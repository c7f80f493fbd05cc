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

// Moves of `x` within its shape, by {0} and {1}.
constexpr std::array<const char*, 6> kAlongLast = {
    "F.pad({{x}}, ({0}, 0))[..., :-{0}]",
    "F.pad({{x}}, (0, {0}))[..., {0}:]",
    "torch.roll({{x}}, {0}, -1)",
    "torch.roll({{x}}, {1}, -1)",
    "torch.cat(({{x}}[..., {0}:], {{x}}[..., :{0}]), -1)",
    "{{x}}.flip(-1)"};
constexpr std::array<const char*, 5> kInPlane = {
    "F.pad({{x}}, ({0}, 0, {1}, 0))[..., :-{1}, :-{0}]",
    "F.pad({{x}}, (0, {0}, {1}, 0))[..., :-{1}, {0}:]", "torch.roll({{x}}, ({0}, -{1}), (2, 3))",
    "{{x}}.flip(2)", "{{x}}.flip(1)"};

// Two tensors of one shape as one, and the largest result over m, their largest magnitude.
struct Combination {
  const char *form, *most;
};
constexpr std::array<Combination, 6> kCombinations = {{{"{0} - {1}", "2*m"},
                                                       {"{0} + {1}", "2*m"},
                                                       {"{0} * {1}", "m*m"},
                                                       {"torch.maximum({0}, {1})", "m"},
                                                       {"torch.minimum({0}, {1})", "m"},
                                                       {"{p} * {0} + {q} * {1}", "5*m"}}};

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
    return fmt::format(fmt::runtime(kAlongLast[rng_.Below(kAlongLast.size())]), k, -k);
  }

  std::string InPlane() {
    const int k = 1 + static_cast<int>(rng_.Below(3)), l = 1 + static_cast<int>(rng_.Below(3));
    return fmt::format(fmt::runtime(kInPlane[rng_.Below(kInPlane.size())]), k, l);
  }

  void Range(const std::string& most) {
    form_.hi = most;
    form_.lo = fmt::format("0 - ({})", most);
  }

  // Two tensors of one shape.
  void Combine(const std::string& a, const std::string& b) {
    const Combination& drawn = kCombinations[rng_.Below(kCombinations.size())];
    form_.definition = fmt::format(fmt::runtime(drawn.form), a, b, fmt::arg("p", Factor()),
                                   fmt::arg("q", Factor()));
    Range(drawn.most);
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
