// Kernels in Triton that reduce or scan rows: held in registers, read in blocks pass after pass, or
// spread over several programs each. Internal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davinci/teacher/emit/triton/triton_writer.h"

namespace davinci::teacher {

class TritonRows : private TritonWriter {
 public:
  // `form` gets what one pass gives at once (KernelForm::variance_of).
  TritonRows(Program* program, const Region& region, KernelForm* form, const EmitOptions& options)
      : TritonWriter(program, region, *form, options), own_form_(*form) {}
  KernelText Write();

 private:
  static constexpr double kPrograms = 264;  // that keep a large device busy

  // Short windows that loads read, as in pooling: lanes along the windows, one element of each
  // after the other, so that neighbouring lanes read neighbouring elements.
  bool IsOfWindows(double cols) const;
  // Elements of a block that lies in a plane, the innermost reduced axis, where few of them stick
  // out of it; else `otherwise`, and blocks run over planes.
  double PlaneBlock(double otherwise);
  std::string BlocksText() const;
  std::string StepsText() const;
  void Row(const std::string& rows_text);
  std::string Constants(int64_t rows_per, const std::string& block) const;

  // Passes over blocks of rows.
  std::string Accumulate(ReduceKind kind, const std::string& sum, const std::string& what,
                         bool nan);
  // The reductions of a pass are known behind it, or, with `partial`, stored as parts of that name.
  void Pass(int pass, const std::string& cols_text, const std::string& range,
            const std::vector<std::string>* partial);
  void StoreParts(const std::vector<Id>& reduces, const std::vector<std::string>& sums,
                  const std::vector<std::string>& names);
  // The element whose squares about the mean are summed.
  Id Element(Id squares) const;
  // Sums about the first element of each lane: its distance from the lane's mean is no larger than
  // the sum of squares, so little cancels.
  void Squares(const std::string& n, Id element);
  // The sum of squares about the mean of all lanes, whose elements have the sum `sum`.
  std::string AboutMean(const std::string& n, const std::string& sum);
  bool PassNeeds(int pass, Id value) const;
  bool ReadBy(Id member) const;

  // Rows over several programs.
  struct Split {
    std::string rows_text, cols_text, grid;
    int64_t rows_per;
    double width, splits;
  };
  // Over how many programs a row is spread; `programs` for all rows, of so many blocks each.
  static double SplitsOf(double programs, double blocks);
  // Few long rows: for each pass a kernel whose programs reduce parts of rows, and store what they
  // found; the next one begins by combining it.
  void SplitRows(const std::vector<std::string>& parameters,
                 const std::vector<std::string>& arguments, const Split& split);
  // Reductions of a pass and of later ones.
  std::vector<Id> Reduced(int pass) const;
  // The same from the parts of a row.
  void CombineSquares(Id squares, const std::string& name);

  KernelForm& own_form_;             // form_
  std::map<Id, std::string> parts_;  // of reductions of earlier passes, in a row's programs
  int warps_ = 4;
};

}  // namespace davinci::teacher
