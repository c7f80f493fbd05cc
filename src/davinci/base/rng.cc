#include "davinci/base/rng.h"

#include <sys/random.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "davinci/base/hash.h"
#include "davinci/base/outside.h"

namespace davinci {

uint64_t SecretSeed() {
  if (internal::thread_outside != nullptr) return internal::thread_outside->SecretSeed();
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value >> 1;
}

uint64_t SecretStream::Next() {
  const uint64_t at = num_drawn_++;
  if (at % block_.size() == 0) {
    const std::array<uint64_t, 2> message = {seed_, at};
    const auto digest = Sha256()
                            .Update("davinci-secret")
                            .Update({reinterpret_cast<const char*>(message.data()), sizeof message})
                            .Finish();
    static_assert(sizeof digest == sizeof block_);
    std::memcpy(block_.data(), digest.data(), sizeof block_);
  }
  return block_[at % block_.size()];
}

}  // namespace davinci
