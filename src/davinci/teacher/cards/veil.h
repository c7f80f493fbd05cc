// An operator under another name and with other numbers, alike in a task, its answer and the
// operator's card: what it computes stands on the card alone, or in the task's file as well. Rows
// of this kind teach a model to read cards. Pure: the same random numbers give the same veil.
//
//   y = F.leaky_relu(x)   ->   from ops import soft_ramp … y = soft_ramp(x)
//                              card: soft_ramp(x, negative_slope=0.37)
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/variation.h"
#include "davinci/teacher/cards/card_subject.h"

namespace davinci::teacher {

struct Veil {
  // How the task's file comes by the name; kPyTorch: as if PyTorch had it, "F.soft_ramp".
  enum class Source { kNameOfModule, kModule, kDefined, kPyTorch };
  std::string function, klass;  // "soft_ramp", "SoftRamp"
  std::string module;           // that the file imports it from
  Source source = Source::kNameOfModule;
  std::map<std::string, double> attrs;  // defaults that differ from PyTorch's
  std::string form;                     // a definition with other numbers; "": the operator's own
};

// The result is empty where the task does not call the operator by a name of PyTorch, or calls
// another operator by the same name.
std::optional<Veil> DrawVeil(const CardSubject& subject, const synth::SampledTask& task,
                             const synth::Corpus& corpus, SplitMix64* rng);

// Another number of the same size, of three digits.
double OtherNumber(double value, SplitMix64* rng);
// The veil's name for a call: "ops.SoftRamp" for "nn.LeakyReLU".
std::string VeiledCall(const Veil& veil, const std::string& call);
// A text with the veil's names for the operator's.
std::string Veiled(std::string text, const CardSubject& subject, const Veil& veil);
// The numbers of the graph and the definition that kernels are written for.
void ApplyNumbers(const CardSubject& subject, const Veil& veil, synth::SampledTask* task);
// The file of a task: names, and the import or definition.
void ApplyNames(const CardSubject& subject, const Veil& veil, synth::SampledTask* task);

}  // namespace davinci::teacher
