#include "davinci/teacher/candidate/imported_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/imported_replay.h"

namespace davinci::teacher {
namespace {

// The user's file may give the name "F" to something else.
std::string WithFullNames(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = i == 0 || (std::isalnum(static_cast<unsigned char>(line[i - 1])) == 0 &&
                                   line[i - 1] != '_' && line[i - 1] != '.');
    if (begins && line.compare(i, 2, "F.") == 0) {
      text += "torch.nn.functional.";
      ++i;
    } else {
      text += line[i];
    }
  }
  return text;
}

std::string ConstantMethods(const ImportedForward& shape) {
  const std::string inputs = synth::Join(shape.inputs, ", ");
  std::string text = fmt::format("    def kernel_constants(self, {}):\n", inputs);
  for (const std::string& line : shape.constant_lines)
    text += "        " + WithFullNames(line) + "\n";
  text += fmt::format("        return [{}]\n\n", synth::Join(shape.constants, ", "));
  // The user's file may make one on the host and move what comes of it.
  return text + fmt::format(R"(    _constants_device = None

    def kept_constants(self, {0}):
        if self._constants_device != {1}.device:
            with torch.inference_mode(False), torch.no_grad():
                self._constants = [_c.to({1}.device) for _c in self.kernel_constants({0})]
            self._constants_device = {1}.device
        return self._constants

)",
                            inputs, shape.inputs[0]);
}

// A class or function for one shape, or for several with one text.
struct Entry {
  std::string defined, base;  // `base`: "" of a function
  std::string guard, fallback;
};

// The lines of forward() behind the guard.
std::string Body(const ImportedForward& shape, const std::string& indent) {
  std::string body;
  const auto add = [&](const std::string& line) { body += indent + line + "\n"; };
  if (!shape.replays)
    for (const std::string_view line : synth::Split(shape.from->first_lines, '\n'))
      if (!line.empty()) add(std::string(line));
  for (const std::string& input : shape.inputs)
    if (shape.read_inputs.contains(input)) add(fmt::format("{0} = {0}.contiguous()", input));
  if (!shape.constants.empty())
    add(fmt::format("[{}] = self.kept_constants({})", synth::Join(shape.constants, ", "),
                    synth::Join(shape.inputs, ", ")));
  for (const std::string& line : shape.lines) add(WithFullNames(line));
  std::vector<std::string> results = shape.results;
  if (shape.replays) {
    add(fmt::format("return [{}]", synth::Join(results, ", ")));
    return body;
  }
  for (std::string& result : results)  // the caller may change what it gets
    if (std::ranges::find(shape.constants, result) != shape.constants.end()) result += ".clone()";
  add("return " + Filled(shape.from->result, results));
  return body;
}

std::string EntryText(const ImportedForward& shape, const Entry& entry, const std::string& body) {
  const synth::ImportedParts& from = *shape.from;
  const std::string guard = entry.guard.empty() ? "" : fmt::format("if not ({}):\n", entry.guard);
  const auto guarded = [&](const std::string& indent) {
    if (guard.empty()) return std::string();
    return fmt::format("{0}{1}{0}    return {2}\n", indent, guard, entry.fallback);
  };
  if (entry.base.empty())
    return fmt::format("def {}({}):\n", entry.defined, from.signature) + guarded("    ") + body;
  const std::string self = from.signature.empty() ? "self" : "self, ";
  std::string text = fmt::format("class {}({}):\n", entry.defined, entry.base);
  if (!shape.constants.empty()) text += ConstantMethods(shape);
  if (shape.replays)
    return text +
           fmt::format("    def kernel_compute(self, {}):\n", synth::Join(shape.inputs, ", ")) +
           body + ImportedReplay(shape, guarded("        "));
  return text + fmt::format("    def forward({}{}):\n", self, from.signature) +
         guarded("        ") + body;
}

// Names that a class of another shape gets for itself.
std::string WithSuffix(const ImportedForward& shape, const std::string& text,
                       const std::string& suffix) {
  std::set<std::string> names;
  if (!shape.constants.empty()) names.insert(kConstantNames.begin(), kConstantNames.end());
  if (shape.replays) names.insert(kReplayNames.begin(), kReplayNames.end());
  return synth::Renamed(
      text, [&](const std::string& name) { return names.contains(name) ? name + suffix : name; });
}

// Functions that the texts of several shapes call, each once.
std::string Helpers(const std::vector<ImportedForward>& shapes) {
  std::string all;
  for (const ImportedForward& shape : shapes) {
    const std::string& helpers = shape.from->helpers;
    const auto begin = [&](size_t from) {
      return std::min(helpers.find("\n\ndef ", from), helpers.find("\n\nclass ", from));
    };
    for (size_t at = begin(0); at != std::string::npos;) {
      const size_t next = begin(at + 1);
      const std::string one = helpers.substr(at, next - at);
      if (all.find(one) == std::string::npos) all += one;
      at = next;
    }
  }
  return all;
}

}  // namespace

std::string ImportedFile(const std::vector<ImportedForward>& shapes, const std::string& kernels) {
  const synth::ImportedParts& own = *shapes[0].from;
  const bool is_class = !own.base.empty();
  std::vector<std::string> bodies;
  std::vector<std::string> guards;
  for (const ImportedForward& shape : shapes) {
    bodies.push_back(Body(shape, is_class ? "        " : "    "));
    guards.push_back(shape.from->guard);
  }
  // Shapes with one text are one class. A graph holds the launches of one shape, constants its
  // numbers.
  const auto alone = [&](size_t i) {
    return shapes[i].replays || !shapes[i].constants.empty() || guards[i].empty();
  };
  std::vector<bool> merged(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t k = i + 1; k < shapes.size(); ++k)
      if (!merged[i] && !merged[k] && !alone(i) && !alone(k) && bodies[i] == bodies[k]) {
        merged[k] = true;
        if (guards[k] != shapes[i].from->guard) guards[i] += " or " + guards[k];
      }
  std::string entries, base = own.base, fallback = own.fallback;
  for (size_t i = shapes.size(); i-- > 0;) {
    if (merged[i]) continue;
    const synth::ImportedParts& from = *shapes[i].from;
    std::string defined = own.defined;
    while (i > 0 && (defined == own.defined || own.Names({defined})))
      defined += fmt::format("{}shape{}", defined.ends_with('_') ? "" : "_", i);
    std::string text = EntryText(shapes[i], {defined, base, guards[i], fallback}, bodies[i]);
    if (i > 0) text = WithSuffix(shapes[i], text, fmt::format("_shape{}", i));
    entries += "\n\n" + text;
    // The next one falls back to this one.
    if (is_class)
      base = defined;
    else
      fallback = defined + from.fallback.substr(from.fallback.find('('));
  }
  return own.future + own.source + Helpers(shapes) + "\n\nimport torch\n" + kernels + entries;
}

}  // namespace davinci::teacher
