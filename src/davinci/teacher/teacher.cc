#include "davinci/teacher/teacher.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/fusion.h"
#include "davinci/teacher/kernel_templates.h"
#include "davinci/teacher/lower.h"
#include "davinci/teacher/product.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

class Writer {
 public:
  Writer(Program program, const synth::Graph& graph, const synth::RenderedTask& task,
         Language language, const std::set<std::string>& allowed, const MathText& math)
      : p_(std::move(program)),
        graph_(graph),
        task_(task),
        language_(language),
        allowed_(allowed),
        math_(math) {}

  Result<Candidate> Write() {
    FusionRules rules;
    rules.pointwise = Allows("fuse_pointwise");
    rules.around = Allows("fuse_around_reduction");
    rules.reductions = Allows("fuse_reductions");
    rules.matmul = Allows("vendor_matmul_epilogue");
    rules.conv = Allows("vendor_conv_epilogue");
    rules.product = Allows("product_epilogue");
    ReadSlices();
    LeaveOutProducts();
    if (Allows(ByLanguage("flash_attention"))) RecognizeAttention(&p_);
    MakePlan(rules);
    for (const Plan::Step& step : plan_.steps) {
      Region region;
      std::optional<ProductKernel> product;
      if (step.region < 0) {
        if (!p_[step.value].own) {
          NoteStructure(step.value);
          if (!OwnTemplate(step.value)) Opaque(step.value);
          continue;
        }
        if (std::find(fused_.begin(), fused_.end(), step.value) != fused_.end()) continue;
        region = RegionOf(p_, step.value);
        product = KernelOf(step.value, region);
      } else {
        region = plan_.regions[static_cast<size_t>(step.region)];
        if (region.outputs.empty()) continue;
        if (const Id value = fused_[static_cast<size_t>(step.region)]; value >= 0) {
          product = KernelOf(value, region);
          region = EpilogueOf(p_, std::move(region), value);
        }
      }
      Allocate(region);
      static const std::set<std::string> kProductNames = {"left", "right", "bias", "total"};
      KernelForm form = MakeForm(
          &p_, region, KernelName(region, product ? product->value : -1),
          [&](Id id) { return Host(id); }, product ? kProductNames : std::set<std::string>());
      if (product)
        std::erase_if(form.inputs,
                      [&](const KernelTensor& tensor) { return tensor.value == product->value; });
      const EmitRules emit = RulesFor(region);
      const KernelText text =
          language_ == Language::kTriton
              ? EmitTriton(&p_, region, form, emit, product ? &*product : nullptr)
          : language_ == Language::kCuda ? EmitCuda(&p_, region, form, emit)
                                         : EmitCpp(&p_, region, form, emit);
      if (text.source.empty())
        return InvalidArgument("CUDA C++ is not the tool for a scan or few long rows");
      if (product) NoteProduct(*product, step.region >= 0);
      if (synth::Replaced(text.source, " ? ", "").find('?') != std::string::npos ||
          synth::Join(text.call, "").find('?') != std::string::npos)
        return InvalidArgument("a kernel reads a size or value that is not there");
      if (step.region >= 0)
        launches_[step.region] = static_cast<int>(std::count_if(
            text.call.begin(), text.call.end(),
            [](const std::string& line) { return line.find("_kernel") != std::string::npos; }));
      Take(text);
      Note(region, text);
    }
    for (const std::string& line : forward_)
      if (line.find('?') != std::string::npos)
        return InvalidArgument("a size that no tensor shows");
    candidate_.left.insert(candidate_.left.begin(), p_.left.begin(), p_.left.end());
    if (Replays()) Use("replay_graph");
    candidate_.source = File(kernels_, bindings_, helpers_);
    for (const Rule& rule : Rules())
      if (candidate_.rules.contains(rule.name)) candidate_.skills.insert(rule.skill);
    return std::move(candidate_);
  }

 private:
  // Which products get a kernel, and what follows in it. One whose kernel needs an epilogue to gain
  // anything stays with the library where it has none.
  void MakePlan(const FusionRules& rules) {
    ProductRules products;
    products.compensated = Allows("compensated_tf32");
    products.epilogue = Allows("product_epilogue");
    if (language_ != Language::kTriton) products.compensated = products.epilogue = false;
    const Program before = p_;
    for (bool again = true; again;) {
      again = false;
      p_ = before;
      ChooseProducts(&p_, products);
      plan_ = Fuse(&p_, rules);
      fused_.assign(plan_.regions.size(), -1);
      for (size_t r = 0; r < plan_.regions.size(); ++r)
        for (const auto& [id, placement] : plan_.regions[r].placements)
          if (p_[id].own && products.epilogue && IsEpilogue(p_, plan_.regions[r], id))
            fused_[r] = id;
      for (const Plan::Step& step : plan_.steps)
        if (step.region < 0 && p_[step.value].own && NeedsEpilogue(p_, step.value) &&
            std::find(fused_.begin(), fused_.end(), step.value) == fused_.end())
          again = products.vendor.insert(step.value).second || again;
    }
  }

  ProductKernel KernelOf(Id value, const Region& region) {
    ProductKernel kernel;
    const TensorValue& made = p_[value];
    const MatrixProduct& product = *made.product;
    kernel.value = value;
    kernel.whole_rows = !region.members.empty() && region.HasReduction();
    kernel.tile = TileFor(p_, value, kernel.whole_rows);
    kernel.compensated = graph_.precision == synth::Precision::kFp32;
    const ProductShape shape = ShapeOf(p_, value);
    // Where operands do not stay in the cache anyway.
    kernel.grouped = Allows("group_tiles") && !kernel.whole_rows &&
                     shape.rows >= 8 * kernel.tile.rows && shape.cols >= 8 * kernel.tile.cols;
    kernel.left = Host(product.left);
    kernel.right = Host(product.right);
    if (product.bias >= 0) kernel.bias = Host(product.bias);
    const auto& left = p_[product.left].shape;
    kernel.depth = p_.SizeText(left[left.size() - (product.left_transposed ? 2 : 1)]);
    if (p_[product.right].shape.size() > 2) {
      kernel.batch = p_.SizeText(p_.Product({made.shape.begin(), made.shape.end() - 2}));
      kernel.batched_rows = p_.SizeText(made.shape[made.shape.size() - 2]);
    }
    if (Allows("skip_triangle")) SkipTriangles(p_, &kernel);
    return kernel;
  }
  void NoteProduct(const ProductKernel& kernel, bool epilogue) {
    if (kernel.compensated) Use("compensated_tf32");
    if (kernel.grouped) Use("group_tiles");
    if (!kernel.first.empty() || !kernel.last.empty()) Use("skip_triangle");
    if (epilogue) Use("product_epilogue");
  }

  // Kernels read slices where they lie, or, without the rule, copies of them.
  void ReadSlices() {
    for (const auto& [view, load] : p_.read_as) slices_[load] = view;
    if (Allows("read_slices")) return;
    for (TensorValue& value : p_.values)
      for (Id& operand : value.operands)
        if (const auto found = slices_.find(operand); found != slices_.end())
          operand = found->second;
  }
  // Takes the cheaper of two ways to a sum of a product's results where only the sum reads them.
  void LeaveOutProducts() {
    std::vector<bool> live(p_.values.size());
    for (const auto* ends : {&p_.outputs, &p_.effects})
      for (const Id end : *ends) live[static_cast<size_t>(end)] = true;
    std::vector<int> readers(p_.values.size());
    for (const Id output : p_.outputs) ++readers[static_cast<size_t>(output)];
    for (const auto& [value, buffer] : p_.updates) live[static_cast<size_t>(value)] = true;
    for (size_t i = p_.values.size(); i-- > 0;) {
      if (!live[i]) continue;
      for (const Id operand : p_.values[i].operands) {
        live[static_cast<size_t>(operand)] = true;
        ++readers[static_cast<size_t>(operand)];
      }
    }
    for (const auto& [sum, instead] : p_.cheaper) {
      if (!live[static_cast<size_t>(sum)] || readers[static_cast<size_t>(p_[sum].operands[0])] != 1)
        continue;
      for (size_t i = static_cast<size_t>(instead) + 1; i < p_.values.size(); ++i)
        for (Id& operand : p_.values[i].operands)
          if (operand == sum) operand = instead;
      for (Id& output : p_.outputs)
        if (output == sum) output = instead;
      for (auto& [value, buffer] : p_.updates)
        if (value == sum) value = instead;
    }
  }
  bool Allows(const std::string& rule) const { return allowed_.contains(rule); }
  // Of a rule that different skills state in the languages.
  std::string ByLanguage(const std::string& rule) const {
    return fmt::format("{}_{}", rule, LanguageName(language_));
  }

  void Take(const KernelText& text) {
    kernels_ += (kernels_.empty()                 ? ""
                 : language_ == Language::kTriton ? "\n\n"
                                                  : "\n") +
                text.source;
    if (!text.binding.empty()) bindings_ += text.binding + "\n";
    for (const std::string& line : text.call) Line(line);
    helpers_.insert(text.helpers.begin(), text.helpers.end());
    ++candidate_.own_kernels;
  }

  // The value by a kernel template, where there is one and its rule is allowed.
  bool OwnTemplate(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind != Kind::kOpaque || value.kernel.empty()) return false;
    EmitRules rules;
    rules.flash_attention = Allows(ByLanguage("flash_attention"));
    rules.stop_at_diagonal = Allows(ByLanguage("stop_at_diagonal"));
    rules.select_largest = Allows("select_largest");
    rules.gather_into_places = Allows("gather_into_places");
    const auto text = EmitTemplate({&p_, id, UniqueName(value.kernel), Variable(id),
                                    [&](Id read) { return Host(read); }, rules},
                                   language_);
    if (!text) {
      const bool vendor =
          language_ == Language::kCpp && rules.flash_attention && value.kernel == "attention";
      if (value.node >= 0 && !vendor) {
        const synth::Operator& op = *graph_.nodes[static_cast<size_t>(value.node)].op;
        candidate_.left.push_back({op.name, op.family, "no template for these sizes or rules"});
      }
      return false;
    }
    Take(*text);
    templates_.insert(id);
    for (const char* rule : {"flash_attention", "stop_at_diagonal"})
      if (text->used.contains(rule)) Use(ByLanguage(rule));
    for (const char* rule : {"select_largest", "gather_into_places"})
      if (text->used.contains(rule)) Use(rule);
    MakeContiguous(id);
    return true;
  }
  void Line(const std::string& line) { forward_.push_back(line); }

  static bool HasMax(const Program& p, const Region& region) {
    return std::any_of(region.members.begin(), region.members.end(), [&](Id id) {
      return p[id].kind == Kind::kReduce && p[id].reduce == ReduceKind::kMax;
    });
  }

  EmitRules RulesFor(const Region& region) const {
    EmitRules rules;
    rules.rows_in_registers =
        Allows(HasMax(p_, region) ? "softmax_in_registers" : "norm_in_registers");
    rules.scan_tiles = Allows("scan_tiles");
    rules.many_rows = Allows("many_rows");
    rules.columns = language_ == Language::kCuda || Allows(ByLanguage("columns"));
    rules.warp_rows = Allows("warp_rows");
    rules.wide_loads = Allows("wide_loads");
    rules.split_rows = Allows("split_rows");
    rules.one_pass_variance = Allows("one_pass_variance");
    rules.plane_blocks = Allows("plane_blocks");
    rules.fast_exp = Allows("fast_exp");
    rules.inline_erf = Allows("inline_erf");
    rules.stored_values = Allows("stored_values");
    rules.pick_class = Allows("pick_class");
    rules.partial_sums = Allows("partial_sums");
    return rules;
  }

  void NoteStructure(Id id) {
    if (const auto found = p_.by_rule.find(id); found != p_.by_rule.end()) Use(found->second);
  }

  // Which rules the text shows.
  void Note(const Region& region, const KernelText& text) {
    const auto used = [&](const std::string& name) { return text.used.contains(name); };
    if (used("rows_in_registers"))
      Use(HasMax(p_, region) ? "softmax_in_registers" : "norm_in_registers");
    for (const Id member : region.members) {
      NoteStructure(member);
      if (slices_.contains(member)) Use("read_slices");
    }
    if (used("many_rows")) Use("many_rows");
    if (used("columns") && language_ != Language::kCuda) Use(ByLanguage("columns"));
    for (const char* rule :
         {"fast_exp", "inline_erf", "stored_values", "pick_class", "partial_sums", "scan_tiles",
          "split_rows", "one_pass_variance", "plane_blocks", "warp_rows", "wide_loads"})
      if (used(rule)) Use(rule);
    std::set<int> nodes, reducing;
    bool reduces = false;
    for (const Id member : region.members) {
      if (p_[member].kind == Kind::kReshape) continue;
      nodes.insert(p_[member].node);
      if (p_[member].kind == Kind::kReduce || p_[member].kind == Kind::kScan) {
        reduces = true;
        reducing.insert(p_[member].node);
      }
    }
    if (nodes.size() < 2) return;
    for (const Id member : region.members)
      for (const Id operand : p_[member].operands) {
        if (p_[operand].what == "matmul" && !p_[operand].own) Use("vendor_matmul_epilogue");
        if (p_[operand].what == "conv") Use("vendor_conv_epilogue");
      }
    if (!reduces) Use("fuse_pointwise");
    if (reduces && nodes.size() > reducing.size()) Use("fuse_around_reduction");
    if (reducing.size() > 1) Use("fuse_reductions");
  }
  void Use(const std::string& rule) { candidate_.rules.insert(rule); }

  std::string Host(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kLeaf) {
      if (!value.text.starts_with("self.")) read_inputs_.insert(value.text);
      return value.text;
    }
    return Variable(id);
  }
  std::string Variable(Id id) const { return p_.Variable(id); }

  void Opaque(Id id) {
    const TensorValue& value = p_[id];
    if (value.kind == Kind::kItem) {
      Line(fmt::format("{} = {}[{}]", Variable(id), Variable(value.operands[0]), value.item));
    } else if (value.kind == Kind::kReshape) {
      std::vector<std::string> sizes;
      for (const DimId dim : value.shape) sizes.push_back(p_.SizeText(dim));
      Line(fmt::format("{} = {}.reshape({})", Variable(id), Name(value.operands[0]),
                       sizes.empty() ? "()" : synth::Join(sizes, ", ")));
      return;
    } else {
      std::vector<std::string> names;
      for (const Id operand : value.operands) names.push_back(Name(operand));
      std::string text;
      for (size_t i = 0; i < value.text.size(); ++i) {
        const bool slot = value.text[i] == '{' && i + 2 < value.text.size() &&
                          std::isdigit(static_cast<unsigned char>(value.text[i + 1])) &&
                          value.text[i + 2] == '}';
        if (slot) {
          text += names[static_cast<size_t>(value.text[i + 1] - '0')];
          i += 2;
        } else {
          text += value.text[i];
        }
      }
      Line(value.effect ? text : fmt::format("{} = {}", Variable(id), text));
      if (value.effect) return;
    }
    MakeContiguous(id);
  }

  // Where a region reads the value.
  void MakeContiguous(Id id) {
    const TensorValue& value = p_[id];
    if (value.contiguous || value.shape.empty()) return;
    bool read = false;
    for (const TensorValue& other : p_.values)
      read = read || (other.own && std::find(other.operands.begin(), other.operands.end(), id) !=
                                       other.operands.end());
    if (read) {
      Line(fmt::format("{0} = {0}.contiguous()", Variable(id)));
      return;
    }
    for (const Region& region : plan_.regions)
      if (std::any_of(region.members.begin(), region.members.end(), [&](Id member) {
            const auto& operands = p_[member].operands;
            return std::find(operands.begin(), operands.end(), id) != operands.end();
          })) {
        Line(fmt::format("{0} = {0}.contiguous()", Variable(id)));
        return;
      }
  }
  std::string Name(Id id) const {
    return p_[id].kind == Kind::kLeaf ? p_[id].text
           : p_[id].kind == Kind::kScalar
               ? (p_[id].number ? fmt::format("{}", *p_[id].number) : p_[id].text)
               : Variable(id);
  }

  const synth::Value& InputValue(size_t i) const {
    return graph_.values[static_cast<size_t>(graph_.inputs[i])];
  }

  double Elements(Id id) const { return p_.Elements(id, synth::Binding::kCuda); }
  // Of a convolution or a matrix product.
  double OpaqueFlops(const TensorValue& value, Id id) const {
    if (value.operands.empty()) return 0;
    if (value.own) return 2 * Elements(id) * ShapeOf(p_, id).depth;
    const auto& read = p_[value.operands[0]].shape;
    if (read.size() < 2) return 0;
    const auto at = [&](DimId dim) { return p_.At(dim, synth::Binding::kCuda); };
    if (value.what != "conv" || value.node < 0) return 2 * Elements(id) * at(read.back());
    double weights = 0;  // the largest parameter is the kernel
    for (const synth::ValueId weight : graph_.nodes[static_cast<size_t>(value.node)].weights) {
      double elements = 1;
      for (const DimId dim : graph_.values[static_cast<size_t>(weight)].shape) elements *= at(dim);
      weights = std::max(weights, elements);
    }
    // Transposed ones go by the positions of what they read.
    const double positions =
        std::min(Elements(id) / at(value.shape[1]), Elements(value.operands[0]) / at(read[1]));
    return 2 * positions * weights;
  }

  // Several launches that cost the host more than the device, all of which a graph may hold:
  // nothing waits for the device.
  bool Replays() const {
    if (language_ != Language::kTriton || !Allows("replay_graph") || candidate_.own_kernels == 0)
      return false;
    static const std::set<std::string> kHeld = {"view",      "matmul",    "conv",      "activation",
                                                "pointwise", "norm",      "pool",      "softmax",
                                                "resample",  "reduction", "attention", "shape"};
    // Microseconds of the host: a launch by Triton with what is allocated for it, calls of
    // PyTorch, and a replay. The device's rates are those of a large one.
    constexpr double kOwnLaunch = 40, kConv = 35, kCall = 15, kView = 4, kReplay = 20, kCopy = 8;
    constexpr double kBytesPerUs = 3e6, kFlopsPerUs = 5e7, kLeast = 2;
    const double bytes = graph_.precision == synth::Precision::kFp32 ? 4 : 2;
    // What a caller does between two calls hides so much of the host's time.
    constexpr double kHidden = 40;
    double host_us = 0, device_us = 0, replay_us = kReplay;
    for (const Plan::Step& step : plan_.steps) {
      double elements = 0, flops = 0, launches = 0;
      if (step.region >= 0) {
        const Region& region = plan_.regions[static_cast<size_t>(step.region)];
        if (region.outputs.empty()) continue;
        for (const auto& [id, placement] : region.placements)
          if (p_[id].kind == Kind::kLeaf || p_[id].kind == Kind::kOpaque) elements += Elements(id);
        if (const Id product = fused_[static_cast<size_t>(step.region)]; product >= 0)
          flops = OpaqueFlops(p_[product], product);
        for (const Id output : region.outputs) elements += 2 * Elements(output);
        launches = launches_.at(step.region);
        host_us += kOwnLaunch * launches;
      } else {
        const TensorValue& value = p_[step.value];
        if (value.kind != Kind::kOpaque) continue;
        if (value.own && std::find(fused_.begin(), fused_.end(), step.value) != fused_.end())
          continue;
        if (!value.effect && !kHeld.contains(value.what) && !templates_.contains(step.value))
          return false;
        if (value.what == "view" || value.view) {
          host_us += kView;
          continue;
        }
        elements = Elements(step.value);
        for (const Id operand : value.operands) elements += Elements(operand);
        if (value.what == "matmul" || value.what == "conv" || value.what == "attention")
          flops = OpaqueFlops(value, step.value);
        const bool own = value.own || templates_.contains(step.value);
        host_us += own ? kOwnLaunch : value.what == "conv" ? kConv : kCall;
        launches = 1;
      }
      device_us +=
          std::max(kLeast * launches, bytes * elements / kBytesPerUs + flops / kFlopsPerUs);
    }
    // Inputs are copied into the graph's, results out of it.
    const auto copied = [&](double elements) {
      device_us += kLeast + 2 * bytes * elements / kBytesPerUs;
      replay_us += kCopy;
    };
    for (const synth::ValueId input : graph_.inputs) {
      double elements = 1;
      for (const DimId dim : graph_.values[static_cast<size_t>(input)].shape)
        elements *= p_.At(dim, synth::Binding::kCuda);
      copied(elements);
    }
    for (const Id output : p_.outputs) copied(Elements(output));
    return host_us > kHidden + device_us && host_us > kCall + replay_us;
  }

  // The fresh result of a vendor call that an output may overwrite: nothing else reads it, and the
  // kernel reads each of its elements where it writes. -1: none.
  Id Overwritten(const Region& region, Id output) {
    if (region.HasReduction() || p_[output].dtype != DType::kFloat) return -1;
    for (const Id member : region.members)
      for (const Id operand : p_[member].operands) {
        const TensorValue& value = p_[operand];
        const std::string rule = value.what == "conv"     ? "vendor_conv_epilogue"
                                 : value.what == "matmul" ? "vendor_matmul_epilogue"
                                                          : "";
        if (value.kind != Kind::kOpaque || rule.empty() || !Allows(rule) || value.view ||
            value.own || !value.contiguous || value.dtype != DType::kFloat ||
            overwritten_.contains(operand) || !region.placements.contains(operand) ||
            region.placements.at(operand).axes != region.placements.at(output).axes)
          continue;
        if (std::any_of(region.members.begin(), region.members.end(), [&](Id reader) {
              return p_[reader].kind == Kind::kLoad && p_[reader].operands[0] == operand;
            }))
          continue;  // elements are read elsewhere than where they are written
        bool only_here =
            std::find(p_.outputs.begin(), p_.outputs.end(), operand) == p_.outputs.end();
        for (size_t i = 0; i < p_.values.size(); ++i) {
          const auto& reads = p_.values[i].operands;
          if (std::find(reads.begin(), reads.end(), operand) != reads.end() &&
              std::find(region.members.begin(), region.members.end(), static_cast<Id>(i)) ==
                  region.members.end())
            only_here = false;
        }
        if (!only_here) continue;
        overwritten_.insert(operand);
        Use(rule);
        return operand;
      }
    return -1;
  }

  void Allocate(const Region& region) {
    for (const Id output : region.outputs) {
      const TensorValue& value = p_[output];
      const auto update = std::find_if(p_.updates.begin(), p_.updates.end(),
                                       [&](const auto& stored) { return stored.first == output; });
      if (update != p_.updates.end()) {
        Line(fmt::format("{} = {}", Variable(output), p_[update->second].text));
        continue;
      }
      if (const Id fresh = Overwritten(region, output); fresh >= 0) {
        Line(fmt::format("{} = {}", Variable(output), Variable(fresh)));
        continue;
      }
      std::string like;
      for (size_t i = 0; i < graph_.inputs.size() && like.empty(); ++i) {
        const auto& input = InputValue(i);
        bool same = input.dtype == DType::kFloat && value.dtype == DType::kFloat &&
                    input.shape.size() == value.shape.size() && !value.shape.empty();
        for (size_t k = 0; same && k < value.shape.size(); ++k)
          same = p_.Same(value.shape[k], input.shape[k]);
        if (same) like = task_.parts.inputs[i];
      }
      if (!like.empty()) {
        read_inputs_.insert(like);
        Line(fmt::format("{} = torch.empty_like({})", Variable(output), like));
        continue;
      }
      std::vector<std::string> sizes;
      for (const DimId dim : value.shape) sizes.push_back(p_.SizeText(dim));
      std::string type = value.dtype == DType::kBool ? "torch.bool" : "torch.int64";
      if (value.dtype == DType::kFloat) {
        type = graph_.precision == synth::Precision::kFp32   ? "torch.float32"
               : graph_.precision == synth::Precision::kBf16 ? "torch.bfloat16"
                                                             : "torch.float16";
        for (size_t i = graph_.inputs.size(); i-- > 0;)
          if (InputValue(i).dtype == DType::kFloat) type = task_.parts.inputs[i] + ".dtype";
      }
      Line(fmt::format("{} = torch.empty(({}{}), device={}.device, dtype={})", Variable(output),
                       synth::Join(sizes, ", "), sizes.size() == 1 ? "," : "",
                       task_.parts.inputs[0], type));
    }
  }

  std::string KernelName(const Region& region, Id product) {
    std::vector<std::string> parts;
    if (product >= 0 && p_[product].node >= 0)
      parts.push_back(graph_.nodes[static_cast<size_t>(p_[product].node)].op->name);
    for (const Id member : region.members) {
      const int node = p_[member].node;
      if (node < 0) continue;
      const std::string& name = graph_.nodes[static_cast<size_t>(node)].op->name;
      if (parts.size() < 3 && (parts.empty() || parts.back() != name)) parts.push_back(name);
    }
    return UniqueName(synth::Join(parts, "_"));
  }
  std::string UniqueName(const std::string& what) {
    const std::string base = what + "_kernel";
    std::string name = base;
    for (int n = 2; !kernel_names_.insert(name).second; ++n) name = fmt::format("{}{}", base, n);
    return name;
  }

  std::string File(const std::string& kernels, const std::string& bindings,
                   const std::set<std::string>& helpers) {
    const bool triton = language_ == Language::kTriton, cuda = language_ == Language::kCuda;
    std::string forward;
    for (const std::string& line : forward_) forward += "        " + line + "\n";
    std::string result;
    for (size_t i = 0; i < p_.outputs.size(); ++i) {
      const std::string name = Name(p_.outputs[i]);
      if (task_.parts.result == "dict")
        result += fmt::format("{}\"{}\": {}", i ? ", " : "", task_.parts.result_keys[i], name);
      else
        result += (i ? ", " : "") + name;
    }
    if (task_.parts.result == "dict") result = "{" + result + "}";
    if (task_.parts.result == "list") result = "[" + result + "]";
    const std::string body = task_.parts.helpers + task_.parts.constructor + forward;
    std::string file;
    if (body.find("math.") != std::string::npos) file += "import math\n\n";
    file += "import torch\nimport torch.nn as nn\n";
    if (body.find("F.") != std::string::npos) file += "import torch.nn.functional as F\n";
    if (!kernels.empty())
      file += triton ? "import triton\nimport triton.language as tl\n"
                     : "\nimport davinci_runtime as dv\n";
    const auto binding =
        static_cast<size_t>(triton || cuda ? synth::Binding::kCuda : synth::Binding::kCpu);
    if (!task_.parts.constants[binding].empty()) file += "\n" + task_.parts.constants[binding];
    if (!kernels.empty() && triton) file += "\n\n" + TritonPrelude(helpers) + kernels;
    if (!kernels.empty() && cuda)
      file += fmt::format("\nSOURCE = r\"\"\"\n{}{}\"\"\"\n\nkernels = dv.cuda_module(SOURCE)\n{}",
                          CudaPrelude(helpers, kernels), kernels, bindings);
    if (!kernels.empty() && !triton && !cuda) {
      const std::string prelude = math_.Definitions(helpers);
      const std::string memory =
          std::string(kernels.find("std::fill") == std::string::npos ? ""
                                                                     : "#include <algorithm>\n") +
          (kernels.find("std::make_unique") == std::string::npos ? "" : "#include <memory>\n");
      file += fmt::format(
          "\n# errno and floating-point traps keep loops from vectorising; fused products round "
          "otherwise than PyTorch.\nFLAGS = [\"-fno-math-errno\", \"-fno-trapping-math\", "
          "\"-ffp-contract=off\"]\nSOURCE = r\"\"\"\n#include <bit>\n#include <cmath>\n#include "
          "<cstdint>\n{}\n{}{}{}\"\"\"\n\nkernels = dv.cpp_module(SOURCE, FLAGS)\n{}",
          memory, prelude, prelude.empty() ? "" : "\n", kernels, bindings);
    }
    file += "\n\n" + task_.parts.helpers + task_.parts.constructor;
    const std::string inputs = synth::Join(task_.parts.inputs, ", ");
    const bool replays = candidate_.rules.contains("replay_graph");
    file += fmt::format("    def {}(self, {}):\n", replays ? "compute" : "forward", inputs);
    for (const std::string& input : task_.parts.inputs)
      if (read_inputs_.contains(input))
        file += fmt::format("        {0} = {0}.contiguous()\n", input);
    file += forward + "        return " + result + "\n";
    return replays ? file + Replay(inputs) : file;
  }

  // forward() by a graph of compute().
  std::string Replay(const std::string& inputs) const {
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
    const std::string restore =
        pure ? ""
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
                       inputs, task_.parts.inputs[0], shapes, copies, result, clones, save,
                       restore);
  }

  Program p_;
  const synth::Graph& graph_;
  const synth::RenderedTask& task_;
  Language language_;
  const std::set<std::string>& allowed_;
  const MathText& math_;
  Plan plan_;
  std::vector<Id> fused_;        // by region: the product whose epilogue it is, or -1
  std::map<int, int> launches_;  // by region
  Candidate candidate_;
  std::vector<std::string> forward_;
  std::string kernels_, bindings_;
  std::set<std::string> helpers_;
  std::set<std::string> read_inputs_, kernel_names_;
  std::set<Id> templates_;  // values that a template computes
  std::set<Id> overwritten_;
  std::map<Id, Id> slices_;  // loads that read a slice, and the view that PyTorch makes of it
};

}  // namespace

const std::vector<Rule>& Rules() {
  static const std::set<Language> all = {Language::kTriton, Language::kCpp, Language::kCuda};
  static const std::vector<Rule> rules = {
      {"fuse_pointwise", "fuse-pointwise-chain", all},
      {"fuse_around_reduction", "fuse-add-into-norm", all},
      {"fuse_reductions", "two-results-from-one-load", all},
      {"vendor_matmul_epilogue", "vendor-matmul-plus-epilogue", all},
      {"vendor_conv_epilogue", "vendor-conv-plus-epilogue", all},
      {"warp_rows", "warp-per-short-row", {Language::kCuda}},
      {"wide_loads", "sixteen-byte-loads", {Language::kCuda}},
      {"scale_by_diagonal", "diagonal-as-row-scale", {Language::kTriton, Language::kCpp}},
      {"reassociate", "reassociate-products", {Language::kTriton, Language::kCpp}},
      {"reduce_weights", "reassociate-products", {Language::kTriton, Language::kCpp}},
      {"compensated_tf32", "fp32-product-as-three-tf32", {Language::kTriton}},
      {"product_epilogue", "matmul-epilogue-activation", {Language::kTriton}},
      {"group_tiles", "group-tiles-for-l2", {Language::kTriton}},
      {"skip_triangle", "skip-triangular-tiles", {Language::kTriton}},
      {"softmax_in_registers", "softmax-row-in-registers", {Language::kTriton}},
      {"norm_in_registers", "norm-row-kept-in-registers", {Language::kTriton}},
      {"scan_tiles", "recurrence-as-tile-scan", {Language::kTriton}},
      {"read_slices", "strides-instead-of-contiguous", all},
      {"many_rows", "many-short-rows-per-program", {Language::kTriton}},
      {"split_rows", "split-few-long-rows", {Language::kTriton}},
      {"one_pass_variance", "one-pass-lane-variance", {Language::kTriton}},
      {"plane_blocks", "no-division-in-index", {Language::kTriton}},
      {"replay_graph", "replay-launches-as-graph", {Language::kTriton}},
      {"flash_attention_triton", "flash-attention-tiles", {Language::kTriton}},
      {"flash_attention_cpp", "attention-in-cache-tiles", {Language::kCpp}},
      {"stop_at_diagonal_triton", "causal-attention-stop-at-diagonal", {Language::kTriton}},
      {"stop_at_diagonal_cpp", "skip-masked-triangle", {Language::kCpp}},
      {"select_largest", "largest-k-in-one-read", {Language::kTriton, Language::kCpp}},
      {"gather_into_places", "scatter-by-owner", {Language::kTriton, Language::kCpp}},
      {"columns_triton", "lanes-along-contiguous-dim", {Language::kTriton}},
      {"columns_cpp", "reduce-columns-row-by-row", {Language::kCpp}},
      {"fast_exp", "branch-free-exp", {Language::kCpp}},
      {"inline_erf", "gelu-with-inline-erf", {Language::kCpp}},
      {"stored_values", "branch-free-exp", {Language::kCpp}},
      {"pick_class", "cross-entropy-without-probabilities", {Language::kCpp}},
      {"partial_sums", "independent-partial-sums", {Language::kCpp}},
  };
  return rules;
}

std::string_view LevelName(Level level) {
  return level == Level::kNaive ? "naive" : level == Level::kBetter ? "better" : "best";
}

std::set<std::string> Teacher::RulesOf(Level level, Language language) {
  std::set<std::string> rules;
  if (level == Level::kNaive) return rules;
  for (const Rule& rule : Rules()) {
    if (!rule.languages.contains(language)) continue;
    const bool fusion = rule.name.starts_with("fuse_") || rule.name.starts_with("vendor_");
    if (fusion || level == Level::kBest) rules.insert(rule.name);
  }
  return rules;
}

Result<Teacher> Teacher::Load(const std::filesystem::path& synth_folder) {
  Teacher teacher;
  DAVINCI_ASSIGN_OR_RETURN(teacher.tables_, LoadTables(synth_folder / "teacher"));
  return teacher;
}

Result<Candidate> Teacher::Write(const synth::Graph& graph, const synth::RenderedTask& task,
                                 Language language, const std::set<std::string>& allowed) const {
  const synth::Binding binding =
      language == Language::kCpp || task.fixed_sizes ? synth::Binding::kCpu : synth::Binding::kCuda;
  DAVINCI_ASSIGN_OR_RETURN(Program program, Lower(graph, task.parts, tables_, {allowed, binding}));
  program.fixed_sizes = task.fixed_sizes;
  return Writer(std::move(program), graph, task, language, allowed, tables_.math).Write();
}

}  // namespace davinci::teacher
