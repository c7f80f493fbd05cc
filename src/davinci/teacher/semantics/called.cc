#include "davinci/teacher/semantics/called.h"

#include <algorithm>
#include <cctype>

#include "davinci/synth/table_reader.h"

namespace davinci::teacher {
namespace {

using EKind = PythonExpression::Kind;

constexpr std::pair<std::string_view, std::string_view> kNamesOfSigns[] = {
    {"+", "__add__"}, {"-", "__sub__"},  {"*", "__mul__"}, {"/", "__truediv__"},
    {"%", "__mod__"}, {"**", "__pow__"}, {"<", "__lt__"},  {"//", "__floordiv__"},
    {">", "__gt__"},  {"<=", "__le__"},  {">=", "__ge__"}, {"@", "__matmul__"},
    {"&", "__and__"}, {"|", "__or__"},   {"==", "__eq__"}, {"!=", "__ne__"}};

std::string NameOfSign(const std::string& sign) {
  for (const auto& [text, name] : kNamesOfSigns)
    if (text == sign) return std::string(name);
  return sign;
}

std::string LastName(const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); }

// The name at the root of attributes and subscripts: "self" of self.layers[0].norm and of
// getattr(self, '0').
std::string RootOf(const PythonExpression& e) {
  const PythonExpression* at = &e;
  for (;;) {
    const bool getattr = at->kind == EKind::kCall && at->parts[0].kind == EKind::kName &&
                         at->parts[0].text == "getattr" && at->parts.size() > 1;
    if (!getattr && at->kind != EKind::kAttribute && at->kind != EKind::kSubscript) break;
    at = &at->parts[getattr ? 1 : 0];
  }
  return at->kind == EKind::kName ? at->text : "";
}

bool IsOfNumbers(const PythonExpression& index) {
  if (index.kind == EKind::kName)
    return index.text == "None" || index.text == "..." || index.text.starts_with("dimid_");
  return std::all_of(index.parts.begin(), index.parts.end(), IsOfNumbers);
}

// A vector with a new axis.
bool IsSpread(const PythonExpression& e, const std::set<std::string>& vectors) {
  const PythonExpression* of = nullptr;
  if (e.kind == EKind::kSubscript)
    of = &e.parts[0];
  else if (e.kind == EKind::kCall && e.parts[0].kind == EKind::kAttribute &&
           e.parts[0].text == "unsqueeze")
    of = &e.parts[0].parts[0];
  return of != nullptr && of->kind == EKind::kName && vectors.contains(of->text);
}

class Walk {
 public:
  explicit Walk(const std::string& made_by) : made_by_(made_by) {}

  void See(const PythonExpression& e) {
    switch (e.kind) {
      case EKind::kCall:
        return SeeCall(e);
      case EKind::kBinary:
        found.push_back(NameOfSign(e.text));
        break;
      case EKind::kUnary:
        if (e.parts[0].kind == EKind::kNumber) return;
        if (e.text == "-") found.emplace_back("__neg__");
        if (e.text == "~") found.emplace_back("__invert__");
        break;
      case EKind::kSubscript:
        found.emplace_back(
            std::all_of(e.parts.begin() + 1, e.parts.end(), IsOfNumbers) ? "slice" : "__getitem__");
        return See(e.parts[0]);
      case EKind::kAttribute:
        if (e.DottedName().starts_with("torch.")) return;  // of types
        if (e.text == "T" || e.text == "mT") found.push_back(e.text);
        break;
      default:
        break;
    }
    for (const PythonExpression& part : e.parts) See(part);
  }

  std::vector<std::string> found;

 private:
  void SeeCall(const PythonExpression& call) {
    const PythonExpression& function = call.parts[0];
    const std::string dotted = function.DottedName();
    const std::string root = RootOf(function);
    if (dotted == "module_") {
      found.push_back(made_by_.empty() ? "module" : made_by_);
    } else if (root == "self") {
      found.emplace_back("module");
    } else if (function.kind == EKind::kName || root == "torch" || root == "F" || root == "math" ||
               root == "nn") {
      found.push_back(LastName(dotted.empty() ? function.text : dotted));
    } else {
      found.push_back(function.text);
      See(function.parts[0]);
    }
    for (size_t i = 1; i < call.parts.size(); ++i) See(call.parts[i]);
    for (const auto& [keyword, value] : call.keywords) See(value);
  }

  const std::string& made_by_;
};

bool IsNumber(const PythonExpression& e, int64_t number) {
  if (e.kind == EKind::kUnary && e.text == "-") return IsNumber(e.parts[0], -number);
  return e.kind == EKind::kNumber && e.text == std::to_string(number);
}

// A name, or a name with its last two axes swapped.
bool ReadFactor(const PythonExpression& e, const std::map<std::string, size_t>& rank,
                std::string* name, bool* transposed) {
  if (e.kind == EKind::kName) {
    *name = e.text;
    return rank.contains(e.text) && rank.at(e.text) >= 2;
  }
  const PythonExpression* method = e.kind == EKind::kCall ? &e.parts[0] : &e;
  if (method->kind != EKind::kAttribute || method->parts[0].kind != EKind::kName) return false;
  const auto found = rank.find(method->parts[0].text);
  if (found == rank.end() || found->second < 2) return false;
  const auto axes = static_cast<int64_t>(found->second);
  const auto is_axis = [&](size_t at, int64_t axis) {
    return IsNumber(e.parts[at], axis) || IsNumber(e.parts[at], axis - axes);
  };
  *name = found->first;
  *transposed = true;
  if (e.kind == EKind::kAttribute) return e.text == "mT" || (e.text == "T" && axes == 2);
  if (method->text == "t") return e.parts.size() == 1 && axes == 2;
  return method->text == "transpose" && e.parts.size() == 3 && e.keywords.empty() &&
         ((is_axis(1, axes - 2) && is_axis(2, axes - 1)) ||
          (is_axis(1, axes - 1) && is_axis(2, axes - 2)));
}

}  // namespace

Result<CallKinds> LoadCallKinds(const std::filesystem::path& file) {
  DAVINCI_ASSIGN_OR_RETURN(const auto tree, synth::LoadTable(file));
  synth::TableReader table(tree);
  CallKinds kinds;
  for (const std::string& kind : table.Keys())
    for (const std::string& name : table.Texts(kind))
      if (!kinds.emplace(name, kind).second) return table.Error(name + " is of two kinds");
  DAVINCI_RETURN_IF_ERROR(table.Finish());
  return kinds;
}

std::vector<std::string> CalledFunctions(const PythonExpression& text, const std::string& made_by,
                                         const std::set<std::string>& vectors) {
  Walk walk(made_by);
  walk.See(text);
  std::vector<std::string>& found = walk.found;
  if (found.empty()) found.emplace_back("identity");
  const std::string second = found.size() > 1 ? found[1] : "";
  if (found[0] == "nn.Softmin" || (found[0] == "softmax" && second == "__neg__"))
    found[0] = "softmin";
  if (found[0] == "sum" && second == "diagonal") found[0] = "trace";
  if (found[0] == "__mul__" &&
      (IsSpread(text.parts[0], vectors) || IsSpread(text.parts[1], vectors)))
    found[0] = "outer";
  return found;
}

std::vector<std::string> CalledFunctions(const std::string& text) {
  if (text.find(" for ") != std::string::npos) return {"comprehension"};
  const std::string before = text.substr(0, text.find('('));
  return {before.starts_with("self.") ? "module" : LastName(before)};
}

std::string ShortFunctionName(const std::string& dotted) {
  if (dotted.starts_with("nn.") && dotted.find('.', 3) == std::string::npos) return dotted;
  if (dotted == "torch.linalg.norm") return "linalg_norm";  // of a matrix, unlike torch.norm
  for (const std::string_view prefix :
       {"torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.", "F.", "math."})
    if (dotted.starts_with(prefix)) return dotted.substr(prefix.size());
  return dotted;
}

bool IsFreeFunction(const PythonExpression& function, const std::string& name) {
  return function.kind == PythonExpression::Kind::kName || name.starts_with("torch.") ||
         name.starts_with("F.") || name.starts_with("math.") || name.starts_with("nn.");
}

std::string KindOfCall(const std::vector<std::string>& called, const CallKinds& kinds) {
  for (const std::string& name : called) {
    const auto found = kinds.find(name);
    if (found == kinds.end()) return "other";
    if (found->second != "view") return found->second;
  }
  return "view";
}

std::optional<CalledProduct> ProductOf(const PythonExpression& text,
                                       const std::map<std::string, size_t>& rank) {
  std::vector<const PythonExpression*> factors;
  bool linear = false;
  if (text.kind == EKind::kBinary && text.text == "@") {
    factors = {&text.parts[0], &text.parts[1]};
  } else if (text.kind == EKind::kCall && text.parts[0].kind == EKind::kAttribute &&
             text.keywords.empty()) {
    const PythonExpression& function = text.parts[0];
    const std::string& name = function.text;
    const std::string root = RootOf(function);
    linear = name == "linear" && (root == "F" || root == "torch");
    if (!linear && name != "matmul" && name != "mm" && name != "bmm") return std::nullopt;
    if (!linear && root != "torch") factors.push_back(&function.parts[0]);
    for (size_t i = 1; i < text.parts.size(); ++i) factors.push_back(&text.parts[i]);
  }
  CalledProduct product;
  if (linear && factors.size() == 3) {
    if (factors[2]->kind != EKind::kName || !rank.contains(factors[2]->text)) return std::nullopt;
    product.bias = factors[2]->text;
    factors.pop_back();
  }
  if (factors.size() != 2 ||
      !ReadFactor(*factors[0], rank, &product.left, &product.left_transposed) ||
      !ReadFactor(*factors[1], rank, &product.right, &product.right_transposed))
    return std::nullopt;
  if (linear) product.right_transposed = !product.right_transposed;
  // Leading axes are rows of the left factor, or those of a batch, which both have.
  if (rank.at(product.right) > 2 && rank.at(product.right) != rank.at(product.left))
    return std::nullopt;
  if (product.left_transposed && rank.at(product.left) != rank.at(product.right))
    return std::nullopt;
  return product;
}

}  // namespace davinci::teacher
