#include "davinci/base/rng.h"

#include <sys/random.h>

#include <cstdlib>

namespace davinci {

uint64_t SecretSeed() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value >> 1;
}

}  // namespace davinci
