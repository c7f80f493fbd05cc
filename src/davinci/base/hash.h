// SHA-256, the project's only content hash: cache keys, task and candidate identities, provenance;
// and a fast hash for tables and seeds.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci {

// Streaming hash; one object hashes one message. Not thread-safe, movable.
//
//   Sha256 hash;
//   hash.Update("abc");
//   std::string name = hash.FinishHex();  // "ba7816bf…", 64 lower-case hex digits
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& Update(std::string_view bytes);
  // Length-prefixed, so that Field("ab").Field("c") and Field("a").Field("bc") differ. Use it for
  // keys made of parts.
  Sha256& Field(std::string_view bytes);

  // Ends the message; the object must not be used afterwards.
  std::array<uint8_t, 32> Finish();
  std::string FinishHex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string Sha256Hex(std::string_view bytes);
// Hash of a file's content, read in pieces.
Result<std::string> Sha256HexOfFile(const std::filesystem::path& path);

// 64 bits, the same on every machine. Not a content hash: collisions can be made on purpose.
uint64_t HashBytes(std::string_view bytes, uint64_t seed = 0);

}  // namespace davinci
