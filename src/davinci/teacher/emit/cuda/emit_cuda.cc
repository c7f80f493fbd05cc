#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/emit/c_writer.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

constexpr int kThreads = 256;       // of a block
constexpr double kWarpCols = 1024;  // longest row that a warp reduces
constexpr double kManyRows = 264;   // with fewer rows, long ones must be split
constexpr double kLongRow = 65536;  // longest row of a block where rows are few
constexpr int kColumnLanes = 8;     // threads that share a column

class CudaWriter : private CWriter {
 public:
  CudaWriter(Program* program, const Region& region, const KernelForm& form,
             const EmitOptions& options)
      : CWriter(program, region, form, options, "int") {}

  KernelText Write() {
    index_ = Counts32() ? "int" : "long long";
    if (HasScan()) return {};  // the tools for these are scans of tiles
    if (form_.reduced.empty()) {
      Pointwise();
    } else {
      const double cols = CudaSize(form_.reduced), rows = CudaSize(form_.kept);
      if (rows < kManyRows && cols > kLongRow) return {};
      if (form_.axes.back().reduced)
        Rows(cols);
      else
        Columns();
    }
    Finish();
    return std::move(text_);
  }

 private:
  std::string StoredType(DType type) override {
    if (type == DType::kBool) return "bool";
    if (type == DType::kIndex) return "long long";
    return p_.graph.precision == synth::Precision::kFp32   ? "float"
           : p_.graph.precision == synth::Precision::kBf16 ? "__nv_bfloat16"
                                                           : "__half";
  }
  // The device's own functions are overloads for float.
  std::string PrimitiveForm(const TensorValue& value) override {
    const Primitive& primitive = *value.primitive;
    if (primitive.name == "sub" && IsProduct(value.operands[0])) return kRoundedDifference;
    return synth::Replaced(primitive.cpp_library.empty() ? primitive.cpp : primitive.cpp_library,
                           "std::", "");
  }
  // Fused with the product, the largest scaled score less itself would not be 0, but as wrong as
  // the product was rounded.
  static constexpr const char* kRoundedDifference = "__fsub_rn({0}, {1})";
  bool IsProduct(Id id) const {
    while (p_[id].kind == Kind::kReshape) id = p_[id].operands[0];
    return p_[id].kind == Kind::kPoint && p_[id].primitive->name == "mul";
  }
  std::string AsFloat(Id id, const std::string& text) const override {
    return p_[id].dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32
               ? fmt::format("static_cast<float>({})", text)
               : text;
  }
  std::string AsStored(Id id, const std::string& text) override {
    if (p_[id].dtype != DType::kFloat || p_.graph.precision == synth::Precision::kFp32)
      return CWriter::AsStored(id, text);
    return fmt::format("static_cast<{}>({})", StoredType(DType::kFloat), text);
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
    if (rules_.Contains(Rule::kWideLoads) && Plain()) {
      text_.used.Insert(Rule::kWideLoads);
      text_.helpers.insert("Pack");
      const std::string type = StoredType(DType::kFloat);
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
    Line(fmt::format("if (i >= {}) return;", Multiplied(form_.kept)));
    Decompose(form_.kept, "i");
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
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
    RowStatements(0);
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
                         Multiplied(form_.reduced), step));
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
      RowStatements(pass + 1);
    }
    if (!StoresRows()) return;
    Open(fmt::format("if ({})", first_thread));
    StoreRows();
    Close();
  }

  void Rows(double cols) {
    const std::string rows = Multiplied(form_.kept), host = "(" + HostSize(form_.kept) + ")";
    if (rules_.Contains(Rule::kWarpRows) && cols <= kWarpCols) {
      text_.used.Insert(Rule::kWarpRows);
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
    grid_ = fmt::format("(({}) + 31) // 32", HostSize(form_.kept));
    Line(fmt::format("const {} here = blockIdx.x * 32 + threadIdx.x % 32;", index_));
    Line(fmt::format("const bool inside = here < {};  // all threads meet at the barriers",
                     Multiplied(form_.kept)));
    Line(fmt::format("const {} row = inside ? here : 0;", index_));
    Decompose(form_.kept, "row");
    Passes("threadIdx.x / 32", std::to_string(kColumnLanes), "CombineColumn",
           "inside && threadIdx.x < 32", "inside");
  }

  void Finish() {
    const Signature signature = MakeSignature();
    const std::string symbol = synth::CamelCase(form_.name);
    text_.source =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n",
                    threads_, symbol, synth::Join(signature.parameters, ", "), body_);
    Bind(symbol, signature);
    text_.call.push_back(fmt::format("{}[{}, {}]({})", form_.name, grid_, threads_,
                                     synth::Join(signature.arguments, ", ")));
  }

  std::string grid_;
  int threads_ = kThreads;
};

}  // namespace

KernelText EmitCuda(Program* program, const Region& region, const KernelForm& form,
                    const EmitOptions& options) {
  return CudaWriter(program, region, form, options).Write();
}

}  // namespace davinci::teacher
