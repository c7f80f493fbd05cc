#include "davinci/teacher/candidate/imported_replay.h"

#include <fmt/format.h>

#include <vector>

#include "davinci/synth/text.h"

namespace davinci::teacher {

std::string ImportedReplay(const ImportedForward& shape, const std::string& guard) {
  const synth::ImportedParts& from = *shape.from;
  const std::string inputs = synth::Join(shape.inputs, ", ");
  std::string shapes, copies, clones, first;
  for (size_t i = 0; i < shape.inputs.size(); ++i) {
    const std::string& input = shape.inputs[i];
    if (from.guard.empty() || !from.symbols.empty()) shapes += input + ".shape, ";
    copies += fmt::format("        self._replay_inputs[{}].copy_({})\n", i, input);
    clones += fmt::format("{}{}.clone()", i ? ", " : "", input);
  }
  for (const std::string_view line : synth::Split(from.first_lines, '\n'))
    if (!line.empty()) first += fmt::format("        {}\n", line);
  std::vector<std::string> results;
  for (size_t i = 0; i < shape.results.size(); ++i)
    results.push_back(fmt::format("_values[{}]", i));
  // The first run, which is not captured, must leave no trace.
  const std::string save =
      shape.pure ? ""
                 : "            _state = [_t[_n].clone() for _t, _n in self._replay_tensors]\n";
  const std::string restore =
      shape.pure ? ""
                 : "            for (_t, _n), _value in zip(self._replay_tensors, _state):\n"
                   "                _t[_n].copy_(_value)\n";
  // A graph is worth its making where a shape comes twice.
  const std::string twice = from.symbols.empty()
                                ? ""
                                : fmt::format(R"(        if self._replay_shapes != [{0}]:
            self._replay_shapes = [{0}]
            return self.kernel_compute({1})
)",
                                              shapes, inputs);
  const std::string seen = from.symbols.empty() ? "" : "_replay_shapes = ";
  const std::string self = from.signature.empty() ? "self" : "self, ";
  // Attributes and variables begin with "_": an attribute of the user's or an input may have any
  // other name.
  return fmt::format(R"(
    {13}_replay_key = _replay_graph = None
    _replay_tensors = _replay_modules = ()

    def forward({9}{8}):
{10}{11}        _values = self.kernel_replay({0}) if {1}.is_cuda else self.kernel_compute({0})
        return {4}

    def kernel_replay(self, {0}):
{12}        if [{2}*self.kernel_places()] != self._replay_key:
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
                     inputs, shape.inputs[0], shapes, copies, Filled(from.result, results), clones,
                     save, restore, from.signature, self, guard, first, twice, seen);
}

}  // namespace davinci::teacher
