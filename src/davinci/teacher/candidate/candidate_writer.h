// One task as the text of a candidate in one language: the plan of its kernels, the lines of
// forward(), and the file. Internal.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/data/reply_form.h"
#include "davinci/synth/render.h"
#include "davinci/teacher/candidate/candidate.h"
#include "davinci/teacher/candidate/file_kernels.h"
#include "davinci/teacher/candidate/imported_file.h"
#include "davinci/teacher/emit/emitter.h"
#include "davinci/teacher/program/math_text.h"
#include "davinci/teacher/regions/fusion.h"
#include "davinci/teacher/regions/product.h"

namespace davinci::teacher {

// How many kernels PyTorch launches for an operator that is written so.
int EagerKernels(std::string_view form);

class CandidateWriter {
 public:
  CandidateWriter(Program program, const synth::Graph& graph, const synth::RenderedTask& task,
                  Language language, const RuleSet& rules, const MathText& math, ReplyForm form,
                  const LaunchSettings& launch, FileKernels* file)
      : p_(std::move(program)),
        graph_(graph),
        task_(task),
        language_(language),
        rules_(RulesFor(rules, language, form, task.parts.imported.has_value())),
        math_(math),
        brief_(form == ReplyForm::kDelta && language == Language::kTriton),
        form_(form),
        launch_(launch),
        file_(file) {}

  Result<Candidate> Write();
  // The candidate without its text, for a file of several shapes: its kernels are in `file`.
  Result<Candidate> Compose();
  // After Compose(): the forward() of an imported module.
  ImportedForward Forward() const;

 private:
  // The prelude of delta replies has no kernels that split the factors of a product, and its replay
  // takes tensors alone.
  static RuleSet RulesFor(const RuleSet& rules, Language language, ReplyForm form, bool imported) {
    RuleSet allowed = rules.In(language);
    if (form == ReplyForm::kDelta) allowed.Erase(Rule::kSplitOperands);
    if (form == ReplyForm::kDelta && imported) allowed.Erase(Rule::kReplayGraph);
    return allowed;
  }
  bool Allows(Rule rule) const { return rules_.Contains(rule); }
  bool FlashAttention() const {
    return Allows(Rule::kFlashAttentionTriton) || Allows(Rule::kFlashAttentionCpp);
  }
  void Line(const std::string& line) {
    (in_constants_ ? constant_lines_ : forward_).push_back(line);
  }
  std::string Variable(Id id) const {
    const auto other = aliases_.find(id);
    return other == aliases_.end() ? p_.Variable(id) : other->second;
  }
  void Use(Rule rule) { candidate_.rules.Insert(rule); }

  // Which products get a kernel, and what follows in it. One whose kernel needs an epilogue to gain
  // anything stays with the library where it has none.
  void MakePlan();
  ProductKernel KernelOf(Id value, const Region& region, const LaunchSettings& launch);
  // Lines that split a factor of a product, transposed where asked; the names of both parts. Once
  // for all products that read it.
  std::pair<std::string, std::string> Split(Id factor, bool transposed);
  void NoteProduct(const ProductKernel& kernel, bool epilogue);
  // Kernels read slices where they lie, or, without the rule, copies of them.
  void ReadSlices();
  // Takes the cheaper of two ways to a sum of a product's results where only the sum reads them.
  void LeaveOutProducts();

  // Kernels, and which rules their texts show.
  void Take(KernelText text);
  // True where an earlier kernel of a delta reply is the same but for its name; the call gets that.
  bool IsRepeated(KernelText* text);
  void NoteStructure(Id id);
  // Notes the rules that the text shows.
  void Note(const Region& region, const KernelText& text);
  std::string KernelName(const Region& region, Id product);
  std::string UniqueName(const std::string& what);

  // Finds the calls of an imported module that read no number of an input or a weight (positions,
  // masks). Their results are made once for a device and kept.
  void FindConstants();
  // Variables of constants that forward() reads.
  std::vector<std::string> ReadConstants() const;

  // Lines of forward().
  std::string Host(Id id);
  // An input in the order of its axes in memory: no copy where it lies as it was traced.
  std::string HostAsItLies(Id id);
  void Opaque(Id id);
  // The value by a kernel template, where there is one and its rule is allowed.
  bool OwnTemplate(Id id);
  // Where a region reads the value.
  void MakeContiguous(Id id);
  // A tensor of PyTorch's that may not be contiguous.
  bool IsStrided(Id id) const;
  std::string Name(Id id) const;
  const synth::Value& InputValue(size_t i) const;
  // The fresh result of a vendor call that an output may overwrite: nothing else reads it, and the
  // kernel reads each of its elements where it writes. -1: none.
  Id Overwritten(const Region& region, Id output);
  bool DependsOn(const Region& region, Id output, Id operand) const;
  void Allocate(const Region& region);

  // Microseconds of a call, estimated for a large device and its host; `held`: a graph may hold all
  // launches, as nothing waits for the device.
  struct Costs {
    double host_us = 0, device_us = 0, replay_host_us = 0, replay_device_us = 0;
    bool held = true;
  };
  Costs OwnCosts() const;
  // The step of the plan that moves or computes most; -1: none.
  int CostliestStep() const;
  Work WorkOfPlan() const;
  Work WorkOfEager() const;
  double ElementsOf(const std::vector<DimId>& shape) const;
  double Elements(Id id) const;
  // Of a convolution or a matrix product.
  double OpaqueFlops(const TensorValue& value, Id id) const;
  // Several launches that cost the host more than the device, which a graph may hold.
  bool Replays() const;
  // A graph may hold the call: it does not wait for the device, nor does it draw random numbers.
  bool IsHeld(const TensorValue& value) const;
  // PyTorch's own kernels are expected to be as fast.
  bool PrefersVendor() const;
  // forward() by a graph of compute().
  std::string Replay(const std::string& inputs) const;

  // True where kernels alone read the value, so that those of a delta reply may get the memory that
  // it is a view of.
  bool OnlyKernelsRead(Id id) const;
  void NameShortly(KernelForm* form, bool product);
  std::string Delta(const std::string& kernels) const;
  std::string ImportedDelta(const std::string& kernels) const;

  std::string ResultText() const;
  // The lines of forward(), in C++ with deletions of what is no longer read.
  std::vector<std::string> LinesOfForward() const;
  // The whole file.
  std::string File() const;

  Program p_;
  const synth::Graph& graph_;
  const synth::RenderedTask& task_;
  Language language_;
  const RuleSet rules_;
  const MathText& math_;
  const bool brief_;  // names and texts as short as they can be
  const ReplyForm form_;
  std::map<std::string, std::string> kernels_by_text_;
  std::map<Id, std::string> aliases_;  // values that lie in another one's memory
  const LaunchSettings launch_;        // of the costliest step's kernel
  FileKernels* const file_;
  Plan plan_;
  std::vector<Id> fused_;        // by region: the product whose epilogue it is, or -1
  std::map<int, int> launches_;  // by region
  Candidate candidate_;
  std::vector<std::string> forward_, constant_lines_;
  bool in_constants_ = false;
  std::set<Id> constants_;
  std::map<std::pair<Id, bool>, std::pair<std::string, std::string>> split_;
  std::set<std::string> read_inputs_, turned_inputs_;
  std::set<Id> templates_;  // values that a template computes
  std::set<Id> overwritten_;
  std::set<Id> strided_;     // reshapes of views
  std::map<Id, Id> slices_;  // loads that read a slice, and the view that PyTorch makes of it
};

}  // namespace davinci::teacher
