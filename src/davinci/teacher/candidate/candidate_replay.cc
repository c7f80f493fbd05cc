#include <fmt/format.h>

#include "davinci/teacher/candidate/candidate_text.h"

namespace davinci::teacher {

std::string CandidateText::Replay(const std::string& inputs) const {
  std::string shapes, copies, clones;
  for (size_t i = 0; i < d_.task.parts.inputs.size(); ++i) {
    const std::string& input = d_.task.parts.inputs[i];
    shapes += input + ".shape, ";
    copies += fmt::format("        self.inputs[{}].copy_({})\n", i, input);
    clones += fmt::format("{}{}.clone()", i ? ", " : "", input);
  }
  std::string result = "self.result.clone()";
  if (d_.task.parts.result == "dict")
    result = "{name: value.clone() for name, value in self.result.items()}";
  else if (d_.task.parts.result == "list")
    result = "[value.clone() for value in self.result]";
  else if (d_.program.outputs.size() > 1)
    result = "tuple(value.clone() for value in self.result)";
  // The first run, which is not captured, must leave no trace.
  const bool pure = d_.program.effects.empty() && d_.program.updates.empty();
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
                     inputs, d_.task.parts.inputs[0], shapes, copies, result, clones, save,
                     restore);
}

}  // namespace davinci::teacher
