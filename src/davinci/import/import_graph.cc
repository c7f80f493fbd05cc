#include "davinci/import/import_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace davinci::import {
namespace {

using synth::DType;
using synth::Precision;

std::optional<Precision> PrecisionOf(const std::string& dtype) {
  if (dtype == "float32") return Precision::kFp32;
  if (dtype == "float16") return Precision::kFp16;
  if (dtype == "bfloat16") return Precision::kBf16;
  return std::nullopt;
}

// The floating type of most elements that calls give.
Precision MainPrecision(const TracedModule& module) {
  std::map<Precision, double> elements;
  const auto count = [&](int id, double weight) {
    const TracedValue& value = module.values[static_cast<size_t>(id)];
    double all = weight;
    for (const int64_t size : value.shape) all *= static_cast<double>(size);
    if (const auto precision = PrecisionOf(value.dtype)) elements[*precision] += all + weight;
  };
  for (const TracedName& input : module.inputs) count(input.id, 1);
  for (const TracedCall& call : module.calls)
    for (const TracedCall::Given& given : call.gives) count(given.id, 1);
  Precision most = Precision::kFp32;
  for (const auto& [precision, number] : elements)
    if (number > elements[most]) most = precision;
  return most;
}

class Importer {
 public:
  explicit Importer(const TracedModule& module) : module_(module) {}

  Result<ImportedTask> Run(const CandidateName& name) {
    synth::Graph& graph = made_.graph;
    graph.precision = MainPrecision(module_);
    graph.mode = module_.training ? "train" : "eval";
    graph.scopes.emplace_back();
    for (const TracedSymbol& symbol : module_.symbols) {
      const int64_t value = symbol.value;
      symbols_.push_back(graph.dims.Symbol("", symbol.name, 1, {value, value, value}));
    }
    for (const TracedValue& value : module_.values) AddValue(value);
    synth::ClassParts& parts = made_.task.parts;
    synth::ImportedParts imported;
    for (const TracedName& input : module_.inputs) {
      graph.values[static_cast<size_t>(input.id)].origin = synth::Value::Origin::kInput;
      graph.values[static_cast<size_t>(input.id)].order = input.order;
      graph.inputs.push_back(input.id);
      const bool plain =
          std::find(module_.names.begin(), module_.names.end(), input.text) != module_.names.end();
      // A part of an argument gets a name: nothing of the caller's is changed.
      parts.inputs.push_back(plain ? input.text : fmt::format("part_{}", graph.inputs.size()));
      if (!plain) imported.first_lines += fmt::format("{} = {}\n", parts.inputs.back(), input.text);
    }
    std::set<int> weights;
    for (const TracedName& weight : module_.weights) {
      synth::Value& value = graph.values[static_cast<size_t>(weight.id)];
      value.origin = synth::Value::Origin::kParameter;
      parts.weights.emplace_back(weight.id, weight.text);
      weights.insert(weight.id);
      // Kernels read weights where they lie.
      if (!weight.contiguous) value.foreign = "a weight that is not contiguous";
    }
    for (const TracedCall& call : module_.calls) AddCall(call, weights);
    for (const int output : module_.outputs) graph.outputs.push_back(output);
    imported.future = module_.future;
    imported.source = module_.source;
    imported.helpers = module_.helpers;
    imported.guard = module_.guard;
    imported.fallback = module_.fallback;
    imported.bound = {module_.bound.begin(), module_.bound.end()};
    imported.base = name.entry;
    imported.defined = name.defined;
    imported.signature = module_.signature;
    imported.arguments = module_.names;
    for (const TracedSymbol& symbol : module_.symbols) imported.symbols.push_back(symbol.place);
    imported.result = module_.result;
    parts.imported = std::move(imported);
    if (parts.inputs.empty()) return InvalidArgument("forward gets no tensor");
    made_.task.entry = name.entry;
    made_.task.fixed_sizes = true;
    return std::move(made_);
  }

 private:
  synth::DimId DimOf(const SizeExpression& size) {
    synth::DimTable& dims = made_.graph.dims;
    synth::DimId sum = dims.Constant(0);
    for (const bool subtracted : {false, true})
      for (const SizeTerm& term : size) {
        if ((term.factor < 0) != subtracted) continue;
        // The factor is last, as operators of synth/ have it: "C * 2".
        synth::DimId product = dims.Constant(1);
        for (const size_t symbol : term.symbols)
          product = dims.IsConstant(product, 1) ? symbols_[symbol]
                                                : dims.Binary('*', product, symbols_[symbol]);
        const synth::DimId factor = dims.Constant(std::abs(term.factor));
        if (dims.IsConstant(product, 1))
          product = factor;
        else if (!dims.IsConstant(factor, 1))
          product = dims.Binary('*', product, factor);
        sum = !subtracted && dims.IsConstant(sum, 0)
                  ? product
                  : dims.Binary(subtracted ? '-' : '+', sum, product);
      }
    return sum;
  }

  // Sizes become the graph's.
  std::string FormOf(const TracedCall& call) {
    if (module_.symbols.empty()) return call.text;
    return WithSizes(
               call.text, module_.symbols,
               [&](const SizeExpression& size) { return fmt::format("{{dim:{}}}", DimOf(size)); })
        .value_or("");
  }

  void AddValue(const TracedValue& traced) {
    synth::Graph& graph = made_.graph;
    synth::Value value;
    for (size_t axis = 0; axis < traced.shape.size(); ++axis)
      value.shape.push_back(traced.sizes.empty() ? graph.dims.Constant(traced.shape[axis])
                                                 : DimOf(traced.sizes[axis]));
    if (traced.dtype == "int64") {
      value.dtype = DType::kIndex;
    } else if (traced.dtype == "bool") {
      value.dtype = DType::kBool;
    } else {
      value.dtype = traced.dtype.find("int") != std::string::npos ? DType::kIndex : DType::kFloat;
      if (PrecisionOf(traced.dtype) != graph.precision) value.foreign = traced.dtype + " elements";
    }
    if (std::find(traced.shape.begin(), traced.shape.end(), 0) != traced.shape.end())
      value.foreign = "an empty tensor";
    graph.values.push_back(std::move(value));
  }

  // Between a device and the host: no graph of launches may hold it.
  bool Transfers(const TracedCall& call) const {
    const auto elsewhere = [&](int id) {
      const std::string& dtype = module_.values[static_cast<size_t>(id)].dtype;
      return dtype.starts_with("cpu ") || dtype.starts_with("cuda ");
    };
    return std::any_of(call.reads.begin(), call.reads.end(), elsewhere) ||
           std::any_of(call.gives.begin(), call.gives.end(),
                       [&](const TracedCall::Given& given) { return elsewhere(given.id); });
  }

  // "__getitem__" would be mangled where a class uses it.
  static std::string LabelOf(const TracedCall& call) {
    const size_t begin = call.name.find_first_not_of('_');
    const size_t end = call.name.find_last_not_of('_');
    return begin == std::string::npos ? "call" : call.name.substr(begin, end - begin + 1);
  }

  // "self.blocks[0].conv" as the tracer names it, "blocks.0.conv".
  static std::string PathOf(std::string_view text) {
    std::string path;
    for (const char c : text.substr(text.find('.') + 1))
      if (c == '[')
        path += '.';
      else if (c != ']')
        path += c;
    return path;
  }

  // The layer whose forward the call is: the only one of its submodule, of an input and of all the
  // tensors of that.
  std::string LayerOf(const TracedCall& call) const {
    const auto name = [&](size_t i) -> std::string {
      for (const TracedName& weight : module_.weights)
        if (weight.id == call.reads[i]) return weight.text;
      return "";
    };
    constexpr std::string_view kWeight = ".weight";
    if (call.module.empty() || call.gives.size() != 1 || call.reads.size() < 2 ||
        call.reads.size() > 3 || !name(1).ends_with(kWeight))
      return "";
    std::string layer = name(1).substr(0, name(1).size() - kWeight.size());
    if (PathOf(layer) != call.module || (call.reads.size() == 3 && name(2) != layer + ".bias"))
      return "";
    for (const TracedCall& other : module_.calls)
      if (&other != &call && other.module == call.module) return "";
    return layer;
  }

  void AddCall(const TracedCall& call, const std::set<int>& weights) {
    synth::Graph& graph = made_.graph;
    synth::Node node;
    node.label = LabelOf(call);
    node.view = call.view;
    node.transfers = Transfers(call);
    node.effect = call.effect;
    synth::NodeText text;
    text.form = FormOf(call);
    const auto index = static_cast<int32_t>(graph.nodes.size());
    for (const int read : call.reads) {
      node.inputs.push_back(read);
      if (weights.contains(read)) node.weights.push_back(read);
    }
    for (size_t i = 0; i < call.gives.size(); ++i) {
      synth::Value& value = graph.values[static_cast<size_t>(call.gives[i].id)];
      value.node = index;
      value.output = static_cast<int32_t>(i);
      node.outputs.push_back(call.gives[i].id);
      text.items.push_back(call.gives[i].item);
    }
    text.place = call.place;
    text.layer = LayerOf(call);
    graph.nodes.push_back(std::move(node));
    made_.task.parts.nodes.push_back(std::move(text));
  }

  const TracedModule& module_;
  std::vector<synth::DimId> symbols_;
  ImportedTask made_;
};

}  // namespace

Result<ImportedTask> ImportGraph(const TracedModule& module, const CandidateName& name) {
  return Importer(module).Run(name);
}

}  // namespace davinci::import
