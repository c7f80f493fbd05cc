// One task as a candidate in one language: the plan of its kernels, their texts, and the lines of
// forward(). Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "davinci/data/reply_form.h"
#include "davinci/teacher/candidate/candidate_text.h"
#include "davinci/teacher/candidate/draft.h"
#include "davinci/teacher/candidate/forward_lines.h"
#include "davinci/teacher/emit/emitter.h"
#include "davinci/teacher/regions/product.h"

namespace davinci::teacher {

class CandidateWriter {
 public:
  CandidateWriter(Program program, const synth::Graph& graph, const synth::RenderedTask& task,
                  Language language, const RuleSet& rules, const MathText& math, AnswerForm form,
                  const LaunchSettings& launch, FileKernels* file);
  CandidateWriter(const CandidateWriter&) = delete;
  CandidateWriter& operator=(const CandidateWriter&) = delete;

  Result<Candidate> Write();
  // The candidate without its text, for a file of several shapes: its kernels are in `file`.
  Result<Candidate> Compose();
  // After Compose(): the forward() of an imported module.
  ImportedForward Forward() const { return CandidateText(d_).Forward(); }

 private:
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
  // Finds the calls of an imported module that read no number of an input or a weight (positions,
  // masks). Their results are made once for a device and kept.
  void FindConstants();

  // Kernels, and which rules their texts show.
  // `operators`: what the kernel computes; "": no comment says so. `nodes`: whose steps it takes.
  void Take(KernelText text, const std::set<int>& nodes, const std::string& operators = "");
  // True where an earlier kernel of a delta reply is the same but for its name; the call gets that.
  bool IsRepeated(const std::set<int>& nodes, KernelText* text);
  // The value by a kernel template, where there is one and its rule is allowed.
  bool OwnTemplate(Id id);
  void NoteStructure(Id id);
  // Notes the rules that the text shows.
  void Note(const Region& region, const KernelText& text);
  std::string KernelName(const Region& region, Id product);
  std::string UniqueName(const std::string& what);

  Draft d_;
  ForwardLines lines_{&d_};
  const LaunchSettings launch_;  // of the costliest step's kernel
  std::map<std::string, std::string> kernels_by_text_;
  std::map<std::pair<Id, bool>, std::pair<std::string, std::string>> split_;
  std::map<Id, Id> slices_;  // loads that read a slice, and the view that PyTorch makes of it
};

}  // namespace davinci::teacher
