#include "davinci/teacher/candidate/step_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

constexpr std::string_view kKernelBegin = "@kernel\ndef ";

std::string NotePlace(size_t note) { return fmt::format("# @{}\n", note); }

// "a, b, c" between the brackets that open at `open`.
std::vector<std::string> Between(const std::string& text, size_t open, size_t close) {
  std::vector<std::string> parts;
  for (const std::string_view part :
       synth::SplitTop(std::string_view(text).substr(open + 1, close - open - 1), ','))
    parts.emplace_back(synth::Trim(part));
  return parts;
}

// The arguments of the line that launches the kernel: "f1(x, t2)", "f1[8](x, t2)".
std::vector<std::string> Arguments(const std::vector<std::string>& calls, const std::string& name) {
  for (const std::string& call : calls) {
    if (!call.starts_with(name + "(") && !call.starts_with(name + "[")) continue;
    const size_t grid = call.rfind("](");
    return Between(call, grid == std::string::npos ? call.find('(') : grid + 1, call.size() - 1);
  }
  return {};
}

// Sizes are in capitals, numbers s1, s2, …
bool IsTensor(const std::string& parameter) {
  return std::isupper(static_cast<unsigned char>(parameter[0])) == 0 &&
         (parameter[0] != 's' || parameter.size() == 1);
}

// "t2", "self.layers[0].weight"; sizes and strides are none.
bool IsNameOrPath(const std::string& text) {
  const bool path = text.starts_with("self.");
  return text.find(".shape") == std::string::npos && std::ranges::all_of(text, [&](char c) {
           return synth::IsWordChar(c) || c == '.' || (path && (c == '[' || c == ']'));
         });
}

bool IsWritten(const std::string& body, const std::string& parameter) {
  for (const std::string_view store : {" st(", "tl.store(", "tl.atomic_add(", "tl.atomic_max("})
    for (const char end : {' ', ','})
      if (body.find(fmt::format("{}{}{}", store, parameter, end)) != std::string::npos) return true;
  return false;
}

// Adds the tensors that `calls` give the kernel that is defined at `at`; returns where its body
// begins.
size_t ReadTensors(const std::string& source, const std::vector<std::string>& calls, size_t at,
                   KernelNote* note) {
  const size_t name = at + kKernelBegin.size(), open = source.find('(', name),
               close = source.find("):\n", open);
  const std::string body = source.substr(close, source.find(kKernelBegin, close) - close);
  const auto declared = Between(source, open, close),
             given = Arguments(calls, source.substr(name, open - name));
  for (size_t i = 0; i < declared.size() && i < given.size(); ++i) {
    if (!IsTensor(declared[i]) || !IsNameOrPath(given[i])) continue;
    (IsWritten(body, declared[i]) ? note->writes : note->reads).push_back(given[i]);
  }
  return close;
}

// "t2 linear, t3 relu"
std::string StepsOfNodes(const Draft& draft, const std::set<int>& nodes) {
  std::vector<std::string> steps;
  for (const int node : nodes)
    if (node >= 0)
      for (const Step& step : draft.steps->of_nodes[static_cast<size_t>(node)])
        steps.push_back(step.name + " " + step.operation);
  return synth::Join(steps, ", ");
}

// The name that the steps have for a value, "t7"; "": none.
std::string StepName(const Draft& draft, Id id) {
  std::string name;
  const TensorValue& value = draft.program[id];
  if (const auto result = draft.program.results.find(id); result != draft.program.results.end())
    if (const auto found = draft.steps->names.find(result->second);
        found != draft.steps->names.end())
      name = found->second;
  if (name.empty() && value.node >= 0 && value.kind == TensorValue::Kind::kOpaque) {
    const auto& steps = draft.steps->of_nodes[static_cast<size_t>(value.node)];
    if (const auto tuple = std::ranges::find_if(steps, &Step::tuple); tuple != steps.end())
      name = tuple->name;
  }
  return name.starts_with('t') ? name : "";
}

}  // namespace

std::map<Id, std::string> NamesInKernels(const Draft& draft) {
  if (draft.steps == nullptr) return {};
  std::map<Id, std::string> names = draft.program.names;
  for (const auto& [id, value] : draft.program.results)
    if (std::string name = StepName(draft, id);
        !name.empty() && draft.program[id].kind != TensorValue::Kind::kLeaf)
      names[id] = std::move(name);
  return names;
}

void AddKernelNotes(const std::set<int>& nodes, Draft* draft, KernelText* text) {
  const std::string steps = StepsOfNodes(*draft, nodes);
  for (size_t at = 0; (at = text->source.find(kKernelBegin, at)) != std::string::npos;) {
    KernelNote note{steps, {}, {}};
    const size_t end = ReadTensors(text->source, text->call, at, &note);
    const std::string place = NotePlace(draft->notes.size());
    draft->notes.push_back(std::move(note));
    text->source.insert(at, place);
    at = end + place.size();
  }
}

void AddFurtherNotes(const std::set<int>& nodes, const KernelText& text,
                     const std::vector<std::string>& known, Draft* draft) {
  const std::string steps = StepsOfNodes(*draft, nodes);
  size_t kernel = 0;
  for (size_t at = 0;
       kernel < known.size() && (at = text.source.find(kKernelBegin, at)) != std::string::npos;
       ++kernel) {
    KernelNote note{steps, {}, {}, true};
    at = ReadTensors(text.source, text.call, at, &note);
    std::string& kernels = draft->file->kernels;
    const size_t place = kernels.find(fmt::format("{}{}(", kKernelBegin, known[kernel]));
    if (place == std::string::npos) continue;
    kernels.insert(place, NotePlace(draft->notes.size()));
    draft->notes.push_back(std::move(note));
  }
}

std::string PlanOf(const std::string& reply) {
  std::string plan, notes;
  for (const std::string_view line : synth::Split(reply, '\n')) {
    if (line.starts_with("# ")) {
      notes += std::string(line) + '\n';
      continue;
    }
    if (line == "@kernel") plan += notes;
    notes.clear();
  }
  return plan;
}

std::string WithKernelNotes(std::string kernels, const std::vector<KernelNote>& notes,
                            const HostNames& names) {
  const auto named = [&](std::vector<std::string> tensors) {
    for (std::string& tensor : tensors) {
      const auto found = names.variables.find(tensor);
      tensor = found != names.variables.end() ? found->second
                                              : WithMemberNames(std::move(tensor), names.members);
    }
    return synth::Join(tensors, ", ");
  };
  for (size_t i = 0; i < notes.size(); ++i)
    kernels =
        synth::Replaced(std::move(kernels), NotePlace(i),
                        fmt::format("# {}{}: {} -> {}\n", notes[i].further ? "also " : "",
                                    notes[i].steps, named(notes[i].reads), named(notes[i].writes)));
  return kernels;
}

std::string WithLaunches(const std::string& kernels, const std::vector<std::string>& lines) {
  constexpr std::string_view kBetween = "\n\n\n", kDef = "\ndef ";
  std::vector<std::string> parts, names;
  for (size_t begin = 0; begin < kernels.size();) {
    const size_t end = std::min(kernels.find(kBetween, begin), kernels.size() - 1);
    parts.push_back(kernels.substr(begin, end - begin));
    const size_t name = parts.back().find(kDef) + kDef.size();
    names.push_back(parts.back().substr(name, parts.back().find('(', name) - name));
    begin = end + kBetween.size();
  }
  std::string text, pending;
  size_t written = 0;  // of the parts
  for (const std::string& line : lines) {
    if (!text.empty() && line.find(" = ") == std::string::npos && line.ends_with("_(1)")) {
      text += line + "\n";  // what goes with the launch above
      continue;
    }
    pending += line + "\n";
    const std::string called = line.substr(0, line.find_first_of("(["));
    const auto found = std::ranges::find(names, called);
    if (found == names.end()) continue;
    for (const auto at = static_cast<size_t>(found - names.begin()); written <= at; ++written)
      text += (text.empty() ? "" : "\n\n") + parts[written] + "\n";
    text += "\n" + pending;
    pending.clear();
  }
  for (; written < parts.size(); ++written)
    text += (text.empty() ? "" : "\n\n") + parts[written] + "\n";
  return text + (pending.empty() ? "" : "\n" + pending);
}

std::set<std::string> WrittenTensors(const std::string& kernels,
                                     const std::vector<std::string>& lines) {
  KernelNote note;
  for (size_t at = 0; (at = kernels.find(kKernelBegin, at)) != std::string::npos; ++at)
    for (const std::string& line : lines) ReadTensors(kernels, {line}, at, &note);
  return {note.writes.begin(), note.writes.end()};
}

HostNames NamesOfSteps(const Draft& draft, const std::vector<std::string>& lines) {
  if (draft.steps == nullptr) return {};
  HostNames names{{}, draft.steps->sizes, {}, draft.steps->taken, draft.steps->members};
  for (const auto& [letter, value, axis] : draft.steps->letters) {
    std::string size =
        draft.program.SizeText(draft.program.graph.values[static_cast<size_t>(value)].shape[axis]);
    if (size.find(' ') != std::string::npos) names.formulas.emplace_back(letter, std::move(size));
  }
  std::set<std::string> taken(draft.task.parts.inputs.begin(), draft.task.parts.inputs.end());
  for (const auto& [id, name] : draft.steps->names) taken.insert(name);
  std::map<std::string, Id> ids;
  for (size_t i = 0; i < draft.program.values.size(); ++i)
    ids[draft.program.Variable(static_cast<Id>(i))] = static_cast<Id>(i);
  for (const std::string& variable : MadeVariables(lines)) {
    const Id id = ids.at(variable);
    std::string name = StepName(draft, id);
    if (name.empty()) {
      const int node = draft.program[id].node;
      std::string number = "0";
      if (node >= 0)
        if (const auto& steps = draft.steps->of_nodes[static_cast<size_t>(node)]; !steps.empty())
          number = steps.back().name.substr(1);
      for (size_t n = 0; name.empty() || taken.contains(name); ++n)
        name = std::string(n / 26 + 1, static_cast<char>('a' + n % 26)) + number;
    }
    taken.insert(name);
    names.variables[variable] = name;
  }
  return names;
}

}  // namespace davinci::teacher
