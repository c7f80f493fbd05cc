#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/emitter.h"
#include "davinci/teacher/region_reader.h"

namespace davinci::teacher {

std::string_view LanguageName(Language language) {
  return language == Language::kTriton ? "triton" : language == Language::kCuda ? "cuda" : "cpp";
}

std::string Substituted(const std::string& form, const std::vector<std::string>& operands) {
  // Of "{0} + {1}": how tight an operand must be. Sums and products are read from the left.
  const bool binary = form.size() > 8 && form.starts_with("{0} ") && form.ends_with(" {1}");
  const std::string op = binary ? form.substr(4, form.size() - 8) : "";
  int left = 3, right = 3;
  if (op == "+" || op == "-") left = 1, right = 2;
  if (op == "*" || op == "/") left = 2;
  if (op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=")
    left = right = 1;
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '{' && i + 2 < form.size() && form[i + 2] == '}') {
      const auto index = static_cast<size_t>(form[i + 1] - '0');
      const bool alone = (i == 0 || form[i - 1] == '(' || form.substr(0, i).ends_with(", ")) &&
                         (i + 3 == form.size() || form[i + 3] == ')' || form[i + 3] == ',');
      const std::string& operand = operands[index];
      const bool fits = binary && Precedence(operand) >= (index == 0 ? left : right) &&
                        !(index == 1 && operand.starts_with('-'));
      text += alone || fits ? operand : Bracketed(operand);
      i += 2;
    } else {
      text += form[i];
    }
  }
  return text;
}

namespace {

using Kind = TensorValue::Kind;

constexpr double kMostInRegisters = 16384;  // elements of a row that one program holds
constexpr double kTile = 4096;              // elements of a program's tile of short rows
constexpr double kPrograms = 264;           // that keep a large device busy
constexpr double kOnePassBlock = 1024;      // elements: five sums of each stay in registers
constexpr double kMostSplits = 256;         // of a row over programs
constexpr double kIndex32 = 2147483648.0;   // elements that 32 bits can count

class TritonWriter : private RegionReader {
 public:
  TritonWriter(Program* program, const Region& region, KernelForm* form, const EmitRules& rules,
               const ProductKernel* product)
      : RegionReader(program, region, *form), own_form_(*form), rules_(rules), product_(product) {}

  KernelText Write() {
    if (product_ != nullptr)
      ProductTiles();
    else if (form_.reduced.empty())
      Pointwise();
    else
      Rows();
    return std::move(text_);
  }

 private:
  void Line(const std::string& line) { body_ += std::string(indent_, ' ') + line + "\n"; }

  std::string Scalar(Id id) const {
    const TensorValue& value = p_[id];
    if (value.number) {
      if (std::isnan(*value.number)) return "float(\"nan\")";
      if (std::isinf(*value.number))
        return *value.number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
      if (value.dtype == DType::kIndex) return fmt::format("{:.0f}", *value.number);
      return synth::FloatText(*value.number);
    }
    return ScalarName(id);
  }

  const KernelTensor* Input(Id id) const {
    for (const KernelTensor& tensor : form_.inputs)
      if (tensor.value == id) return &tensor;
    return nullptr;
  }

  // The text of a value where the cursor stands; emits lines for what it needs.
  std::string Text(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kScalar) return Scalar(id);
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (value.kind == Kind::kIota)
      return known_[id] = IotaText(
                 id, [&](int axis) { return form_.axes[static_cast<size_t>(axis)].index; });
    if (value.kind == Kind::kLoad && IsMember(id)) {
      std::vector<std::string> operands;
      for (size_t k = 1; k < value.operands.size(); ++k)
        operands.push_back(Text(value.operands[k]));
      KernelTensor place;
      for (const auto& axes : region_.placements.at(id).axes)
        for (const int axis : axes) place.axes.push_back(form_.axis_of.at(axis));
      std::string load = fmt::format("tl.load({}_ptr + {}{})", Input(value.operands[0])->name,
                                     LoadOffset(operands), MaskOf(place));
      if (value.dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32)
        load += ".to(tl.float32)";
      if (value.dtype == DType::kBool) load += " != 0";
      return Assign(id, load);
    }
    if (const KernelTensor* tensor = Input(id)) {
      std::string load = fmt::format(
          "tl.load({}_ptr + {}{})", tensor->name,
          form_.Offset(*tensor, [&](int a) { return form_.axes[static_cast<size_t>(a)].index; }),
          MaskOf(*tensor));
      if (tensor->axes.empty()) load = fmt::format("tl.load({}_ptr)", tensor->name);
      if (value.dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32)
        load += ".to(tl.float32)";
      if (value.dtype == DType::kBool) load += " != 0";
      Line(fmt::format("{} = {}", tensor->name, load));
      return known_[id] = tensor->name;
    }
    if (value.kind == Kind::kReshape) return known_[id] = Text(value.operands[0]);
    if (value.kind == Kind::kReduce) return "?";  // rows are set by the passes
    if (value.kind == Kind::kScan) return Scan(id);
    std::vector<std::string> operands;
    for (size_t k = 0; k < value.operands.size(); ++k) {
      std::string operand = Text(value.operands[k]);
      const std::string slot = fmt::format("{{{}}}", k);
      const size_t first = value.primitive->triton.find(slot);
      const bool twice = value.primitive->triton.find(slot, first + 1) != std::string::npos;
      if (twice && !IsSimple(operand)) operand = Assign(value.operands[k], operand);
      operands.push_back(operand);
    }
    const std::string& primitive = value.primitive->triton;
    const std::string helper = primitive.substr(0, primitive.find('('));
    if (helper == "tanh" || helper == "log1p" || helper == "expm1" || helper == "round_even" ||
        helper == "atan" || helper == "atan2")
      text_.helpers.insert(helper);
    if (helper == "atan2") text_.helpers.insert("atan");
    const std::string text = Substituted(primitive, operands);
    if ((Uses(id) == 1 || value.virtual_) && text.size() < 60 && !IsOutput(id))
      return known_[id] = text;
    return Assign(id, text);
  }

  std::string Scan(Id id) {
    const TensorValue& value = p_[id];
    std::string element =
        fmt::format("tl.where(inside, {}, {})", Text(value.operands[0]), Neutral(value.reduce));
    const auto run = runs_.find(id);
    if (run != runs_.end()) {  // a block of the row, behind what came before it
      Line(fmt::format("part{} = {}", ++count_, element));
      element = fmt::format("part{}", count_);
    }
    const std::string helper = value.reduce == ReduceKind::kMax   ? "larger"
                               : value.reduce == ReduceKind::kMin ? "smaller"
                                                                  : "log_add";
    std::string scan;
    switch (value.reduce) {
      case ReduceKind::kSum:
        scan = fmt::format("tl.cumsum({}, axis=1)", element);
        break;
      case ReduceKind::kProd:
        scan = fmt::format("tl.cumprod({}, axis=1)", element);
        break;
      default:
        text_.helpers.insert(helper);
        scan = fmt::format("tl.associative_scan({}, 1, {})", element, helper);
    }
    if (run == runs_.end()) return Assign(id, scan);
    const std::string name = run->second;
    if (value.reduce == ReduceKind::kSum || value.reduce == ReduceKind::kProd) {
      const char op = value.reduce == ReduceKind::kSum ? '+' : '*';
      const std::string own = Assign(id, fmt::format("{} {} {}", name, op, scan));
      Line(fmt::format("{} = {} {} {}", name, name, op, Combine(value.reduce, element)));
      return own;
    }
    const std::string own = Assign(id, fmt::format("{}({}, {})", helper, name, scan));
    Line(fmt::format("{0} = {1}({0}, tl.reduce({2}, 1, {1})[:, None])", name, helper, element));
    return own;
  }

  std::string Assign(Id id, const std::string& text) {
    const std::string name = fmt::format("v{}", ++count_);
    Line(fmt::format("{} = {}", name, text));
    return known_[id] = name;
  }

  std::string MaskOf(const KernelTensor& tensor) const {
    if (form_.reduced.empty()) return ", mask=inside";
    const bool k = form_.Has(tensor, false);
    // The index of a plane is one number.
    const bool r = planes_ ? HasLast(tensor) : form_.Has(tensor, true);
    if (!k && !r) return "";
    std::string mask = k && r ? "inside" : k ? "in_row" : "in_col";
    return fmt::format(", mask={}{}", mask, r ? ", other=0.0" : "");
  }

  bool HasLast(const KernelTensor& tensor) const {
    return std::find(tensor.axes.begin(), tensor.axes.end(),
                     static_cast<int>(form_.axes.size()) - 1) != tensor.axes.end();
  }

  void Store(const KernelTensor& tensor) {
    const std::string value = Text(tensor.value);
    std::string mask = form_.reduced.empty()     ? "inside"
                       : form_.Has(tensor, true) ? "inside"
                                                 : "in_row";
    if (tensor.axes.empty()) mask = "in_row";
    const std::string offset =
        form_.Offset(tensor, [&](int a) { return form_.axes[static_cast<size_t>(a)].index; });
    Line(fmt::format("tl.store({}_ptr + {}, {}, mask={})", tensor.name,
                     tensor.axes.empty() ? "row" : offset, value, mask));
  }

  // Indices of several axes from one flat index.
  void Decompose(const std::vector<int>& axes, const std::string& flat) {
    if (axes.size() < 2) return;
    std::string rest = flat;
    for (size_t i = axes.size(); i-- > 0;) {
      const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
      if (i == 0) {
        Line(fmt::format("{} = {}", axis.index, rest));
      } else {
        Line(fmt::format("{} = {} % {}", axis.index, Bracketed(rest), axis.size));
        rest = fmt::format("{} // {}", Bracketed(rest), axis.size);
      }
    }
  }

  std::vector<std::string> Parameters() const {
    std::vector<std::string> all;
    for (const KernelTensor& tensor : form_.inputs) all.push_back(tensor.name + "_ptr");
    for (const KernelTensor& tensor : form_.outputs) all.push_back(tensor.name + "_ptr");
    for (const auto& [name, id] : form_.scalars)
      if (!form_.IsSize(name)) all.push_back(name);
    return all;
  }
  std::vector<std::string> Arguments() const {
    std::vector<std::string> all;
    for (const KernelTensor& tensor : form_.inputs) all.push_back(tensor.host);
    for (const KernelTensor& tensor : form_.outputs) all.push_back(tensor.host);
    for (const auto& [name, id] : form_.scalars)
      if (!form_.IsSize(name)) all.push_back(p_[id].text);
    return all;
  }

  // Division of 64-bit indices is slow, so only tensors that need them get them.
  std::string FirstProgram() const {
    double most = 0;
    for (const auto* tensors : {&form_.inputs, &form_.outputs})
      for (const KernelTensor& tensor : *tensors)
        most = std::max(most, p_.Elements(tensor.value, synth::Binding::kCuda));
    return most < kIndex32 ? "tl.program_id(0)" : "tl.program_id(0).to(tl.int64)";
  }

  std::string HostSize(const std::vector<int>& axes) {
    const DimId product = form_.Product(program_, axes);
    return program_->SizeText(product);
  }

  void Pointwise() {
    indent_ = 4;
    std::vector<std::string> parameters = Parameters(), arguments = Arguments();
    if (form_.kept.empty()) {  // one element
      Line("inside = tl.program_id(0) == 0");
      for (const KernelTensor& tensor : form_.outputs) {
        const std::string value = Text(tensor.value);
        Line(fmt::format("tl.store({}_ptr, {})", tensor.name, value));
      }
      Finish(parameters, arguments, "(1,)", "");
      return;
    }
    const bool several = form_.kept.size() > 1;
    Line(fmt::format("i = {} * BLOCK + tl.arange(0, BLOCK)", FirstProgram()));
    Line("inside = i < n");
    Decompose(form_.kept, "i");
    parameters.push_back("n");
    arguments.push_back(form_.outputs[0].host + ".numel()");
    if (several) {
      for (size_t k = 0; k < form_.kept.size(); ++k) {
        const LoopAxis& axis = form_.axes[static_cast<size_t>(form_.kept[k])];
        parameters.push_back(axis.size);
        arguments.push_back(program_->SizeText(axis.dim));
      }
    }
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
    parameters.push_back("BLOCK: tl.constexpr");
    Finish(parameters, arguments,
           fmt::format("(triton.cdiv({}.numel(), 1024),)", form_.outputs[0].host), ", BLOCK=1024");
  }

  static std::string Neutral(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::kMax:
      case ReduceKind::kLogSum:
        return "float(\"-inf\")";
      case ReduceKind::kMin:
        return "float(\"inf\")";
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        return "1.0";
      default:
        return "0.0";
    }
  }
  std::string Combine(ReduceKind kind, const std::string& what, bool nan = false) {
    if (nan) {
      const std::string helper = kind == ReduceKind::kMax ? "larger" : "smaller";
      text_.helpers.insert(helper);
      return fmt::format("tl.reduce({}, 1, {})[:, None]", what, helper);
    }
    switch (kind) {
      case ReduceKind::kSum:
        return fmt::format("tl.sum({}, axis=1)[:, None]", what);
      case ReduceKind::kMax:
      case ReduceKind::kAny:
        return fmt::format("tl.max({}, axis=1)[:, None]", what);
      case ReduceKind::kMin:
      case ReduceKind::kAll:
        return fmt::format("tl.min({}, axis=1)[:, None]", what);
      case ReduceKind::kProd:
        text_.helpers.insert("times");
        return fmt::format("tl.reduce({}, 1, times)[:, None]", what);
      case ReduceKind::kLogSum:
        break;
    }
    return "";
  }
  std::string Accumulate(ReduceKind kind, const std::string& sum, const std::string& what,
                         bool nan) {
    if (nan) {
      const std::string helper = kind == ReduceKind::kMax ? "larger" : "smaller";
      text_.helpers.insert(helper);
      return fmt::format("{}({}, {})", helper, sum, what);
    }
    switch (kind) {
      case ReduceKind::kSum:
        return sum + " + " + what;
      case ReduceKind::kMax:
      case ReduceKind::kAny:
        return fmt::format("tl.maximum({}, {})", sum, what);
      case ReduceKind::kMin:
      case ReduceKind::kAll:
        return fmt::format("tl.minimum({}, {})", sum, what);
      case ReduceKind::kProd:
        return fmt::format("{} * {}", sum, Bracketed(what));
      case ReduceKind::kLogSum:
        break;
    }
    return "";
  }
  std::string Truth(Id id, const std::string& text) const {
    return p_[id].dtype == DType::kBool ? text + " != 0" : text;
  }

  // What a reduction reads, without the elements behind the row's end.
  std::string Masked(Id reduce) {
    const TensorValue& value = p_[reduce];
    return fmt::format("tl.where(inside, {}, {})", Text(value.operands[0]), Neutral(value.reduce));
  }

  void SizesOfAxes(std::vector<std::string>* parameters, std::vector<std::string>* arguments) {
    for (const auto* axes : {&form_.kept, &form_.reduced}) {
      for (const int a : *axes) {
        const LoopAxis& axis = form_.axes[static_cast<size_t>(a)];
        parameters->push_back(axis.size);
        arguments->push_back(program_->SizeText(axis.dim));
      }
    }
  }
  // Text of the product of their sizes in the kernel.
  std::string Multiplied(const std::vector<int>& axes) const {
    std::string product;
    for (const int a : axes) {
      const std::string& part = form_.axes[static_cast<size_t>(a)].size;
      product += product.empty() ? part : " * " + part;
    }
    return product.empty() ? std::string("1") : product;
  }
  // The reductions of rows that a tile holds.
  void ReduceInRegisters() {
    for (const Id member : region_.members) {
      const TensorValue& value = p_[member];
      if (value.kind != Kind::kReduce) continue;
      if (const Id first = FirstAlike(member); first != member) {
        known_[member] = known_.at(first);
        continue;
      }
      const std::string masked = Masked(member);
      Assign(member, Truth(member, Combine(value.reduce, masked, NanMatters(member))));
    }
  }

  // A matrix product, and the region on its tiles.
  void ProductTiles() {
    indent_ = 4;
    std::vector<std::string> parameters = {"left_ptr", "right_ptr"};
    std::vector<std::string> arguments = {product_->left, product_->right};
    if (!product_->bias.empty()) {
      parameters.push_back("bias_ptr");
      arguments.push_back(product_->bias);
    }
    for (const std::string& name : Parameters()) parameters.push_back(name);
    for (const std::string& text : Arguments()) arguments.push_back(text);
    SizesOfAxes(&parameters, &arguments);
    const bool batched = !product_->batched_rows.empty();
    if (batched) {
      parameters.push_back("m");
      arguments.push_back(product_->batched_rows);
    }
    parameters.push_back(KnowsDepth(p_, product_->value) ? "depth: tl.constexpr" : "depth");
    arguments.push_back(product_->depth);
    bool wide = FirstProgram() != "tl.program_id(0)";
    for (const Id operand : p_[product_->value].operands)
      wide = wide || p_.Elements(operand, synth::Binding::kCuda) >= kIndex32;
    for (const std::string& line :
         ProductLines(p_, *product_, Multiplied(form_.kept), Multiplied(form_.reduced), wide))
      Line(line);
    Line("inside = in_row & in_col");
    Decompose(form_.kept, "row");
    Decompose(form_.reduced, "col");
    known_[product_->value] = "total";
    ReduceInRegisters();
    for (const KernelTensor& tensor : form_.outputs) Store(tensor);
    const ProductTile& tile = product_->tile;
    const std::string cols = HostSize(form_.reduced);
    const std::string rows = batched ? product_->batched_rows : HostSize(form_.kept);
    std::string grid = fmt::format("triton.cdiv({}, {})", rows, tile.rows);
    std::string block = fmt::format("{}", tile.cols);
    if (product_->whole_rows)
      block = fmt::format("max(16, triton.next_power_of_2({}))", cols);
    else
      grid += fmt::format(" * triton.cdiv({}, {})", cols, tile.cols);
    grid += batched ? ", " + product_->batch : ",";
    for (const char* constant : {"ROWS", "BLOCK", "DEPTH"})
      parameters.push_back(fmt::format("{}: tl.constexpr", constant));
    Finish(parameters, arguments, fmt::format("({})", grid),
           fmt::format(", ROWS={}, BLOCK={}, DEPTH={}, num_warps={}, num_stages={}", tile.rows,
                       block, tile.depth, tile.warps, tile.stages));
  }

  void Rows() {
    indent_ = 4;
    std::vector<std::string> parameters = Parameters(), arguments = Arguments();
    SizesOfAxes(&parameters, &arguments);
    const double cols = p_.At(form_.Product(program_, form_.reduced), synth::Binding::kCuda);
    const double rows = p_.At(form_.Product(program_, form_.kept), synth::Binding::kCuda);
    const bool scan = HasScan();
    const bool registers =
        (scan ? rules_.scan_tiles : rules_.rows_in_registers) && cols <= kMostInRegisters;
    if (scan && rules_.scan_tiles) text_.used.insert("scan_tiles");
    const bool inner = !form_.axes.empty() && !form_.axes.back().reduced;  // lanes along rows
    const std::string rows_text = Multiplied(form_.kept), cols_text = Multiplied(form_.reduced);
    std::string block;
    // Rows of a program: of short rows several, but programs for every multiprocessor come first.
    const auto rows_of = [&](double least) {
      double count = kTile / std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
      count = std::max(count, least);
      while (count > 1 && rows / count < kPrograms) count /= 2;
      return count;
    };
    double tile_rows = rules_.many_rows ? rows_of(1) : 1;
    if (inner && rules_.columns) {
      const double wide = std::max(rows_of(32), 16.0);
      if (wide != tile_rows || !registers) text_.used.insert("columns");
      tile_rows = wide;
    } else if (tile_rows > 1) {
      text_.used.insert("many_rows");
    }
    const double padded = std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
    const bool windows = rules_.columns && !scan && IsOfWindows(cols);
    if (windows) {
      text_.used.insert("columns");
      text_.used.erase("many_rows");
      tile_rows = 1024;
      while (tile_rows > 128 && rows / tile_rows < kPrograms) tile_rows /= 2;
    }
    const bool held =
        registers && !windows && (tile_rows == 1 || tile_rows * padded <= kMostInRegisters);
    double width = inner && rules_.columns ? 128 : std::min(4096.0, 4096 / tile_rows);
    if (windows) width = 1;
    if (!held && rules_.one_pass_variance && !scan) {
      FindVariances(program_, region_, &own_form_);
      if (!form_.variance_of.empty()) {
        text_.used.insert("one_pass_variance");
        width = std::min(width, kOnePassBlock / tile_rows);
      }
    }
    if (!held && rules_.plane_blocks && !scan && !inner && !windows) width = PlaneBlock(width);
    const double splits = scan || held || windows || !rules_.split_rows
                              ? 1
                              : SplitsOf(std::ceil(rows / tile_rows), std::ceil(cols / width));
    const auto per = static_cast<int64_t>(tile_rows);
    const std::string grid = per == 1
                                 ? HostSize(form_.kept)
                                 : fmt::format("triton.cdiv({}, {})", HostSize(form_.kept), per);
    parameters.push_back("ROWS: tl.constexpr");
    parameters.push_back("BLOCK: tl.constexpr");
    if (splits > 1) {
      text_.used.insert("split_rows");
      if (tile_rows * width > 2048) warps_ = 8;
      SplitRows(parameters, arguments, {rows_text, cols_text, grid, per, width, splits});
      return;
    }
    Row(rows_text);
    if (held) {
      if (!scan) text_.used.insert("rows_in_registers");
      Line("col = tl.arange(0, BLOCK)[None, :]");
      Line(fmt::format("in_col = col < {}", cols_text));
      Line("inside = in_row & in_col");
      Decompose(form_.reduced, "col");
      ReduceInRegisters();
      for (const KernelTensor& tensor : form_.outputs) Store(tensor);
      block = fmt::format("triton.next_power_of_2({})", HostSize(form_.reduced));
      const double tile = tile_rows * std::exp2(std::ceil(std::log2(std::max(cols, 2.0))));
      if (tile > 4096) warps_ = tile > 8192 ? 16 : 8;
    } else {
      for (int pass = 0; pass < form_.num_passes; ++pass)
        Pass(pass, cols_text,
             planes_ ? fmt::format("range(0, {})", StepsText())
                     : fmt::format("range(0, {}, BLOCK)", cols_text),
             nullptr);
      for (const KernelTensor& tensor : form_.outputs)
        if (!region_.IsPerElement(tensor.value)) Store(tensor);
      // Without the rule a scan takes element after element.
      const double taken = scan && !rules_.scan_tiles ? 1 : width;
      block = fmt::format("{}", static_cast<int64_t>(taken));
      if (tile_rows * taken > 2048) warps_ = 8;
    }
    Finish(parameters, arguments, fmt::format("({},)", grid), Constants(per, block));
  }

  // Short windows that loads read, as in pooling: lanes along the windows, one element of each
  // after the other, so that neighbouring lanes read neighbouring elements.
  bool IsOfWindows(double cols) const {
    constexpr double kMostElements = 64;
    if (cols > kMostElements || form_.kept.empty() || form_.num_passes > 1) return false;
    bool loads = false;
    for (const Id member : region_.members) {
      const TensorValue& value = p_[member];
      loads = loads || value.kind == Kind::kLoad;
      if (region_.IsPerElement(member) && IsOutput(member)) return false;
    }
    return loads;
  }

  // Elements of a block that lies in a plane, the innermost reduced axis, where few of them stick
  // out of it; else `otherwise`, and blocks run over planes.
  double PlaneBlock(double otherwise) {
    constexpr double kLeast = 128, kMostLost = 0.2;
    if (form_.reduced.size() < 2 || !form_.axes.back().reduced) return otherwise;
    for (const KernelTensor& tensor : form_.outputs)
      if (region_.IsPerElement(tensor.value) && !HasLast(tensor)) return otherwise;
    const double plane = p_.At(form_.axes.back().dim, synth::Binding::kCuda);
    for (double block = otherwise; block >= kLeast; block /= 2) {
      if (std::ceil(plane / block) * block > plane / (1 - kMostLost)) continue;
      planes_ = true;
      text_.used.insert("plane_blocks");
      return block;
    }
    return otherwise;
  }
  std::string BlocksText() const {
    return fmt::format("tl.cdiv({}, BLOCK)", form_.axes.back().size);
  }
  std::string StepsText() const {
    const std::vector<int> outer(form_.reduced.begin(), form_.reduced.end() - 1);
    return Multiplied(outer) + " * " + BlocksText();
  }

  void Row(const std::string& rows_text) {
    Line(fmt::format("row = ({} * ROWS + tl.arange(0, ROWS))[:, None]", FirstProgram()));
    Line(fmt::format("in_row = row < {}", rows_text));
    Decompose(form_.kept, "row");
  }
  std::string Constants(int64_t rows_per, const std::string& block) const {
    return fmt::format(", ROWS={}, BLOCK={}{}", rows_per, block,
                       warps_ > 4 ? fmt::format(", num_warps={}", warps_) : "");
  }

  // Over how many programs a row is spread; `programs` for all rows, of so many blocks each.
  static double SplitsOf(double programs, double blocks) {
    double splits = 1;
    while (programs * splits < 2 * kPrograms && splits < kMostSplits && 2 * splits <= blocks)
      splits *= 2;
    return splits < 4 ? 1 : splits;
  }

  struct Split {
    std::string rows_text, cols_text, grid;
    int64_t rows_per;
    double width, splits;
  };

  // Few long rows: for each pass a kernel whose programs reduce parts of rows, and store what they
  // found; the next one begins by combining it.
  void SplitRows(const std::vector<std::string>& parameters,
                 const std::vector<std::string>& arguments, const Split& split) {
    std::vector<std::string> own_parameters = parameters, own_arguments = arguments;
    const auto splits = static_cast<int64_t>(split.splits);
    const std::string base = form_.name;
    std::vector<std::pair<Id, std::string>> partial;  // of the passes before
    const auto begin = [&] {
      body_.clear();
      known_.clear();
      Row(split.rows_text);
      if (!partial.empty()) {
        Line("part = tl.arange(0, SPLITS)[None, :]");
        Line("in_part = in_row & (part < SPLITS)");
      }
      for (const auto& [reduce, name] : partial) {
        if (form_.variance_of.contains(reduce)) {
          CombineSquares(reduce, name);
          continue;
        }
        Line(fmt::format("{0} = tl.load({0}_ptr + row * SPLITS + part, mask=in_part, other={1})",
                         name, Neutral(p_[reduce].reduce)));
        parts_[reduce] = name;
        Assign(reduce, Truth(reduce, Combine(p_[reduce].reduce, name, NanMatters(reduce))));
      }
      for (const Id member : region_.members)
        if (p_[member].kind == Kind::kReduce)
          if (const auto first = known_.find(FirstAlike(member)); first != known_.end())
            known_[member] = first->second;
    };
    const auto finish = [&](const std::string& name, bool spread) {
      std::vector<std::string> used_parameters, used_arguments;
      for (size_t i = 0; i < own_parameters.size(); ++i) {
        const std::string word = own_parameters[i].substr(0, own_parameters[i].find(':'));
        if (!synth::HasWord(body_, word)) continue;
        used_parameters.push_back(own_parameters[i]);
        if (i < own_arguments.size()) used_arguments.push_back(own_arguments[i]);
      }
      if (synth::HasWord(body_, "SPLITS")) used_parameters.push_back("SPLITS: tl.constexpr");
      std::string constants =
          Constants(split.rows_per, fmt::format("{}", static_cast<int64_t>(split.width)));
      if (!synth::HasWord(body_, "BLOCK")) constants = fmt::format(", ROWS={}", split.rows_per);
      if (synth::HasWord(body_, "SPLITS")) constants += fmt::format(", SPLITS={}", splits);
      Add(name, used_parameters, used_arguments,
          spread ? fmt::format("({}, {})", split.grid, splits) : fmt::format("({},)", split.grid),
          constants);
    };
    const std::string range =
        planes_ ? "range(split * span, tl.minimum(split * span + span, " + StepsText() + "))"
                : "range(split * span, tl.minimum(split * span + span, " + split.cols_text +
                      "), BLOCK)";
    bool stored = false;
    int stage = 0;
    for (int pass = 0; pass < form_.num_passes; ++pass) {
      const auto reduces = Reduces(pass);
      if (reduces.empty() && Stores(pass).empty()) continue;
      begin();
      const bool last = reduces.empty() && Reduced(pass + 1).empty();
      Line("split = tl.program_id(1)");
      Line(planes_ ? fmt::format("span = tl.cdiv({}, SPLITS)", StepsText())
                   : fmt::format("span = tl.cdiv(tl.cdiv({}, SPLITS), BLOCK) * BLOCK",
                                 split.cols_text));
      std::vector<std::string> names;
      for (const Id reduce : reduces) {
        names.push_back(fmt::format("part{}", ++count_));
        partial.emplace_back(reduce, names.back());
        text_.call.push_back(
            fmt::format("{} = torch.empty(({}, {}), device={}.device, dtype=torch.float32)",
                        names.back(), HostSize(form_.kept), splits, form_.inputs[0].host));
        // Pointers come first, as everywhere.
        own_parameters.insert(own_parameters.begin(), names.back() + "_ptr");
        own_arguments.insert(own_arguments.begin(), names.back());
        if (!form_.variance_of.contains(reduce)) continue;
        const std::string counts = names.back() + "_count";
        text_.call.push_back(fmt::format("{} = torch.empty_like({})", counts, names.back()));
        own_parameters.insert(own_parameters.begin(), counts + "_ptr");
        own_arguments.insert(own_arguments.begin(), counts);
      }
      Pass(pass, split.cols_text, range, &names);
      if (last) {
        const size_t before = body_.size();
        indent_ += 4;
        for (const KernelTensor& tensor : form_.outputs)
          if (!region_.IsPerElement(tensor.value)) Store(tensor);
        indent_ -= 4;
        if (body_.size() > before) body_.insert(before, "    if split == 0:\n");
        stored = true;
      }
      finish(last ? base : fmt::format("{}_part{}", base, ++stage), true);
    }
    if (stored) return;
    begin();
    for (const KernelTensor& tensor : form_.outputs)
      if (!region_.IsPerElement(tensor.value)) Store(tensor);
    if (!body_.empty()) finish(base, false);
  }

  // Reductions of a pass and of later ones.
  std::vector<Id> Reduced(int pass) const {
    std::vector<Id> all;
    for (; pass < form_.num_passes; ++pass)
      for (const Id reduce : Reduces(pass)) all.push_back(reduce);
    return all;
  }

  // The reductions of a pass are known behind it, or, with `partial`, stored as parts of that name.
  void Pass(int pass, const std::string& cols_text, const std::string& range,
            const std::vector<std::string>* partial) {
    const auto reduces = Reduces(pass);
    const auto stores = Stores(pass);
    if (reduces.empty() && stores.empty()) return;
    // Row values that the pass reads, before its loop.
    for (const Id member : region_.members)
      if (!region_.IsPerElement(member) && p_[member].kind != Kind::kReduce &&
          form_.pass.at(member) <= pass && ReadBy(member))
        Text(member);
    for (const KernelTensor& tensor : form_.inputs)
      if (!form_.Has(tensor, true) && !known_.contains(tensor.value) &&
          region_.placements.contains(tensor.value) &&
          (partial == nullptr || PassNeeds(pass, tensor.value)))
        Text(tensor.value);
    std::vector<std::string> sums;
    for (const Id reduce : reduces) {
      sums.push_back(fmt::format("acc{}", ++count_));
      if (form_.variance_of.contains(reduce)) {
        for (const char* part : {"first", "count", "shift", "square"})
          Line(fmt::format("{}{} = tl.zeros((ROWS, BLOCK), tl.float32)", part, count_));
        continue;
      }
      Line(fmt::format("{} = tl.full((ROWS, BLOCK), {}, tl.float32)", sums.back(),
                       Neutral(p_[reduce].reduce)));
    }
    runs_.clear();
    for (const Id scan : Scans(pass)) {
      runs_[scan] = fmt::format("run{}", ++count_);
      Line(fmt::format("{} = tl.full((ROWS, 1), {}, tl.float32)", runs_[scan],
                       Neutral(p_[scan].reduce)));
    }
    Line(fmt::format("for start in {}:", range));
    indent_ += 4;
    const auto saved = known_;
    if (planes_) {
      const LoopAxis& last = form_.axes.back();
      Line(fmt::format("{0} = ((start % {1}) * BLOCK + tl.arange(0, BLOCK))[None, :]", last.index,
                       BlocksText()));
      Line(fmt::format("in_col = {} < {}", last.index, last.size));
      Line("inside = in_row & in_col");
      Line(fmt::format("plane = start // {}", BlocksText()));
      const std::vector<int> outer(form_.reduced.begin(), form_.reduced.end() - 1);
      if (outer.size() == 1)
        Line(fmt::format("{} = plane", form_.axes[static_cast<size_t>(outer[0])].index));
      Decompose(outer, "plane");
    } else {
      Line("col = (start + tl.arange(0, BLOCK))[None, :]");
      Line(fmt::format("in_col = col < {}", cols_text));
      Line("inside = in_row & in_col");
      Decompose(form_.reduced, "col");
    }
    for (size_t i = 0; i < reduces.size(); ++i) {
      if (form_.variance_of.contains(reduces[i])) {
        Squares(sums[i].substr(3), Element(reduces[i]));
        continue;
      }
      Line(fmt::format(
          "{0} = {1}", sums[i],
          Accumulate(p_[reduces[i]].reduce, sums[i], Masked(reduces[i]), NanMatters(reduces[i]))));
    }
    for (const KernelTensor* tensor : stores) Store(*tensor);
    known_ = saved;
    indent_ -= 4;
    if (partial != nullptr) {
      std::map<Id, std::string> own;  // the sums of this program
      for (size_t i = 0; i < reduces.size(); ++i) {
        const std::string to = (*partial)[i];
        const auto store = [&](const std::string& where, const std::string& what) {
          Line(
              fmt::format("tl.store({}_ptr + row * SPLITS + split, {}, mask=in_row)", where, what));
        };
        if (const auto of = form_.variance_of.find(reduces[i]); of != form_.variance_of.end()) {
          const std::string n = sums[i].substr(3);
          store(to, AboutMean(n, own.at(FirstAlike(of->second))));
          store(to + "_count", fmt::format("total{}", n));
          continue;
        }
        std::string sum = Combine(p_[reduces[i]].reduce, sums[i], NanMatters(reduces[i]));
        if (!form_.variance_of.empty()) {
          Line(fmt::format("own{} = {}", sums[i].substr(3), sum));
          sum = own[reduces[i]] = "own" + sums[i].substr(3);
        }
        store(to, sum);
      }
      return;
    }
    for (size_t i = 0; i < reduces.size(); ++i)
      if (const auto of = form_.variance_of.find(reduces[i]); of != form_.variance_of.end())
        Assign(reduces[i], AboutMean(sums[i].substr(3), known_.at(FirstAlike(of->second))));
      else
        Assign(reduces[i],
               Truth(reduces[i], Combine(p_[reduces[i]].reduce, sums[i], NanMatters(reduces[i]))));
    for (const Id reduce : Reduces(pass, true)) known_[reduce] = known_.at(FirstAlike(reduce));
  }

  // The element whose squares about the mean are summed.
  Id Element(Id squares) const { return p_[FirstAlike(form_.variance_of.at(squares))].operands[0]; }
  // Sums about the first element of each lane: its distance from the lane's mean is no larger than
  // the sum of squares, so little cancels.
  void Squares(const std::string& n, Id element) {
    const std::string x = Text(element);
    Line(fmt::format("first{0} = tl.where((count{0} == 0.0) & inside, {1}, first{0})", n, x));
    Line(fmt::format("away{0} = tl.where(inside, {1} - first{0}, 0.0)", n, Bracketed(x)));
    Line(fmt::format("count{0} += tl.where(inside, 1.0, 0.0)", n));
    Line(fmt::format("shift{0} += away{0}", n));
    Line(fmt::format("square{0} += away{0} * away{0}", n));
  }
  // The sum of squares about the mean of all lanes, whose elements have the sum `sum`.
  std::string AboutMean(const std::string& n, const std::string& sum) {
    Line(fmt::format("total{0} = tl.sum(count{0}, axis=1)[:, None]", n));
    Line(fmt::format("shift{0} = shift{0} / tl.maximum(count{0}, 1.0)", n));
    Line(fmt::format("apart{0} = first{0} + shift{0} - {1} / tl.maximum(total{0}, 1.0)", n,
                     Bracketed(sum)));
    return fmt::format(
        "tl.sum(square{0} + count{0} * (apart{0} * apart{0} - shift{0} * shift{0}), axis=1)[:, "
        "None]",
        n);
  }
  // The same from the parts of a row.
  void CombineSquares(Id squares, const std::string& name) {
    const Id sum = FirstAlike(form_.variance_of.at(squares));
    for (const char* suffix : {"", "_count"})
      Line(
          fmt::format("{0}{1} = tl.load({0}{1}_ptr + row * SPLITS + part, mask=in_part, other=0.0)",
                      name, suffix));
    Line(fmt::format("total = tl.sum({}_count, axis=1)[:, None]", name));
    Line(fmt::format("apart = {} / tl.maximum({}_count, 1.0) - {} / total", parts_.at(sum), name,
                     Bracketed(known_.at(sum))));
    Assign(squares, fmt::format("tl.sum({0} + {0}_count * apart * apart, axis=1)[:, None]", name));
  }

  bool PassNeeds(int pass, Id value) const {
    for (const Id reduce : Reduces(pass))
      if (Needs(form_.variance_of.contains(reduce) ? Element(reduce) : p_[reduce].operands[0],
                value))
        return true;
    for (const KernelTensor* tensor : Stores(pass))
      if (Needs(tensor->value, value)) return true;
    return false;
  }

  bool ReadBy(Id member) const {
    for (const Id other : region_.members)
      if (region_.IsPerElement(other) &&
          std::find(p_[other].operands.begin(), p_[other].operands.end(), member) !=
              p_[other].operands.end())
        return true;
    return false;
  }

  void Finish(const std::vector<std::string>& parameters, const std::vector<std::string>& arguments,
              const std::string& grid, const std::string& constants) {
    Add(form_.name, parameters, arguments, grid, constants);
  }
  void Add(const std::string& name, const std::vector<std::string>& parameters,
           const std::vector<std::string>& arguments, const std::string& grid,
           const std::string& constants) {
    text_.source +=
        fmt::format("{}@triton.jit\ndef {}({}):\n{}", text_.source.empty() ? "" : "\n\n", name,
                    synth::Join(parameters, ", "), body_);
    text_.call.push_back(
        fmt::format("{}[{}]({}{})", name, grid, synth::Join(arguments, ", "), constants));
  }

  KernelForm& own_form_;  // form_
  const EmitRules& rules_;
  const ProductKernel* product_;
  bool planes_ = false;              // a block of reduced elements lies in a plane
  std::map<Id, std::string> parts_;  // of reductions of earlier passes, in a row's programs
  KernelText text_;
  std::string body_;
  size_t indent_ = 4;
  std::map<Id, std::string> known_;
  int count_ = 0;
  int warps_ = 4;
  std::map<Id, std::string> runs_;  // of the scans of the pass, where a row is read in blocks
};

}  // namespace

KernelText EmitTriton(Program* program, const Region& region, const KernelForm& form,
                      const EmitRules& rules, const ProductKernel* product) {
  KernelForm own = form;
  return TritonWriter(program, region, &own, rules, product).Write();
}

std::string TritonPrelude(const std::set<std::string>& helpers) {
  static const std::map<std::string, std::string> texts = {
      {"tanh",
       "@triton.jit\ndef tanh(x):\n"
       "    # Away from 0 by an exponential that cannot overflow, near 0 by a series.\n"
       "    a = tl.abs(x)\n"
       "    e = tl.exp(-2.0 * a)\n"
       "    large = (1.0 - e) / (1.0 + e)\n"
       "    s = a * a\n"
       "    small = a * (1.0 + s * (-0.33333334 + s * (0.13333334 + s * (-0.053968254 + s * "
       "0.021869488))))\n"
       "    y = tl.where(a < 0.25, small, large)\n"
       "    return tl.where(x < 0.0, -y, y)\n"},
      {"log1p",
       "@triton.jit\ndef log1p(x):\n"
       "    # The rounding of 1 + x, corrected to first order.\n"
       "    u = 1.0 + x\n"
       "    return tl.where(u == 1.0, x, tl.log(u) * (x / (u - 1.0)))\n"},
      {"expm1",
       "@triton.jit\ndef expm1(x):\n"
       "    small = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.008333334 + "
       "x * "
       "(0.0013888889 + x * 0.0001984127))))))\n"
       "    return tl.where(tl.abs(x) < 0.5, small, tl.exp(x) - 1.0)\n"},
      {"round_even",
       "@triton.jit\ndef round_even(x):\n"
       "    f = tl.floor(x)\n"
       "    d = x - f\n"
       "    odd = f - 2.0 * tl.floor(f * 0.5)\n"
       "    up = (d > 0.5) | ((d == 0.5) & (odd == 1.0))\n"
       "    return tl.where(up, f + 1.0, f)\n"},
      {"atan",
       "@triton.jit\ndef atan(x):\n"
       "    # By tan(pi / 8): a series there, the rest by the sum of two angles.\n"
       "    a = tl.abs(x)\n"
       "    far = a > 2.4142135\n"
       "    middle = a > 0.41421357\n"
       "    t = tl.where(far, -1.0 / a, tl.where(middle, (a - 1.0) / (a + 1.0), a))\n"
       "    s = t * t\n"
       "    p = -0.13879850506782532 + s * 0.08060308545827866\n"
       "    p = t + t * s * (-0.33332955837249756 + s * (0.19977925717830658 + s * p))\n"
       "    y = p + tl.where(far, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))\n"
       "    return tl.where(x < 0.0, -y, tl.where(x == 0.0, x, y))\n"},
      {"atan2",
       "@triton.jit\ndef atan2(y, x):\n"
       "    a = tl.abs(x)\n"
       "    b = tl.abs(y)\n"
       "    most = tl.where(a > b, a, b)\n"
       "    t = atan(tl.where(most == 0.0, 0.0, tl.where(a > b, b, a) / most))\n"
       "    t = tl.where(b > a, 1.5707963267948966 - t, t)\n"
       "    t = tl.where(x < 0.0, 3.141592653589793 - t, t)\n"
       "    return tl.where((x != x) | (y != y), x + y, tl.where(y < 0.0, -t, t))\n"},
      {"log_add",
       "@triton.jit\ndef log_add(a, b):\n"
       "    high = tl.maximum(a, b, tl.PropagateNan.ALL)\n"
       "    low = tl.minimum(a, b, tl.PropagateNan.ALL)\n"
       "    e = tl.exp(low - high)\n"
       "    # Below 2^-12 the logarithm of 1 + e is e - e e / 2 up to rounding.\n"
       "    more = tl.where(e < 0.000244140625, e - 0.5 * e * e, tl.log(1.0 + e))\n"
       "    return high + tl.where(high == low, 0.6931471805599453, more)\n"},
      {"larger",
       "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b, tl.PropagateNan.ALL)\n"},
      {"smaller",
       "@triton.jit\ndef smaller(a, b):\n    return tl.minimum(a, b, tl.PropagateNan.ALL)\n"},
      {"times", "@triton.jit\ndef times(a, b):\n    return a * b\n"}};
  std::string prelude;
  for (const std::string& helper : helpers) prelude += texts.at(helper) + "\n\n";
  return prelude;
}

}  // namespace davinci::teacher
