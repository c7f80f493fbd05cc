#include <fmt/format.h>

#include "davinci/teacher/candidate/candidate_writer.h"

namespace davinci::teacher {

std::string CandidateWriter::Replay(const std::string& inputs) const {
  std::string shapes, copies, clones;
  for (size_t i = 0; i < task_.parts.inputs.size(); ++i) {
    const std::string& input = task_.parts.inputs[i];
    shapes += input + ".shape, ";
    copies += fmt::format("        self.inputs[{}].copy_({})\n", i, input);
    clones += fmt::format("{}{}.clone()", i ? ", " : "", input);
  }
  std::string result = "self.result.clone()";
  if (task_.parts.result == "dict")
    result = "{name: value.clone() for name, value in self.result.items()}";
  else if (task_.parts.result == "list")
    result = "[value.clone() for value in self.result]";
  else if (p_.outputs.size() > 1)
    result = "tuple(value.clone() for value in self.result)";
  // The first run, which is not captured, must leave no trace.
  const bool pure = p_.effects.empty() && p_.updates.empty();
  const std::string save =
      pure ? "" : "            state = [value.clone() for value in self.buffers()]\n";
  const std::string restore = pure
                                  ? ""
                                  : "            for value, before in zip(self.buffers(), state):\n"
                                    "                value.copy_(before)\n";
  return fmt::format(R"(
    key = None
    weights = ()

    def forward(self, {0}):
        if not {1}.is_cuda:
            return self.compute({0})
        # The graph reads weights where they lie: other places or other shapes need another one.
        key = [{2}*map(torch.Tensor.data_ptr, self.weights)]
        if key != self.key:
            self.capture({0})
{3}        self.graph.replay()
        return {4}

    def capture(self, {0}):
        self.weights = [*self.parameters(), *self.buffers()]
        self.key = [{2}*map(torch.Tensor.data_ptr, self.weights)]
        with torch.inference_mode(False), torch.no_grad():
            self.inputs = [{5}]
{6}            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.compute(*self.inputs)  # compiles, and lets libraries choose
            torch.cuda.current_stream().wait_stream(stream)
{7}            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.result = self.compute(*self.inputs)
)",
                     inputs, task_.parts.inputs[0], shapes, copies, result, clones, save, restore);
}

std::string CandidateWriter::ImportedReplay() const {
  const synth::ImportedParts& from = *task_.parts.imported;
  const std::string inputs = synth::Join(task_.parts.inputs, ", ");
  std::string shapes, copies, clones, first, guard;
  for (size_t i = 0; i < task_.parts.inputs.size(); ++i) {
    const std::string& input = task_.parts.inputs[i];
    if (from.guard.empty()) shapes += input + ".shape, ";
    copies += fmt::format("        self._replay_inputs[{}].copy_({})\n", i, input);
    clones += fmt::format("{}{}.clone()", i ? ", " : "", input);
  }
  for (const std::string_view line : synth::Split(from.first_lines, '\n'))
    if (!line.empty()) first += fmt::format("        {}\n", line);
  if (!from.guard.empty())
    guard = fmt::format("        if not ({}):\n            return {}\n", from.guard, from.fallback);
  std::vector<std::string> results;
  for (size_t i = 0; i < p_.outputs.size(); ++i) results.push_back(fmt::format("_values[{}]", i));
  // The first run, which is not captured, must leave no trace.
  const bool pure = p_.effects.empty() && p_.updates.empty();
  const std::string save =
      pure ? "" : "            _state = [_t[_n].clone() for _t, _n in self._replay_tensors]\n";
  const std::string restore =
      pure ? ""
           : "            for (_t, _n), _value in zip(self._replay_tensors, _state):\n"
             "                _t[_n].copy_(_value)\n";
  const std::string self = from.signature.empty() ? "self" : "self, ";
  // Attributes begin with "_", so configuration() leaves them out. Variables do, too: an input may
  // have any other name.
  return fmt::format(R"(
    _replay_key = _replay_graph = None
    _replay_tensors = _replay_modules = ()

    def forward({9}{8}):
{10}{11}        _values = self.kernel_replay({0}) if {1}.is_cuda else self.kernel_compute({0})
        return {4}

    def kernel_replay(self, {0}):
        if [{2}*self.kernel_places()] != self._replay_key:
            self.kernel_capture({0})
        if self._replay_graph is None:
            return self.kernel_compute({0})
{3}        self._replay_graph.replay()
        return [_value.clone() for _value in self._replay_result]

    def kernel_places(self):
        """Where the graph reads: other tensors or submodules need another one."""
        yield from (_t[_n].data_ptr() for _t, _n in self._replay_tensors)
        yield from (id(_t[_n]) for _t, _n in self._replay_modules)

    def kernel_capture(self, {0}):
        _tables = [_t for _m in self.modules() for _t in (_m._parameters, _m._buffers, vars(_m))]
        _names = [(_t, _n) for _t in _tables for _n in _t]
        self._replay_tensors = [(_t, _n) for _t, _n in _names if isinstance(_t[_n], torch.Tensor)]
        self._replay_modules = [(_m._modules, _n) for _m in self.modules() for _n in _m._modules]
        self._replay_key = [{2}*self.kernel_places()]
        self._replay_graph = None
        with torch.inference_mode(False), torch.no_grad():
            self._replay_inputs = [{5}]
{6}            _stream = torch.cuda.Stream()
            _stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(_stream):
                self.kernel_compute(*self._replay_inputs)  # compiles, and lets libraries choose
            torch.cuda.current_stream().wait_stream(_stream)
{7}            _graph = torch.cuda.CUDAGraph()
            try:
                with torch.cuda.graph(_graph):
                    self._replay_result = self.kernel_compute(*self._replay_inputs)
                self._replay_graph = _graph
            except RuntimeError:
                pass  # something waits for the device: no graph can hold it
)",
                     inputs, task_.parts.inputs[0], shapes, copies, ImportedResult(results), clones,
                     save, restore, from.signature, self, guard, first);
}

}  // namespace davinci::teacher
