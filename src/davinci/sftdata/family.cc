#include "davinci/sftdata/family.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "davinci/skill/reference_query.h"

namespace davinci::sftdata {
namespace {

struct Family {
  const char* name;
  std::vector<std::string_view>
      words;  // lower case, without underscores; a word may begin with one
};

// A word counts where the reference's identifier, in lower case without '_' and digits, begins with
// it: conv2d, Conv1d and conv_transpose3d are "conv".
const std::vector<Family>& Table() {
  static const std::vector<Family> table = {
      {"attention", {"scaleddotproductattention", "multiheadattention", "attention", "attn"}},
      {"recurrent", {"lstm", "gru", "rnn"}},
      {"scan", {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "scan"}},
      {"conv", {"conv"}},
      {"matmul", {"matmul", "linear", "bmm", "mm", "addmm", "baddbmm", "einsum", "bilinear", "mv"}},
      {"fft", {"fft", "rfft", "ifft", "irfft", "stft", "istft"}},
      {"sort", {"sort", "argsort", "topk", "kthvalue", "msort", "unique", "searchsorted"}},
      {"gather",
       {"embedding", "gather", "scatter", "indexselect", "indexadd", "take", "onehot", "bincount",
        "maskedselect"}},
      {"pool", {"maxpool", "avgpool", "adaptive", "lppool", "pool"}},
      {"resample", {"interpolate", "upsample", "gridsample", "pixelshuffle", "unfold", "fold"}},
      {"loss",
       {"crossentropy", "mseloss", "nllloss", "kldiv", "smoothl", "huberloss", "lloss",
        "binarycrossentropy", "bceloss", "bcewithlogits", "cosineembedding", "tripletmargin",
        "hingeembedding", "ctcloss"}},
      {"softmax", {"softmax", "logsoftmax", "softmin", "gumbelsoftmax", "logsumexp"}},
      {"norm",
       {"layernorm", "batchnorm", "groupnorm", "instancenorm", "rmsnorm", "localresponsenorm",
        "normalize", "norm"}},
      {"reduction",
       {"sum", "mean", "amax", "amin", "max", "min", "prod", "var", "std", "argmax", "argmin",
        "all", "any", "median"}},
      {"activation",
       {"relu",     "gelu",       "silu",     "elu",         "selu",      "celu",  "mish",
        "sigmoid",  "hardswish",  "hardtanh", "hardsigmoid", "leakyrelu", "prelu", "softplus",
        "softsign", "logsigmoid", "tanh",     "threshold",   "glu",       "swish"}},
      {"shape",
       {"permute", "transpose", "reshape", "view", "cat", "stack", "roll", "flip", "pad", "repeat",
        "tile", "chunk", "split"}},
      {"pointwise", {"add",   "mul",   "sub",   "div",   "exp",  "log",    "sqrt",   "rsqrt",
                     "pow",   "abs",   "clamp", "where", "sin",  "cos",    "square", "erf",
                     "round", "floor", "ceil",  "sign",  "lerp", "addcmul"}},
  };
  return table;
}

std::string Plain(std::string_view word) {
  std::string plain;
  for (const char c : word)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

// Short words have to be the whole identifier: "mm" is in "dummy" as "all" is in "allow".
bool Names(std::string_view identifier, std::string_view word) {
  constexpr size_t kShort = 5;
  return word.size() < kShort && word != "conv" && word != "fold" ? identifier == word
                                                                  : identifier.starts_with(word);
}

}  // namespace

std::string FamilyOf(std::string_view reference) {
  const std::string query = skill::QueryFromReference(reference);
  std::set<std::string> identifiers;
  for (size_t begin = 0; begin < query.size();) {
    const size_t end = std::min(query.find(' ', begin), query.size());
    identifiers.insert(Plain(std::string_view(query).substr(begin, end - begin)));
    begin = end + 1;
  }
  for (const Family& family : Table())
    for (const std::string_view word : family.words)
      for (const std::string& identifier : identifiers)
        if (Names(identifier, word)) return family.name;
  // Operators written as symbols.
  for (const std::string_view symbol : {" + ", " * ", " - ", " / "})
    if (reference.find(symbol) != std::string_view::npos) return "pointwise";
  return "other";
}

const std::vector<std::string>& Families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family& family : Table()) all.emplace_back(family.name);
    all.emplace_back("other");
    return all;
  }();
  return names;
}

}  // namespace davinci::sftdata
