#include "davinci/teacher/candidate/short_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/synth/text.h"

namespace davinci::teacher {

namespace {

// Numbers are s1, s2, … in the order in which they are read; behind them come sizes of axes, "d2"
// of axis 2, and "e2" where it has another size in another tensor.
void NameScalars(const Program& program, KernelForm* form) {
  int number = 0;
  std::set<std::string> taken;
  for (auto& [name, id] : form->scalars) {
    if (name[0] != 's') continue;
    if (program[id].axes.empty()) {
      name = fmt::format("s{}", ++number);
      continue;
    }
    char letter = 'd';
    do {
      name = fmt::format("{}{}", letter++, program[id].axes[0]);
    } while (!taken.insert(name).second);
  }
  const auto rank = [&](const std::pair<std::string, Id>& scalar) {
    const auto& axes = program[scalar.second].axes;
    return std::pair(axes.empty() ? -1 : axes[0], axes.empty() ? "" : scalar.first);
  };
  std::ranges::stable_sort(form->scalars, {}, rank);
}

}  // namespace

void NameShortly(Program* program, KernelForm* form, bool product) {
  static const std::map<std::string, std::string> kSizes = {
      {"rows", "R"}, {"cols", "C"}, {"n", "N"}};
  for (LoopAxis& axis : form->axes) {
    const std::string before = axis.size;
    if (program->graph.dims.IsConstant(axis.dim)) {
      axis.size = program->SizeText(axis.dim);
    } else {
      const auto found = kSizes.find(axis.size);
      axis.size = found != kSizes.end() ? found->second : synth::Upper(axis.size);
    }
    for (auto& [name, id] : form->scalars)
      if (name == before) name = axis.size;
  }
  // Numbers of elements that means divide by are products of sizes that the kernel has.
  for (const auto* axes : {&form->reduced, &form->kept}) {
    std::vector<DimId> dims;
    std::string inside;
    for (const int axis : *axes) {
      dims.push_back(form->axes[static_cast<size_t>(axis)].dim);
      inside += (inside.empty() ? "" : " * ") + form->axes[static_cast<size_t>(axis)].size;
    }
    if (axes->empty()) continue;
    const std::string all = program->SizeText(program->Product(dims));
    for (auto& [name, id] : form->scalars) {
      if ((*program)[id].text == all || (*program)[id].text == Bracketed(all))
        name = Bracketed(inside);
      if ((*program)[id].text == fmt::format("({} - 1)", all) ||
          (*program)[id].text == fmt::format("({} - 1)", Bracketed(all)))
        name = "(" + inside + " - 1)";
    }
  }
  NameScalars(*program, form);
  static constexpr std::string_view kNames = "xyzwuvpqabcdefgh";
  size_t next = product ? 3 : 0;  // its own tensors are x, y and z
  std::set<std::string> taken = {"a", "b"};
  for (auto* tensors : {&form->inputs, &form->outputs})
    for (KernelTensor& tensor : *tensors) {
      std::string name;
      do {
        // Numbered ones are not those of the kernel's own values: v1, k0, q4.
        const size_t more = next - std::min(next, kNames.size());
        name = next < kNames.size() ? kNames.substr(next, 1)
                                    : fmt::format("{}{}", kNames[more % 4], more / 4 + 1);
        ++next;
      } while (product && taken.contains(name));
      tensor.name = tensor.output && form->outputs.size() == 1 ? "o" : name;
    }
}

}  // namespace davinci::teacher
