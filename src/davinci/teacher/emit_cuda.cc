#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/emitter.h"
#include "davinci/teacher/region_reader.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

constexpr int kThreads = 256;              // of a block
constexpr double kWarpCols = 1024;         // longest row that a warp reduces
constexpr double kManyRows = 264;          // with fewer rows, long ones must be split
constexpr double kLongRow = 65536;         // longest row of a block where rows are few
constexpr double kCount32 = 2147483648.0;  // elements that 32 bits can count
constexpr int kColumnLanes = 8;            // threads that share a column

class CudaWriter : private RegionReader {
 public:
  CudaWriter(Program* program, const Region& region, const KernelForm& form, const EmitRules& rules)
      : RegionReader(program, region, form), rules_(rules) {}

  KernelText Write() {
    double most = 0;
    for (const auto* tensors : {&form_.inputs, &form_.outputs})
      for (const KernelTensor& tensor : *tensors)
        most = std::max(most, p_.Elements(tensor.value, synth::Binding::kCuda));
    index_ = most < kCount32 ? "int" : "long long";
    if (HasScan()) return {};  // the tools for these are scans of tiles
    if (form_.reduced.empty()) {
      Pointwise();
    } else {
      const double cols = At(form_.reduced), rows = At(form_.kept);
      if (rows < kManyRows && cols > kLongRow) return {};
      if (form_.axes.back().reduced || !rules_.columns)
        Rows(cols);
      else
        Columns();
    }
    Finish();
    return std::move(text_);
  }

 private:
  double At(const std::vector<int>& axes) {
    return p_.At(form_.Product(program_, axes), synth::Binding::kCuda);
  }
  void Line(const std::string& line) { body_ += std::string(indent_, ' ') + line + "\n"; }
  void Open(const std::string& line) {
    Line(line + " {");
    indent_ += 2;
  }
  void Close() {
    indent_ -= 2;
    Line("}");
  }

  std::string Type(DType type) const {
    return type == DType::kFloat ? "float" : type == DType::kBool ? "bool" : index_;
  }
  std::string Stored(DType type) const {
    if (type == DType::kBool) return "bool";
    if (type == DType::kIndex) return "long long";
    return p_.graph.precision == synth::Precision::kFp32   ? "float"
           : p_.graph.precision == synth::Precision::kBf16 ? "__nv_bfloat16"
                                                           : "__half";
  }

  std::string Scalar(Id id) const {
    const TensorValue& value = p_[id];
    if (!value.number) return ScalarName(id);
    if (std::isnan(*value.number)) return "NAN";
    if (std::isinf(*value.number)) return *value.number > 0 ? "INFINITY" : "-INFINITY";
    if (value.dtype == DType::kIndex) return fmt::format("{:.0f}", *value.number);
    return synth::FloatText(*value.number) + "f";
  }
  std::string IndexText(int axis) const { return form_.axes[static_cast<size_t>(axis)].index; }
  std::string Element(const KernelTensor& tensor) const {
    return fmt::format("{}[{}]", tensor.name,
                       form_.Offset(tensor, [&](int axis) { return IndexText(axis); }));
  }
  std::string AsFloat(Id id, const std::string& text) const {
    return p_[id].dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32
               ? fmt::format("static_cast<float>({})", text)
               : text;
  }

  std::string Text(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kScalar) return Scalar(id);
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (value.kind == Kind::kIota) return IotaText(id, [&](int axis) { return IndexText(axis); });
    if (value.kind == Kind::kLoad && IsMember(id)) {
      std::vector<std::string> operands;
      for (size_t k = 1; k < value.operands.size(); ++k)
        operands.push_back(Text(value.operands[k]));
      std::string name;
      for (const KernelTensor& tensor : form_.inputs)
        if (tensor.value == value.operands[0]) name = tensor.name;
      return Assign(id, AsFloat(id, fmt::format("{}[{}]", name, LoadOffset(operands))));
    }
    for (const KernelTensor& tensor : form_.inputs)
      if (tensor.value == id) return Assign(id, AsFloat(id, Element(tensor)));
    if (value.kind == Kind::kReshape) return known_[id] = Text(value.operands[0]);
    if (value.kind == Kind::kReduce || value.kind == Kind::kScan) return "?";
    // The device's own functions are overloads for float.
    const std::string form = synth::Replaced(
        value.primitive->cpp_library.empty() ? value.primitive->cpp : value.primitive->cpp_library,
        "std::", "");
    std::vector<std::string> operands;
    for (size_t k = 0; k < value.operands.size(); ++k) {
      std::string operand = Text(value.operands[k]);
      const std::string slot = fmt::format("{{{}}}", k);
      const bool twice = form.find(slot, form.find(slot) + 1) != std::string::npos;
      if (twice && (operand.find('(') != std::string::npos || !IsSimple(operand)))
        operand = Assign(value.operands[k], operand);
      operands.push_back(operand);
    }
    const std::string text = Substituted(form, operands);
    if ((Uses(id) == 1 || value.virtual_) && text.size() < 70 && !IsOutput(id))
      return known_[id] = text;
    return Assign(id, text);
  }

  std::string Assign(Id id, const std::string& text) {
    const std::string name = fmt::format("v{}", ++count_);
    const TensorValue& value = p_[id];
    const bool counted =
        value.dtype == DType::kIndex &&
        (value.kind == Kind::kReduce || (value.kind == Kind::kPoint && !value.primitive->integer));
    Line(fmt::format("const {} {} = {};", counted ? "float" : Type(value.dtype), name, text));
    return known_[id] = name;
  }

  std::string AsStored(Id id, const std::string& text) const {
    const DType type = p_[id].dtype;
    if (type == DType::kIndex) return fmt::format("static_cast<long long>({})", text);
    if (type == DType::kFloat && p_.graph.precision != synth::Precision::kFp32)
      return fmt::format("static_cast<{}>({})", Stored(type), text);
    return text;
  }
  void Store(const KernelTensor& tensor) {
    const std::string value = Text(tensor.value);
    Line(fmt::format("{} = {};", Element(tensor), AsStored(tensor.value, value)));
  }

  // Indices of axes from one flat index.
  void Decompose(const std::vector<int>& axes, const std::string& flat) {
    std::string rest = flat;
    for (size_t i = axes.size(); i-- > 0;) {
      const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
      if (i == 0) {
        if (axis.index != flat) Line(fmt::format("const {} {} = {};", index_, axis.index, rest));
      } else {
        Line(fmt::format("const {} {} = {} % {};", index_, axis.index, rest, axis.size));
        rest = fmt::format("{} / {}", rest, axis.size);
      }
    }
  }
  std::string Sizes(const std::vector<int>& axes) const {
    std::string product;
    for (const int a : axes) {
      const std::string& size = form_.axes[static_cast<size_t>(a)].size;
      product += product.empty() ? size : " * " + size;
    }
    return product.empty() ? "1" : product;
  }

  // Whether every tensor is read element by element, in one type.
  bool Plain() const {
    if (form_.kept.size() != 1) return false;
    for (const Id member : region_.members)
      if (p_[member].kind == Kind::kLoad) return false;
    for (const auto* tensors : {&form_.inputs, &form_.outputs})
      for (const KernelTensor& tensor : *tensors)
        if (tensor.axes.size() != 1 || p_[tensor.value].dtype != DType::kFloat) return false;
    return std::none_of(region_.placements.begin(), region_.placements.end(),
                        [&](const auto& entry) { return p_[entry.first].kind == Kind::kIota; });
  }

  void Pointwise() {
    if (form_.kept.empty()) {
      grid_ = "1";
      Open("if (threadIdx.x == 0)");
      for (const KernelTensor& tensor : form_.outputs) Store(tensor);
      Close();
      return;
    }
    const std::string count = form_.outputs[0].host + ".numel()";
    if (rules_.wide_loads && Plain()) {
      text_.used.insert("wide_loads");
      text_.helpers.insert("Pack");
      const std::string type = Stored(DType::kFloat);
      const int lanes = p_.graph.precision == synth::Precision::kFp32 ? 4 : 8;
      const std::string size = form_.axes[0].size;
      grid_ = fmt::format("({0} + {1}) // {2}", count, kThreads * lanes - 1, kThreads * lanes);
      Line(fmt::format("const {} first = (blockIdx.x * static_cast<{}>({}) + threadIdx.x) * {};",
                       index_, index_, kThreads, lanes));
      std::string addresses;
      for (const auto* tensors : {&form_.inputs, &form_.outputs})
        for (const KernelTensor& tensor : *tensors)
          addresses += (addresses.empty() ? "" : " | ") +
                       fmt::format("reinterpret_cast<size_t>({})", tensor.name);
      Line(fmt::format("const bool whole = first + {} <= {} && ({}) % 16 == 0;", lanes, size,
                       addresses));
      for (const KernelTensor& tensor : form_.inputs) {
        Line(fmt::format("Pack<{}> {}_pack;", type, tensor.name));
        Line(fmt::format("if (whole) {0}_pack = *reinterpret_cast<const Pack<{1}>*>({0} + first);",
                         tensor.name, type));
        Line(
            fmt::format("else for (int l = 0; l < {1}; ++l) if (first + l < {2}) {0}_pack.at[l] = "
                        "{0}[first + l];",
                        tensor.name, lanes, size));
      }
      for (const KernelTensor& tensor : form_.outputs)
        Line(fmt::format("Pack<{}> {}_pack;", type, tensor.name));
      Line("#pragma unroll");
      Open(fmt::format("for (int l = 0; l < {}; ++l)", lanes));
      for (const KernelTensor& tensor : form_.inputs)
        Assign(tensor.value, AsFloat(tensor.value, tensor.name + "_pack.at[l]"));
      for (const KernelTensor& tensor : form_.outputs)
        Line(fmt::format("{}_pack.at[l] = {};", tensor.name,
                         AsStored(tensor.value, Text(tensor.value))));
      Close();
      for (const KernelTensor& tensor : form_.outputs) {
        Line(fmt::format("if (whole) *reinterpret_cast<Pack<{1}>*>({0} + first) = {0}_pack;",
                         tensor.name, type));
        Line(
            fmt::format("else for (int l = 0; l < {1}; ++l) if (first + l < {2}) {0}[first + l] = "
                        "{0}_pack.at[l];",
                        tensor.name, lanes, size));
      }
      return;
    }
    grid_ = fmt::format("({} + {}) // {}", count, kThreads - 1, kThreads);
    Line(fmt::format("const {0} i = blockIdx.x * static_cast<{0}>({1}) + threadIdx.x;", index_,
                     kThreads));
    Line(fmt::format("if (i >= {}) return;", Sizes(form_.kept)));
    Decompose(form_.kept, "i");
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
  }

  static std::string Neutral(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kMax:
        return "-INFINITY";
      case ReduceKind::kMin:
        return "INFINITY";
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        return "1.0f";
      default:
        return "0.0f";
    }
  }
  // The struct that combines two values. A maximum is NaN where one of both is.
  static std::string Op(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kMax:
      case ReduceKind::kAny:
        return "Largest";
      case ReduceKind::kMin:
      case ReduceKind::kAll:
        return "Smallest";
      case ReduceKind::kProd:
        return "Product";
      default:
        return "Sum";
    }
  }

  // Every pass over the reduced elements; `combine` joins what the threads found.
  void Passes(const std::string& begin, const std::string& step, const std::string& combine,
              const std::string& first_thread, const std::string& inside) {
    text_.helpers.insert(combine);
    const auto statements = [&](int after) {
      for (const Id member : region_.members)
        if (!region_.IsPerElement(member) && p_[member].kind == Kind::kPoint &&
            form_.pass.at(member) == after && !known_.contains(member))
          Assign(member, Text(member));
    };
    statements(0);
    for (int pass = 0; pass < form_.num_passes; ++pass) {
      const auto reduces = Reduces(pass);
      if (!reduces.empty() || !Stores(pass).empty()) {
        std::vector<std::string> sums;
        for (const Id reduce : reduces) {
          sums.push_back(fmt::format("acc{}", ++count_));
          Line(fmt::format("float {} = {};", sums.back(), Neutral(p_[reduce].reduce)));
        }
        const auto saved = known_;
        const std::string at = form_.reduced.size() == 1 ? IndexText(form_.reduced[0]) : "at";
        Line("#pragma unroll 4");
        Open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", index_, at, begin,
                         Sizes(form_.reduced), step));
        Decompose(form_.reduced, at);
        for (size_t i = 0; i < reduces.size(); ++i) {
          const std::string what = Text(p_[reduces[i]].operands[0]);
          const std::string op = Op(p_[reduces[i]].reduce);
          if (op == "Sum")
            Line(fmt::format("{} += {};", sums[i], what));
          else
            Line(fmt::format("{0} = {1}::Of({0}, {2});", sums[i], op, what));
          text_.helpers.insert(op);
        }
        if (!inside.empty() && !Stores(pass).empty()) Open("if (" + inside + ")");
        for (const KernelTensor* tensor : Stores(pass)) Store(*tensor);
        if (!inside.empty() && !Stores(pass).empty()) Close();
        Close();
        known_ = saved;
        for (size_t i = 0; i < reduces.size(); ++i) {
          const std::string all =
              fmt::format("{}<{}>({})", combine, Op(p_[reduces[i]].reduce), sums[i]);
          Assign(reduces[i], p_[reduces[i]].dtype == DType::kBool ? all + " != 0.0f" : all);
        }
        for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
      }
      statements(pass + 1);
    }
    bool rows = false;
    for (const KernelTensor& tensor : form_.outputs)
      rows = rows || !region_.IsPerElement(tensor.value);
    if (!rows) return;
    Open(fmt::format("if ({})", first_thread));
    for (const KernelTensor& tensor : form_.outputs)
      if (!region_.IsPerElement(tensor.value)) Store(tensor);
    Close();
  }

  void Rows(double cols) {
    const std::string rows = Sizes(form_.kept), host = HostSize(form_.kept);
    if (rules_.warp_rows && cols <= kWarpCols) {
      text_.used.insert("warp_rows");
      grid_ = fmt::format("({} + 7) // 8", host);
      Line(fmt::format("const {} row = blockIdx.x * 8 + threadIdx.x / 32;", index_));
      Line("const int lane = threadIdx.x % 32;");
      Line(fmt::format("if (row >= {}) return;  // the same for all lanes", rows));
      Decompose(form_.kept, "row");
      Passes("lane", "32", "CombineWarp", "lane == 0", "");
      return;
    }
    threads_ = cols > 16384 ? 1024 : cols > 4096 ? 512 : kThreads;
    grid_ = host;
    Line(fmt::format("const {} row = blockIdx.x;", index_));
    Decompose(form_.kept, "row");
    Passes("threadIdx.x", "blockDim.x", "CombineBlock", "threadIdx.x == 0", "");
  }

  // Neighbouring threads take neighbouring columns, eight share one.
  void Columns() {
    text_.used.insert("columns");
    grid_ = fmt::format("({} + 31) // 32", HostSize(form_.kept));
    Line(fmt::format("const {} here = blockIdx.x * 32 + threadIdx.x % 32;", index_));
    Line(fmt::format("const bool inside = here < {};  // all threads meet at the barriers",
                     Sizes(form_.kept)));
    Line(fmt::format("const {} row = inside ? here : 0;", index_));
    Decompose(form_.kept, "row");
    Passes("threadIdx.x / 32", std::to_string(kColumnLanes), "CombineColumn",
           "inside && threadIdx.x < 32", "inside");
  }

  std::string HostSize(const std::vector<int>& axes) {
    return "(" + program_->SizeText(form_.Product(program_, axes)) + ")";
  }

  void Finish() {
    std::vector<std::string> parameters, arguments, types;
    for (const auto* tensors : {&form_.inputs, &form_.outputs})
      for (const KernelTensor& tensor : *tensors) {
        const std::string type = Stored(p_[tensor.value].dtype);
        parameters.push_back(
            fmt::format("{}{}* {}", tensor.output ? "" : "const ", type, tensor.name));
        arguments.push_back(tensor.host);
        types.emplace_back("ptr");
      }
    for (const auto& [name, id] : form_.scalars) {
      if (form_.IsSize(name)) continue;
      const bool size = p_[id].dtype == DType::kIndex;
      parameters.push_back((size ? index_ + " " : "float ") + name);
      arguments.push_back(p_[id].text);
      types.emplace_back(size ? IndexCode() : "f32");
    }
    for (const LoopAxis& axis : form_.axes) {
      parameters.push_back(index_ + " " + axis.size);
      arguments.push_back(form_.axes.size() == 1 && form_.reduced.empty()
                              ? form_.outputs[0].host + ".numel()"
                              : program_->SizeText(axis.dim));
      types.push_back(IndexCode());
    }
    const std::string symbol = synth::CamelCase(form_.name);
    text_.source =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n",
                    threads_, symbol, synth::Join(parameters, ", "), body_);
    text_.binding = fmt::format("{} = kernels.get(\"{}\", \"{}\")", form_.name, symbol,
                                synth::Join(types, " "));
    text_.call.push_back(
        fmt::format("{}[{}, {}]({})", form_.name, grid_, threads_, synth::Join(arguments, ", ")));
  }
  std::string IndexCode() const { return index_ == "int" ? "i32" : "i64"; }

  const EmitRules& rules_;
  KernelText text_;
  std::string body_, grid_, index_;
  size_t indent_ = 2;
  int threads_ = kThreads;
  int count_ = 0;
  std::map<Id, std::string> known_;
};

}  // namespace

KernelText EmitCuda(Program* program, const Region& region, const KernelForm& form,
                    const EmitRules& rules) {
  return CudaWriter(program, region, form, rules).Write();
}

std::string CudaPrelude(const std::set<std::string>& helpers, const std::string& kernels) {
  std::string text;
  if (kernels.find("__half") != std::string::npos) text += "#include <cuda_fp16.h>\n";
  if (kernels.find("__nv_bfloat16") != std::string::npos) text += "#include <cuda_bf16.h>\n";
  if (kernels.find("INFINITY") != std::string::npos || kernels.find("NAN") != std::string::npos)
    text += "#define INFINITY __int_as_float(0x7f800000)\n#define NAN __int_as_float(0x7fffffff)\n";
  if (kernels.find("int64_t") != std::string::npos) text += "typedef long long int64_t;\n";
  if (kernels.find("int32_t") != std::string::npos) text += "typedef int int32_t;\n";
  if (!text.empty()) text += "\n";
  if (helpers.contains("Pack"))
    text +=
        "// Sixteen bytes of a tensor, one access of a thread.\n"
        "template <class T>\nstruct alignas(16) Pack {\n  T at[16 / sizeof(T)];\n};\n\n";
  for (const auto& [name, form] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Maximum", "(a > b) | (a != a) ? a : b"}, {"Minimum", "(a < b) | (a != a) ? a : b"}})
    if (kernels.find(std::string(name) + "(") != std::string::npos)
      text += fmt::format(
          "__device__ __forceinline__ float {}(float a, float b) {{ return {}; }}\n\n", name, form);
  for (const auto& [name, form] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Sum", "a + b"},
           {"Product", "a * b"},
           {"Largest", "(a > b) | (a != a) ? a : b"},
           {"Smallest", "(a < b) | (a != a) ? a : b"}})
    if (helpers.contains(name))
      text += fmt::format(
          "struct {} {{\n  static __device__ __forceinline__ float Of(float a, float b) {{ return "
          "{}; }}\n}};\n\n",
          name, form);
  const bool block = helpers.contains("CombineBlock");
  if (block || helpers.contains("CombineWarp"))
    text +=
        "// All lanes get the result.\n"
        "template <class Op>\n__device__ __forceinline__ float CombineWarp(float x) {\n"
        "#pragma unroll\n"
        "  for (int offset = 16; offset > 0; offset /= 2)\n"
        "    x = Op::Of(x, __shfl_xor_sync(0xffffffffu, x, offset));\n"
        "  return x;\n}\n\n";
  if (block)
    text +=
        "// All threads get the result.\n"
        "template <class Op>\n__device__ float CombineBlock(float x) {\n"
        "  __shared__ float of_warp[32];\n"
        "  x = CombineWarp<Op>(x);\n"
        "  __syncthreads();  // of the call before\n"
        "  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;\n"
        "  __syncthreads();\n"
        "  x = of_warp[0];\n"
        "  for (int w = 1; w < blockDim.x / 32; ++w) x = Op::Of(x, of_warp[w]);\n"
        "  return x;\n}\n\n";
  if (helpers.contains("CombineColumn"))
    text +=
        "// Threads of one column get its result.\n"
        "template <class Op>\n__device__ float CombineColumn(float x) {\n"
        "  __shared__ float part[8][32];\n"
        "  __syncthreads();  // of the call before\n"
        "  part[threadIdx.x / 32][threadIdx.x % 32] = x;\n"
        "  __syncthreads();\n"
        "  x = part[0][threadIdx.x % 32];\n"
        "#pragma unroll\n"
        "  for (int w = 1; w < 8; ++w) x = Op::Of(x, part[w][threadIdx.x % 32]);\n"
        "  return x;\n}\n\n";
  return text;
}

}  // namespace davinci::teacher
