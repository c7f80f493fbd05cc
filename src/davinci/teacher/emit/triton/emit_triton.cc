#include <fmt/format.h>

#include "davinci/synth/text.h"
#include "davinci/teacher/emit/triton/triton_rows.h"
#include "davinci/teacher/emit/triton/triton_writer.h"

namespace davinci::teacher {
namespace {

constexpr double kCount32 = 2147483648.0;  // elements that 32 bits can count

class TritonPointwise : private TritonWriter {
 public:
  TritonPointwise(Program* program, const Region& region, const KernelForm& form,
                  const EmitOptions& options)
      : TritonWriter(program, region, form, options) {}

  KernelText Write() {
    std::vector<std::string> parameters = Parameters(), arguments = Arguments();
    if (form_.kept.empty()) {  // one element
      Line("inside = tl.program_id(0) == 0");
      for (const KernelTensor& tensor : form_.outputs) {
        const std::string value = Text(tensor.value);
        Line(fmt::format("tl.store({}_ptr, {})", tensor.name, value));
      }
      Add(form_.name, parameters, arguments, "(1,)", "");
      return std::move(text_);
    }
    const bool several = form_.kept.size() > 1;
    if (brief_) {
      text_.helpers.insert("ids");
      Line(Counts32() ? "i = ids(BLOCK)" : "i = ids64(BLOCK)");
    } else {
      Line(fmt::format("i = {} * BLOCK + tl.arange(0, BLOCK)", FirstProgram()));
    }
    const std::string number = brief_ ? "N" : "n";
    Line(fmt::format("inside = i < {}", number));
    Decompose(form_.kept, "i");
    if (!brief_) {
      parameters.push_back(number);
      arguments.push_back(form_.outputs[0].host + ".numel()");
    }
    if (several) {
      for (size_t k = 0; k < form_.kept.size(); ++k) {
        const LoopAxis& axis = form_.axes[static_cast<size_t>(form_.kept[k])];
        parameters.push_back(axis.size);
        arguments.push_back(program_->SizeText(axis.dim));
      }
    }
    if (brief_) {
      parameters.push_back(number);
      arguments.push_back(form_.outputs[0].host + ".numel()");
    }
    StoreAll();
    parameters.push_back("BLOCK: tl.constexpr");
    const auto block = static_cast<int64_t>(1024 * launch_.block);
    Add(form_.name, parameters, arguments,
        fmt::format("({},)", CeilDiv(form_.outputs[0].host + ".numel()", block)),
        fmt::format(", BLOCK={}", block));
    return std::move(text_);
  }
};

// A matrix product, and the region on its tiles.
class TritonProduct : private TritonWriter {
 public:
  TritonProduct(Program* program, const Region& region, const KernelForm& form,
                const EmitOptions& options, const ProductKernel& product)
      : TritonWriter(program, region, form, options), product_(product) {}

  KernelText Write() {
    const MatrixProduct& product = p_[product_.value].product.value();
    const bool batched = !product_.batched_rows.empty();
    bool wide = !Counts32();
    for (const Id operand : p_[product_.value].operands)
      wide = wide || p_.Elements(operand, synth::Binding::kCuda) >= kCount32;
    const bool plain = brief_ && !batched && !wide && !product.left_transposed &&
                       !product_.mirrored && product_.first.empty() && product_.last.empty();
    // One text for layers with and without a bias: the launch passes what the layer has.
    const std::string bias = plain && product_.bias.empty() ? product.absent_bias : product_.bias;
    std::vector<std::string> parameters = {"left_ptr", "right_ptr"};
    if (brief_) parameters = {"x", "y"};
    std::vector<std::string> arguments = {product_.left, product_.right};
    if (product_.split) {
      parameters.insert(parameters.end(), {"left_low_ptr", "right_low_ptr"});
      arguments.insert(arguments.end(), {product_.left_low, product_.right_low});
    }
    if (!bias.empty()) {
      parameters.push_back(brief_ ? "z" : "bias_ptr");
      arguments.push_back(bias);
    }
    for (const std::string& name : Parameters()) parameters.push_back(name);
    for (const std::string& text : Arguments()) arguments.push_back(text);
    SizesOfAxes(&parameters, &arguments);
    if (batched) {
      parameters.push_back(brief_ ? "M" : "m");
      arguments.push_back(product_.batched_rows);
    }
    parameters.push_back(brief_                           ? "K"
                         : KnowsDepth(p_, product_.value) ? "depth: tl.constexpr"
                                                          : "depth");
    arguments.push_back(product_.depth);
    if (plain)
      Tile(product, !bias.empty());
    else
      WriteOut(wide);
    Line("inside = in_row & in_col");
    Decompose(form_.kept, "row");
    Decompose(form_.reduced, "col");
    known_[product_.value] = "total";
    if (names_.contains(product_.value) && !region_.members.empty())
      Assign(product_.value, "total");
    ReduceInRegisters();
    StoreAll();
    if (product_.mirrored)
      for (const KernelTensor& tensor : form_.outputs)
        StoreAt(fmt::format("{}_ptr + col * {} + row", tensor.name, Multiplied(form_.reduced)),
                Text(tensor.value), "inside");
    const ProductTile& tile = product_.tile;
    const std::string cols = HostSize(form_.reduced);
    const std::string rows = batched ? product_.batched_rows : HostSize(form_.kept);
    std::string grid = CeilDiv(rows, tile.rows);
    std::string block = fmt::format("{}", tile.cols);
    if (product_.whole_rows)
      block = fmt::format("max(16, {})", NextPowerOfTwo(cols));
    else
      grid += fmt::format(" * ({})", CeilDiv(cols, tile.cols));
    grid += batched ? ", " + product_.batch : ",";
    for (const char* constant : {"ROWS", "BLOCK", "DEPTH"})
      parameters.push_back(fmt::format("{}: tl.constexpr", constant));
    Add(form_.name, parameters, arguments, fmt::format("({})", grid),
        fmt::format(", ROWS={}, BLOCK={}, DEPTH={}, num_warps={}, num_stages={}", tile.rows, block,
                    tile.depth, tile.warps, tile.stages));
    return std::move(text_);
  }

 private:
  // The loop over the inner dimension.
  void WriteOut(bool wide) {
    const std::vector<std::string> lines =
        ProductLines(p_, product_, Multiplied(form_.kept), Multiplied(form_.reduced), wide);
    for (std::string line : lines) {
      if (brief_) {
        if (line[line.find_first_not_of(' ')] == '#') continue;
        // Pointers that are no names of offsets.
        for (const auto& [pointer, name] :
             {std::pair{"left_ptr", "x"}, std::pair{"right_ptr", "y"}, std::pair{"bias_ptr", "z"}})
          line = synth::Replaced(line, pointer, name);
        line = synth::WithWord(synth::WithWord(line, "depth", "K"), "m", "M");
      }
      Line(line);
    }
  }
  // The prelude's tile of a product.
  void Tile(const MatrixProduct& product, bool biased) {
    const std::string helper = product.right_transposed ? "dot_nt" : "dot_nn";
    const std::string rows = Multiplied(form_.kept), cols = Multiplied(form_.reduced);
    text_.helpers.insert(helper);
    Line(fmt::format("row, col, total = {}(x, y, {}, {}, K, ROWS, BLOCK, DEPTH)", helper, rows,
                     cols));
    Line(fmt::format("in_row = row < {}", rows));
    Line(fmt::format("in_col = col < {}", cols));
    if (!biased) return;
    text_.helpers.insert("with_bias");
    Line("total = with_bias(total, z, col, in_col)");
  }

  const ProductKernel& product_;
};

}  // namespace

KernelText EmitTriton(Program* program, const Region& region, const KernelForm& form,
                      const EmitOptions& options, const ProductKernel* product) {
  if (product != nullptr) return TritonProduct(program, region, form, options, *product).Write();
  if (form.reduced.empty()) return TritonPointwise(program, region, form, options).Write();
  KernelForm own = form;
  return TritonRows(program, region, &own, options).Write();
}

}  // namespace davinci::teacher
