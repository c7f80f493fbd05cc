#include "davinci/teacher/cards/index_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "davinci/synth/text.h"
#include "davinci/teacher/cards/rearrangement.h"

namespace davinci::teacher {
namespace {

constexpr uint64_t kMostShift = 7;
constexpr double kWrapped = 0.4;    // share with a pointwise function around
constexpr double kPlain = 0.25;     // share of moves whose result is not joined with `x`
constexpr double kArgument = 0.5;   // share of numbers that are arguments
constexpr double kDefault = 0.4;    // share of arguments that have a default
constexpr double kSaysParts = 0.5;  // share of formulas that name the parts of the result's axes
constexpr size_t kMostIndex = 110;  // characters of the indices of a formula
constexpr std::array<std::string_view, 7> kFactors = {"0.25", "0.3", "0.5", "0.75",
                                                      "1.5",  "2.0", "2.5"};

// Names of arguments: of what counts, and of what is added or moved.
constexpr std::array<const char*, 9> kSizeNames = {
    "kernel_size", "stride", "factor", "size", "step", "window", "num", "block_size", "groups"};
constexpr std::array<const char*, 7> kShiftNames = {"padding", "offset", "shift",   "lag",
                                                    "margin",  "border", "dilation"};

// Moves of `x` within its shape, by {0} and {1}.
constexpr std::array<const char*, 6> kAlongLast = {
    "F.pad({{x}}, ({0}, 0))[..., :-{0}]",
    "F.pad({{x}}, (0, {0}))[..., {0}:]",
    "torch.roll({{x}}, {0}, -1)",
    "torch.roll({{x}}, -{0}, -1)",
    "torch.cat(({{x}}[..., {0}:], {{x}}[..., :{0}]), -1)",
    "{{x}}.flip(-1)"};
constexpr std::array<const char*, 5> kInPlane = {
    "F.pad({{x}}, ({0}, 0, {1}, 0))[..., :-{1}, :-{0}]",
    "F.pad({{x}}, (0, {0}, {1}, 0))[..., :-{1}, {0}:]", "torch.roll({{x}}, ({0}, -{1}), (2, 3))",
    "{{x}}.flip(2)", "{{x}}.flip(1)"};

// Moves of `x` (N, C, H, W) to another shape, by a count {k} or a shift {p}.
struct Reshaping {
  const char *form, *output;
};
constexpr std::array<Reshaping, 14> kReshapings = {{
    {"{{x}}.flatten(2).transpose(1, 2)", "N H*W C"},
    {"{{x}}.permute(0, 2, 3, 1).flatten(2)", "N H W*C"},
    {"{{x}}.transpose(2, 3).flatten(1, 2)", "N C*W H"},
    {"F.pad({{x}}, ({p}, {p}, {p}, {p})).flatten(2)", "N C (H+2*{p})*(W+2*{p})"},
    {"F.pad({{x}}, (0, 0, 0, 0, {p}, {p}))", "N C+2*{p} H W"},
    {"F.pad({{x}}, ({p}, {p})).flatten(1, 2)", "N C*H W+2*{p}"},
    {"{{x}}[..., ::{k}, ::{k}]", "N C (H+{k}-1)//{k} (W+{k}-1)//{k}"},
    {"{{x}}[:, :, ::{k}].flatten(2)", "N C ((H+{k}-1)//{k})*W"},
    {"{{x}}.repeat_interleave({k}, 1)", "N C*{k} H W"},
    {"{{x}}.repeat_interleave({k}, 3).flatten(2)", "N C H*W*{k}"},
    {"torch.cat((F.pad({{x}}, ({p}, 0))[..., :-{p}], {{x}}, F.pad({{x}}, (0, {p}))[..., {p}:]), "
     "1)",
     "N C*3 H W"},
    {"torch.cat(({{x}}, {{x}}.flip(3)), 1).flatten(2)", "N C*2 H*W"},
    {"torch.cat((F.pad({{x}}, ({p}, 0))[..., :-{p}], {{x}}), 1).flatten(2)", "N C*2 H*W"},
    {"torch.cat(({{x}}, F.pad({{x}}, (0, 0, 0, {p}))[:, :, {p}:]), 1).flatten(1, 2)", "N C*2*H W"},
}};

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
    switch (rng_.Below(8)) {
      case 0:
        Moved("* D", AlongLast());
        break;
      case 1:
        Lagged();
        break;
      case 2:
        Cropped();
        break;
      case 3:
        Moved("N C H W", InPlane());
        break;
      case 4:
        Reshaped();
        break;
      default:
        Placed();
        break;
    }
    // An argument that the definition does not name is none.
    std::erase_if(form_.attrs, [&](const synth::AttrSpec& attr) {
      return form_.definition.find("{" + attr.name + "}") == std::string::npos;
    });
    if (rng_.Uniform() < kWrapped) Wrap();
    if (!placed_.empty())
      form_.means = place_ + " = " + synth::Replaced(form_.definition, placed_, element_);
    return std::move(form_);
  }

 private:
  template <typename T>
  typename T::value_type AnyOf(const T& from) {
    return from[rng_.Below(from.size())];
  }
  std::string Factor() { return std::string(AnyOf(kFactors)); }

  struct Number {
    std::string text;  // in the definition: "3", or an argument's placeholder
    std::string size;  // in a shape: "3", or the argument's name
  };

  // From `least` on.
  Number Count(uint64_t least, uint64_t most, bool shift) {
    const auto draw = [&] { return static_cast<double>(least + rng_.Below(most - least + 1)); };
    const double value = draw();
    const std::string name = shift ? AnyOf(kShiftNames) : AnyOf(kSizeNames);
    const std::string literal = std::to_string(static_cast<int>(value));
    const bool free = std::ranges::none_of(
        form_.attrs, [&](const synth::AttrSpec& attr) { return attr.name == name; });
    if (!free || rng_.Uniform() >= kArgument) return {literal, literal};
    synth::AttrSpec attr;
    attr.name = attr.py = name;
    attr.kind = synth::AttrSpec::Kind::kInts;
    attr.numbers = {value, draw(), draw()};
    if (rng_.Uniform() < kDefault) attr.default_number = value;
    form_.attrs.push_back(attr);
    return {"{" + name + "}", name};
  }

  // `x` with its elements elsewhere, of the same shape.
  std::string AlongLast() {
    return fmt::format(fmt::runtime(AnyOf(kAlongLast)), Count(1, kMostShift, true).text);
  }

  std::string InPlane() {
    const std::string k = Count(1, 3, true).text, l = Count(1, 3, true).text;
    return fmt::format(fmt::runtime(AnyOf(kInPlane)), k, l);
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
    Scaled(moved);
  }

  void Scaled(const std::string& moved) {
    form_.definition = fmt::format("{} * {}", Factor(), moved);
    Range("3*m");
  }

  void Lagged() {
    const Number k = Count(1, kMostShift, true);
    form_.input = "* D";
    form_.output = fmt::format("* D-{}", k.size);
    Combine(fmt::format("{{x}}[..., {}:]", k.text), fmt::format("{{x}}[..., :-{}]", k.text));
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

  void Reshaped() {
    const Reshaping& drawn = kReshapings[rng_.Below(kReshapings.size())];
    const Number k = Count(2, 4, false), p = Count(1, 3, true);
    form_.input = "N C H W";
    form_.output =
        fmt::format(fmt::runtime(drawn.output), fmt::arg("k", k.size), fmt::arg("p", p.size));
    Scaled(fmt::format(fmt::runtime(drawn.form), fmt::arg("k", k.text), fmt::arg("p", p.text)));
  }

  void Placed() {
    while (true) {
      const Rearrangement drawn = DrawRearrangement(&rng_);
      if (drawn.Indices().size() > kMostIndex || drawn.IsHeldOut()) continue;
      form_.input = drawn.input;
      form_.output = synth::Replaced(drawn.Shape(), ", ", " ");
      placed_ = fmt::format("element_at({{x}}, \"{}\", \"{}\")", drawn.Shape(), drawn.Indices());
      const bool parts = rng_.Uniform() < kSaysParts;
      place_ = parts ? drawn.PlaceByParts() : drawn.Place();
      element_ = fmt::format("x[{}]", parts ? drawn.IndicesByParts() : drawn.Indices());
      return Scaled(placed_);
    }
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
  std::string placed_, place_, element_;  // a call of element_at, and what it says
};

}  // namespace

IndexForm DrawIndexForm(SplitMix64* rng) { return Drawing(rng).Run(); }

}  // namespace davinci::teacher
