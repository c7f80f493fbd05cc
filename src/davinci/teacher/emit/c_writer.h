// Kernels in C++ and CUDA C++: the text of a value, indices, parameters and the call. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/teacher/emit/region_writer.h"

namespace davinci::teacher {

class CWriter : protected RegionWriter {
 protected:
  // `index`: the type of indices.
  CWriter(Program* program, const Region& region, const KernelForm& form,
          const EmitOptions& options, std::string index)
      : RegionWriter(program, region, form, options, 2), index_(std::move(index)) {}
  ~CWriter() = default;

  // The type of an element in memory.
  virtual std::string StoredType(DType type) = 0;
  // The form of a primitive in the language; notes what it needs.
  virtual std::string PrimitiveForm(const TensorValue& value) = 0;  // of a kPoint
  // An element of memory as what is computed with, and back.
  virtual std::string AsFloat(Id id, const std::string& text) const = 0;
  virtual std::string AsStored(Id id, const std::string& text);
  virtual std::string IndexText(int axis) const;
  virtual std::string Scan(Id) { return "?"; }
  // Decided() returns the text of a value that the loops' ranges decide, Chosen() the operand that
  // it equals; "" and nothing where they do not.
  virtual std::string Decided(Id) const { return ""; }
  virtual std::optional<Id> Chosen(Id) const { return std::nullopt; }
  // Whether the kernel's text holds the size of the axis; else it is a parameter.
  virtual bool HoldsSize(const LoopAxis&) const { return false; }

  void Open(const std::string& line);
  void Close();

  // The text of a value where the cursor stands; emits lines for what it needs.
  std::string Text(Id id);
  std::string Assign(Id id, const std::string& text);
  std::string Element(const KernelTensor& tensor) const;
  void Store(const KernelTensor& tensor);
  // Row values that are there after so many passes.
  void RowStatements(int after);
  // Outputs that are row values.
  void StoreRows();
  bool StoresRows() const;
  // Indices of axes from one flat index.
  void Decompose(const std::vector<int>& axes, const std::string& flat);
  // What a type is computed with.
  std::string Type(DType type) const;

  static std::string Neutral(ReduceKind kind);

  // Parameters of the kernel, what a call gives for them, and their codes in the binding.
  struct Signature {
    std::vector<std::string> parameters, arguments, types;
  };
  Signature MakeSignature();
  // Fills `text_.binding`.
  void Bind(const std::string& symbol, const Signature& signature);

  std::string index_;

 private:
  std::string Scalar(Id id) const;
};

}  // namespace davinci::teacher
