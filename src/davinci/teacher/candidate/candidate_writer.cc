#include "davinci/teacher/candidate/candidate_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_costs.h"
#include "davinci/teacher/candidate/candidate_text.h"
#include "davinci/teacher/candidate/short_names.h"
#include "davinci/teacher/candidate/step_answer.h"
#include "davinci/teacher/regions/view_strides.h"
#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

// The prelude of delta replies has no kernels that split the factors of a product, and its replay
// takes tensors alone.
RuleSet RulesFor(const RuleSet& rules, Language language, ReplyForm form,
                 const synth::ClassParts& parts) {
  RuleSet allowed = rules.In(language);
  if (form == ReplyForm::kDelta) allowed.Erase(Rule::kSplitOperands);
  if (form == ReplyForm::kDelta && parts.imported && parts.imported->arguments != parts.inputs)
    allowed.Erase(Rule::kReplayGraph);
  return allowed;
}

// The nodes of a region and of the product in front of it.
std::set<int> NodesOf(const Draft& draft, const Region& region, Id product) {
  std::set<int> nodes;
  if (product >= 0) nodes.insert(draft.program[product].node);
  for (const Id member : region.members) nodes.insert(draft.program[member].node);
  return nodes;
}

// The names of their operators, in the order of the task: "linear, add, gelu".
std::string OperatorNames(const Draft& draft, const std::set<int>& nodes) {
  std::vector<std::string> names;
  for (const int node : nodes) {
    if (node < 0) continue;
    const synth::Node& from = draft.graph.nodes[static_cast<size_t>(node)];
    if (!from.view) names.push_back(from.op != nullptr ? from.op->name : from.label);
  }
  return synth::Join(names, ", ");
}

// Returns whether a line reads "t7.shape" before the line "t7 = …".
bool ReadsShapeTooEarly(const std::vector<std::string>& lines) {
  std::set<std::string> made;
  for (const std::string& line : lines) {
    for (size_t at = 0; (at = line.find(".shape[", at)) != std::string::npos; ++at) {
      size_t begin = at;
      while (begin > 0 && synth::IsWordChar(line[begin - 1])) --begin;
      const std::string name = line.substr(begin, at - begin);
      const bool variable = name.size() > 1 && name[0] == 't' &&
                            name.find_first_not_of("0123456789", 1) == std::string::npos &&
                            (begin == 0 || line[begin - 1] != '.');
      if (variable && !made.contains(name)) return true;
    }
    made.insert(line.substr(0, line.find(" = ")));
  }
  return false;
}

}  // namespace

CandidateWriter::CandidateWriter(Program program, const synth::Graph& graph,
                                 const synth::RenderedTask& task, Language language,
                                 const RuleSet& rules, const MathText& math, AnswerForm form,
                                 const LaunchSettings& launch, FileKernels* file)
    : d_{std::move(program),
         graph,
         task,
         language,
         RulesFor(rules, language, form.reply, task.parts),
         math,
         IsBrief(form.reply, language),
         IsBrief(form.reply, language) ? form.steps : nullptr,
         file},
      launch_(launch) {}

Result<Candidate> CandidateWriter::Write() {
  DAVINCI_ASSIGN_OR_RETURN(Candidate candidate, Compose());
  candidate.source = d_.brief ? CandidateText(d_).Delta() : CandidateText(d_).File();
  return candidate;
}

Result<Candidate> CandidateWriter::Compose() {
  ReadSlices();
  LeaveOutProducts();
  if (d_.FlashAttention()) RecognizeAttention(&d_.program);
  if (d_.language == Language::kCpp && d_.Allows(Rule::kReadSlices)) FindStrides(&d_.program);
  MakePlan();
  FindConstants();
  const int costliest = CandidateCosts(d_).CostliestStep();
  for (size_t i = 0; i < d_.plan.steps.size(); ++i) {
    const Plan::Step& step = d_.plan.steps[i];
    const LaunchSettings launch = static_cast<int>(i) == costliest ? launch_ : LaunchSettings();
    Region region;
    std::optional<ProductKernel> product;
    if (step.region < 0) {
      if (!d_.program[step.value].own) {
        NoteStructure(step.value);
        d_.in_constants = d_.constants.contains(step.value);
        if (d_.in_constants || !OwnTemplate(step.value)) lines_.Opaque(step.value);
        d_.in_constants = false;
        continue;
      }
      if (std::find(d_.fused.begin(), d_.fused.end(), step.value) != d_.fused.end()) continue;
      region = RegionOf(d_.program, step.value);
      product = KernelOf(step.value, region, launch);
    } else {
      region = d_.plan.regions[static_cast<size_t>(step.region)];
      if (region.outputs.empty()) continue;
      if (const Id value = d_.fused[static_cast<size_t>(step.region)]; value >= 0) {
        product = KernelOf(value, region, launch);
        region = EpilogueOf(d_.program, std::move(region), value);
      }
    }
    lines_.Allocate(region);
    static const std::set<std::string> kProductNames = {"left", "right", "bias", "total"};
    KernelForm form = MakeForm(
        &d_.program, region, KernelName(region, product ? product->value : -1),
        [&](Id id) {
          return region.turned.contains(id) ? lines_.HostAsItLies(id) : lines_.Host(id);
        },
        product ? kProductNames : std::set<std::string>());
    if (product)
      std::erase_if(form.inputs,
                    [&](const KernelTensor& tensor) { return tensor.value == product->value; });
    if (d_.brief) NameShortly(&d_.program, &form, product.has_value());
    const EmitOptions options{d_.rules, d_.brief, launch, NamesInKernels(d_)};
    const KernelText text =
        d_.language == Language::kTriton
            ? EmitTriton(&d_.program, region, form, options, product ? &*product : nullptr)
        : d_.language == Language::kCuda ? EmitCuda(&d_.program, region, form, options)
                                         : EmitCpp(&d_.program, region, form, options);
    if (text.source.empty())
      return InvalidArgument("CUDA C++ is not the tool for a scan or few long rows");
    if (product) NoteProduct(*product, step.region >= 0);
    if (synth::Replaced(text.source, " ? ", "").find('?') != std::string::npos ||
        synth::Join(text.call, "").find('?') != std::string::npos)
      return InvalidArgument("a kernel reads a size or value that is not there");
    if (step.region >= 0)
      d_.launches[step.region] = static_cast<int>(std::count_if(
          text.call.begin(), text.call.end(),
          [&](const std::string& line) { return line.find(form.name) != std::string::npos; }));
    const std::set<int> nodes = NodesOf(d_, region, product ? product->value : -1);
    Take(text, nodes, OperatorNames(d_, nodes));
    Note(region, text);
  }
  for (const std::string& line : d_.forward)
    if (line.find('?') != std::string::npos) return InvalidArgument("a size that no tensor shows");
  if (d_.brief && ReadsShapeTooEarly(d_.forward))
    return InvalidArgument("a size of a result that is not there yet");
  d_.candidate.left.insert(d_.candidate.left.begin(), d_.program.left.begin(),
                           d_.program.left.end());
  const CandidateCosts costs(d_);
  if (costs.Replays())
    d_.Use(Rule::kReplayGraph);
  else if (d_.language == Language::kTriton && d_.candidate.own_kernels > 0 &&
           d_.Allows(Rule::kDirectLaunch))
    d_.Use(Rule::kDirectLaunch);
  d_.candidate.prefers_vendor = costs.PrefersVendor();
  d_.candidate.work = costs.WorkOfPlan();
  d_.candidate.eager = costs.WorkOfEager();
  d_.candidate.skills = d_.candidate.rules.Skills();
  return d_.candidate;
}

void CandidateWriter::Take(KernelText text, const std::set<int>& nodes,
                           const std::string& operators) {
  ++d_.candidate.own_kernels;
  if (d_.task.parts.imported) {
    std::vector<std::string> known;
    const std::vector<std::string> lines = d_.file->CallOfKnown(text, &known);
    for (const std::string& line : lines) d_.Line(line);
    if (d_.steps != nullptr) AddFurtherNotes(nodes, text, known, &d_);
    if (!lines.empty()) return;
  }
  const bool fresh = !d_.brief || !IsRepeated(nodes, &text);
  // What it computes, step by step, in front of the steps.
  const size_t body = text.source.find("):\n");
  if (d_.steps != nullptr && fresh)
    AddKernelNotes(nodes, &d_, &text);
  else if (d_.brief && !operators.empty() && body != std::string::npos)
    text.source.insert(body + 3, fmt::format("    # {}\n", operators));
  d_.file->Add(text, d_.language, fresh);
  for (const std::string& line : text.call) d_.Line(line);
}

bool CandidateWriter::IsRepeated(const std::set<int>& nodes, KernelText* text) {
  static constexpr std::string_view kBegin = "@kernel\ndef ";
  if (!text->source.starts_with(kBegin) ||
      text->source.find(kBegin, kBegin.size()) != std::string::npos)
    return false;
  const size_t end = text->source.find('(');
  const std::string name = text->source.substr(kBegin.size(), end - kBegin.size());
  const auto [known, fresh] = kernels_by_text_.try_emplace(text->source.substr(end), name);
  if (fresh) return false;
  if (d_.steps != nullptr) AddFurtherNotes(nodes, *text, {known->second}, &d_);
  for (std::string& line : text->call) line = synth::WithWord(line, name, known->second);
  d_.file->names.erase(name);
  return true;
}

bool CandidateWriter::OwnTemplate(Id id) {
  const TensorValue& value = d_.program[id];
  if (value.kind != Kind::kOpaque || value.kernel.empty()) return false;
  auto text = EmitTemplate({&d_.program, id, UniqueName(value.kernel), d_.Variable(id),
                            [&](Id read) { return lines_.Host(read); }, d_.rules},
                           d_.language);
  if (!text) {
    const bool vendor = d_.FlashAttention() && value.kernel == "attention";
    if (value.node >= 0 && !vendor) {
      const auto node = static_cast<size_t>(value.node);
      d_.candidate.left.push_back({d_.graph.nodes[node].label, d_.program.calls[node].kind,
                                   "no template for these sizes or rules"});
    }
    return false;
  }
  // As every kernel of a delta reply: a grid of one axis is no tuple there.
  if (d_.brief)
    text->source = synth::Replaced(
        synth::Replaced(text->source, "@triton.jit\ndef ", "@kernel\ndef "), ": tl.constexpr", "");
  Take(*text, {value.node});
  d_.templates.insert(id);
  d_.candidate.rules.Insert(text->used);
  lines_.MakeContiguous(id);
  return true;
}

void CandidateWriter::NoteStructure(Id id) {
  if (const auto found = d_.program.by_rule.find(id); found != d_.program.by_rule.end())
    d_.Use(found->second);
}

void CandidateWriter::Note(const Region& region, const KernelText& text) {
  d_.candidate.rules.Insert(text.used);
  for (const Id member : region.members) {
    NoteStructure(member);
    if (slices_.contains(member)) d_.Use(Rule::kReadSlices);
  }
  std::set<int> nodes, reducing;
  bool reduces = false;
  for (const Id member : region.members) {
    if (d_.program[member].kind == Kind::kReshape) continue;
    nodes.insert(d_.program[member].node);
    if (d_.program[member].kind == Kind::kReduce || d_.program[member].kind == Kind::kScan) {
      reduces = true;
      reducing.insert(d_.program[member].node);
    }
  }
  if (nodes.size() < 2) return;
  for (const Id member : region.members)
    for (const Id operand : d_.program[member].operands) {
      if (d_.program[operand].what == "matmul" && !d_.program[operand].own)
        d_.Use(Rule::kVendorMatmulEpilogue);
      if (d_.program[operand].what == "conv") d_.Use(Rule::kVendorConvEpilogue);
    }
  if (!reduces) d_.Use(Rule::kFusePointwise);
  if (reduces && nodes.size() > reducing.size()) d_.Use(Rule::kFuseAroundReduction);
  if (reducing.size() > 1) d_.Use(Rule::kFuseReductions);
}

std::string CandidateWriter::KernelName(const Region& region, Id product) {
  std::vector<std::string> parts;
  if (product >= 0 && d_.program[product].node >= 0)
    parts.push_back(d_.graph.nodes[static_cast<size_t>(d_.program[product].node)].label);
  for (const Id member : region.members) {
    const int node = d_.program[member].node;
    if (node < 0) continue;
    const std::string& name = d_.graph.nodes[static_cast<size_t>(node)].label;
    if (parts.size() < 3 && (parts.empty() || parts.back() != name)) parts.push_back(name);
  }
  return UniqueName(synth::Join(parts, "_"));
}

std::string CandidateWriter::UniqueName(const std::string& what) {
  if (d_.brief) {
    std::string name;
    for (int n = 1; !d_.file->names.insert(name = fmt::format("f{}", n)).second; ++n) continue;
    return name;
  }
  return d_.file->UniqueName(what + "_kernel");
}

}  // namespace davinci::teacher
