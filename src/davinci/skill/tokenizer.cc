#include "davinci/skill/tokenizer.h"

#include <algorithm>

namespace davinci::skill {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordByte(char c) {
  return IsUpper(c) || IsLower(c) || IsDigit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool IsHump(std::string_view word, size_t i) {
  if (!IsUpper(word[i])) return false;
  if (IsLower(word[i - 1]) || IsDigit(word[i - 1])) return true;
  return IsUpper(word[i - 1]) && i + 1 < word.size() && IsLower(word[i + 1]);
}

void Emit(std::string_view part, std::vector<std::string>* tokens) {
  if (part.size() < 2 || std::all_of(part.begin(), part.end(), IsDigit)) return;
  std::string token(part);
  for (char& c : token)
    if (IsUpper(c)) c = static_cast<char>(c - 'A' + 'a');
  tokens->push_back(std::move(token));
}

void EmitWord(std::string_view word, std::vector<std::string>* tokens) {
  std::string whole;
  size_t num_parts = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= word.size(); ++i) {
    const bool ends = i == word.size() || word[i] == '_' || (i > begin && IsHump(word, i));
    if (!ends) continue;
    if (i > begin) {
      Emit(word.substr(begin, i - begin), tokens);
      whole += word.substr(begin, i - begin);
      ++num_parts;
    }
    begin = i < word.size() && word[i] == '_' ? i + 1 : i;
  }
  if (num_parts > 1) Emit(whole, tokens);
}

}  // namespace

std::vector<std::string> Tokenize(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    if (!IsWordByte(text[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsWordByte(text[end])) ++end;
    EmitWord(text.substr(i, end - i), &tokens);
    i = end;
  }
  return tokens;
}

std::vector<std::string> TokenizeSkill(const Skill& skill) {
  std::string text = skill.name + "\n" + skill.description + "\n";
  for (const std::string& tag : skill.tags) text += tag + "\n";
  return Tokenize(text + skill.content);
}

}  // namespace davinci::skill
