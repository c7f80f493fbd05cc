#include "davinci/teacher/candidate/candidate_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

Result<Candidate> CandidateWriter::Write() {
  DAVINCI_ASSIGN_OR_RETURN(Candidate candidate, Compose());
  candidate.source = brief_ ? Delta(file_->kernels) : File();
  return candidate;
}

Result<Candidate> CandidateWriter::Compose() {
  ReadSlices();
  LeaveOutProducts();
  if (FlashAttention()) RecognizeAttention(&p_);
  MakePlan();
  FindConstants();
  const int costliest = CostliestStep();
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Plan::Step& step = plan_.steps[i];
    const LaunchSettings launch = static_cast<int>(i) == costliest ? launch_ : LaunchSettings();
    Region region;
    std::optional<ProductKernel> product;
    if (step.region < 0) {
      if (!p_[step.value].own) {
        NoteStructure(step.value);
        in_constants_ = constants_.contains(step.value);
        if (in_constants_ || !OwnTemplate(step.value)) Opaque(step.value);
        in_constants_ = false;
        continue;
      }
      if (std::find(fused_.begin(), fused_.end(), step.value) != fused_.end()) continue;
      region = RegionOf(p_, step.value);
      product = KernelOf(step.value, region, launch);
    } else {
      region = plan_.regions[static_cast<size_t>(step.region)];
      if (region.outputs.empty()) continue;
      if (const Id value = fused_[static_cast<size_t>(step.region)]; value >= 0) {
        product = KernelOf(value, region, launch);
        region = EpilogueOf(p_, std::move(region), value);
      }
    }
    Allocate(region);
    static const std::set<std::string> kProductNames = {"left", "right", "bias", "total"};
    KernelForm form = MakeForm(
        &p_, region, KernelName(region, product ? product->value : -1),
        [&](Id id) { return region.turned.contains(id) ? HostAsItLies(id) : Host(id); },
        product ? kProductNames : std::set<std::string>());
    if (product)
      std::erase_if(form.inputs,
                    [&](const KernelTensor& tensor) { return tensor.value == product->value; });
    if (brief_) NameShortly(&form, product.has_value());
    const EmitOptions options{rules_, brief_, launch};
    const KernelText text =
        language_ == Language::kTriton
            ? EmitTriton(&p_, region, form, options, product ? &*product : nullptr)
        : language_ == Language::kCuda ? EmitCuda(&p_, region, form, options)
                                       : EmitCpp(&p_, region, form, options);
    if (text.source.empty())
      return InvalidArgument("CUDA C++ is not the tool for a scan or few long rows");
    if (product) NoteProduct(*product, step.region >= 0);
    if (synth::Replaced(text.source, " ? ", "").find('?') != std::string::npos ||
        synth::Join(text.call, "").find('?') != std::string::npos)
      return InvalidArgument("a kernel reads a size or value that is not there");
    if (step.region >= 0)
      launches_[step.region] = static_cast<int>(std::count_if(
          text.call.begin(), text.call.end(),
          [&](const std::string& line) { return line.find(form.name) != std::string::npos; }));
    Take(text);
    Note(region, text);
  }
  for (const std::string& line : forward_)
    if (line.find('?') != std::string::npos) return InvalidArgument("a size that no tensor shows");
  candidate_.left.insert(candidate_.left.begin(), p_.left.begin(), p_.left.end());
  if (Replays())
    Use(Rule::kReplayGraph);
  else if (language_ == Language::kTriton && candidate_.own_kernels > 0 &&
           Allows(Rule::kDirectLaunch))
    Use(Rule::kDirectLaunch);
  candidate_.prefers_vendor = PrefersVendor();
  candidate_.work = WorkOfPlan();
  candidate_.eager = WorkOfEager();
  candidate_.skills = candidate_.rules.Skills();
  return candidate_;
}

void CandidateWriter::Take(KernelText text) {
  ++candidate_.own_kernels;
  if (task_.parts.imported) {
    const std::vector<std::string> lines = file_->CallOfKnown(text);
    for (const std::string& line : lines) Line(line);
    if (!lines.empty()) return;
  }
  file_->Add(text, language_, !brief_ || !IsRepeated(&text));
  for (const std::string& line : text.call) Line(line);
}

void CandidateWriter::NoteStructure(Id id) {
  if (const auto found = p_.by_rule.find(id); found != p_.by_rule.end()) Use(found->second);
}

void CandidateWriter::Note(const Region& region, const KernelText& text) {
  candidate_.rules.Insert(text.used);
  for (const Id member : region.members) {
    NoteStructure(member);
    if (slices_.contains(member)) Use(Rule::kReadSlices);
  }
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
      if (p_[operand].what == "matmul" && !p_[operand].own) Use(Rule::kVendorMatmulEpilogue);
      if (p_[operand].what == "conv") Use(Rule::kVendorConvEpilogue);
    }
  if (!reduces) Use(Rule::kFusePointwise);
  if (reduces && nodes.size() > reducing.size()) Use(Rule::kFuseAroundReduction);
  if (reducing.size() > 1) Use(Rule::kFuseReductions);
}

std::string CandidateWriter::KernelName(const Region& region, Id product) {
  std::vector<std::string> parts;
  if (product >= 0 && p_[product].node >= 0)
    parts.push_back(graph_.nodes[static_cast<size_t>(p_[product].node)].label);
  for (const Id member : region.members) {
    const int node = p_[member].node;
    if (node < 0) continue;
    const std::string& name = graph_.nodes[static_cast<size_t>(node)].label;
    if (parts.size() < 3 && (parts.empty() || parts.back() != name)) parts.push_back(name);
  }
  return UniqueName(synth::Join(parts, "_"));
}

std::string CandidateWriter::UniqueName(const std::string& what) {
  if (brief_) {
    std::string name;
    for (int n = 1; !file_->names.insert(name = fmt::format("f{}", n)).second; ++n) continue;
    return name;
  }
  return file_->UniqueName(what + "_kernel");
}

}  // namespace davinci::teacher
