#include "davinci/base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "davinci/base/split_mix.h"

namespace davinci {

struct Sha256::Context {
  EVP_MD_CTX* evp = nullptr;
  ~Context() { EVP_MD_CTX_free(evp); }
};

namespace {

// OpenSSL fails here only when memory is gone or SHA-256 is not compiled in; there is no way to go
// on without it.
void Require(bool ok) {
  if (ok) return;
  std::fputs("davinci: OpenSSL cannot compute SHA-256\n", stderr);
  std::abort();
}

std::string ToHex(const std::array<uint8_t, 32>& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (uint8_t byte : digest) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->evp = EVP_MD_CTX_new();
  Require(context_->evp != nullptr && EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::Update(std::string_view bytes) {
  Require(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::Field(std::string_view bytes) {
  std::array<char, 8> length;
  uint64_t rest = bytes.size();
  for (char& byte : length) {
    byte = static_cast<char>(rest & 0xff);
    rest >>= 8;
  }
  Update(std::string_view(length.data(), length.size()));
  return Update(bytes);
}

std::array<uint8_t, 32> Sha256::Finish() {
  std::array<uint8_t, 32> digest{};
  Require(EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) == 1);
  return digest;
}

std::string Sha256::FinishHex() { return ToHex(Finish()); }

std::string Sha256Hex(std::string_view bytes) { return Sha256().Update(bytes).FinishHex(); }

Result<std::string> Sha256HexOfFile(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return FromErrno(errno, fmt::format("cannot open {}", path.string()));
  Sha256 hash;
  char buffer[1 << 16];
  size_t got = sizeof(buffer);
  while (got == sizeof(buffer)) {  // less is the end of the file, or an error
    got = std::fread(buffer, 1, sizeof(buffer), file);
    hash.Update({buffer, got});
  }
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return FromErrno(error, fmt::format("reading {}", path.string()));
  return hash.FinishHex();
}

uint64_t HashBytes(std::string_view bytes, uint64_t seed) {
  // FNV-1a, mixed.
  uint64_t hash = 0xcbf29ce484222325ull ^ (seed * 0x9e3779b97f4a7c15ull);
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return SplitMix64(hash).Next();
}

}  // namespace davinci
