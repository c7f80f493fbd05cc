#include "davinci/teacher/semantics/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/table_reader.h"

namespace davinci::teacher {

using synth::LoadTable;
using synth::TableReader;

namespace {

bool Names(const PythonExpression& e, const std::string& name) {
  if (e.kind == PythonExpression::Kind::kName && e.text == name) return true;
  const auto holds = [&](const PythonExpression& part) { return Names(part, name); };
  return std::any_of(e.parts.begin(), e.parts.end(), holds) ||
         std::any_of(e.keywords.begin(), e.keywords.end(),
                     [&](const auto& keyword) { return holds(keyword.value); });
}

// "sum(x, dim=None)"
Signature SignatureOf(const PythonExpression& call) {
  Signature signature;
  for (size_t i = 1; i < call.parts.size(); ++i) signature.parameters.push_back(call.parts[i].text);
  for (const auto& [name, value] : call.keywords) {
    signature.parameters.push_back(name);
    signature.defaults.emplace(name, value);
  }
  return signature;
}

Status AddFunction(TableReader row, Tables* tables) {
  const std::string def = row.Text("def", ""), is = row.Text("is", "");
  Function function;
  function.def = def;
  function.is = is;
  auto signature = PythonExpression::Parse(def);
  if (!signature.ok()) return row.Error(signature.status().message());
  auto body = PythonExpression::Parse(is);
  if (!body.ok()) return row.Error(body.status().message());
  if (signature->kind != PythonExpression::Kind::kCall) return row.Error("def wants NAME(…)");
  static_cast<Signature&>(function) = SignatureOf(*signature);
  function.body = std::move(*body);
  for (const std::string& condition : row.Texts("when")) {
    const size_t at = condition.find("==");
    if (at == std::string::npos) return row.Error("when wants PARAMETER==VALUE");
    function.when[condition.substr(0, at)] = condition.substr(at + 2);
  }
  const std::vector<std::string> unused = row.Texts("unused");
  for (const std::string& name : function.parameters) {
    const bool told = name == "inplace" || function.when.contains(name) ||
                      std::find(unused.begin(), unused.end(), name) != unused.end();
    if (!told && !Names(function.body, name))
      return row.Error(fmt::format("{} does not depend on {}: say so with `when` or `unused`",
                                   signature->parts[0].DottedName(), name));
  }
  DAVINCI_RETURN_IF_ERROR(row.Finish());
  auto& all = tables->functions[signature->parts[0].DottedName()];
  if (function.when.empty())
    all.push_back(std::move(function));
  else
    all.insert(all.begin(), std::move(function));
  return Status::Ok();
}

}  // namespace

Result<Tables> LoadTables(const std::filesystem::path& folder) {
  Tables tables;
  DAVINCI_ASSIGN_OR_RETURN(tables.kinds, LoadCallKinds(folder / "families.toml"));
  DAVINCI_ASSIGN_OR_RETURN(tables.math, MathText::Load(folder / "math.cpp"));
  DAVINCI_ASSIGN_OR_RETURN(const auto primitives, LoadTable(folder / "primitives.toml"));
  TableReader top(primitives);
  for (TableReader& row : top.Rows("primitive")) {
    Primitive primitive;
    primitive.name = row.Text("name", "");
    primitive.arguments = static_cast<int>(row.Integer("args", 1));
    primitive.triton = row.Text("triton", "");
    primitive.cpp = row.Text("cpp", "");
    primitive.gives_bool = row.Number("bool", 0) != 0;
    primitive.integer = row.Number("integer", 0) != 0;
    primitive.cpp_library = row.Text("cpp_library", "");
    if (const std::string rule = row.Text("cpp_rule", ""); !rule.empty()) {
      primitive.cpp_rule = RuleNamed(rule);
      if (!primitive.cpp_rule) return row.Error("the teacher has no rule " + rule);
    }
    primitive.helpers = tables.math.CalledBy(primitive.cpp);
    DAVINCI_RETURN_IF_ERROR(row.Finish());
    tables.primitives[primitive.name] = primitive;
  }
  DAVINCI_RETURN_IF_ERROR(top.Finish());
  DAVINCI_ASSIGN_OR_RETURN(const auto functions, LoadTable(folder / "functions.toml"));
  TableReader list(functions);
  for (TableReader& row : list.Rows("function")) DAVINCI_RETURN_IF_ERROR(AddFunction(row, &tables));
  DAVINCI_RETURN_IF_ERROR(list.Finish());
  for (const auto& [name, definitions] : tables.functions)
    tables.signatures.emplace(name, definitions[0]);
  DAVINCI_ASSIGN_OR_RETURN(const auto signatures, LoadTable(folder / "signatures.toml"));
  TableReader calls(signatures);
  for (const std::string& text : calls.Texts("signature")) {
    const auto call = PythonExpression::Parse(text);
    if (!call.ok() || call->kind != PythonExpression::Kind::kCall)
      return calls.Error(text + " is no NAME(…)");
    if (!tables.signatures.emplace(call->parts[0].DottedName(), SignatureOf(*call)).second)
      return calls.Error(call->parts[0].DottedName() + " has two signatures");
  }
  DAVINCI_RETURN_IF_ERROR(calls.Finish());
  return tables;
}

}  // namespace davinci::teacher
