// A call as the function that knows it sees it, and the registry of these functions by name.
//
// A name is known here or to the tables (tables.h), never to both; functions_test.cc holds that.
// A function returns Unknown(…) for what it cannot express: the call stays one of PyTorch.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/teacher/semantics/builder.h"
#include "davinci/teacher/semantics/meaning.h"

namespace davinci::teacher {

// Functions by name, those of the tables as well.
class Definitions {
 public:
  virtual Result<Meaning> Apply(const std::string& name, const Meanings& arguments) = 0;

 protected:
  ~Definitions() = default;
};

struct Call {
  Builder& b;
  Definitions& defined;
  std::string name;  // without torch., F., …
  Meanings arguments;
  Keywords keywords;

  // By position or keyword; kNone where it is not given.
  Meaning Argument(size_t at, const char* keyword) const;
  Meaning Keyword(const char* keyword) const { return Argument(arguments.size(), keyword); }
  // The first argument of a call, where that is a tensor.
  Id x() const { return arguments[0].id; }
  std::vector<DimId> Shape() const { return b.p[x()].shape; }
  size_t Rank() const { return b.p[x()].shape.size(); }
  // The axis that `dim` names; nothing: there are several. None names that of a tensor of one axis.
  std::optional<size_t> OneAxis(const Meaning& dim) const;
  Status NotKnown() const { return Unknown(name); }
};

// A call of a module, whose weights lie below `path`.
struct ModuleCall {
  Builder& b;
  Definitions& defined;
  std::string name;    // "nn.LayerNorm"
  Meanings arguments;  // of the constructor
  Keywords keywords;
  Meanings inputs;  // the first is a tensor
  std::string path;
  bool training;

  Id x() const { return inputs[0].id; }
  std::vector<DimId> Shape() const { return b.p[x()].shape; }
  Meaning Argument(size_t at, const char* keyword) const;
  Meaning Number(const char* keyword, double otherwise) const;
  Meaning Weight(const std::string& weight, std::vector<DimId> shape) const;
  // The function with the first input and the constructor's arguments.
  Call As(const std::string& function) const;
  Status NotKnown() const { return Unknown(name); }
};

class FunctionRegistry {
 public:
  using Function = Result<Meaning> (*)(const Call&);
  using ModuleFunction = Result<Meaning> (*)(const ModuleCall&);

  struct Entry {
    Function function = nullptr;
    bool of_tensor = true;  // known only where the first argument is a tensor
  };

  // A name that is added twice ends the program.
  void Add(std::initializer_list<const char*> names, Function function);
  // Adds functions whose first argument may be anything.
  void AddFree(std::initializer_list<const char*> names, Function function);
  void AddModules(std::initializer_list<const char*> names, ModuleFunction function);

  const Entry* Find(const std::string& name) const;
  ModuleFunction FindModule(const std::string& name) const;
  std::vector<std::string> Names() const;  // of both kinds

 private:
  std::map<std::string, Entry> functions_;
  std::map<std::string, ModuleFunction> modules_;
};

}  // namespace davinci::teacher
