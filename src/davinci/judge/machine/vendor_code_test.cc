#include "davinci/judge/machine/vendor_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace davinci::judge {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::string_view kSmaps =
    "7f0000000000-7f0000100000 r--p 00000000 fe:00 17                         "
    "/usr/lib/libopenblas.so.0\n"
    "Size:               1024 kB\n"
    "Rss:                1024 kB\n"
    "7f0000100000-7f0000300000 r-xp 00100000 fe:00 17                         "
    "/usr/lib/libopenblas.so.0\n"
    "Size:               2048 kB\n"
    "Rss:                 360 kB\n"
    "Pss:                  90 kB\n"
    "7f0000300000-7f0000400000 r-xp 00300000 fe:00 17                         "
    "/usr/lib/libopenblas.so.0\n"
    "Rss:                   4 kB\n"
    "7f0000400000-7f0000500000 r-xp 00000000 fe:00 18                         /lib/libm.so.6\n"
    "Rss:                  64 kB\n"
    "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]\n"
    "Rss:                   4 kB\n"
    "VmFlags: rd ex mr mw me de\n";

TEST(ResidentCode, AddsExecutableMappingsOfOneFileAndIgnoresData) {
  EXPECT_THAT(ResidentCode(kSmaps),
              ElementsAre(Pair("libm.so.6", 64 << 10), Pair("libopenblas.so.0", 364 << 10)));
}

TEST(ResidentCode, SurvivesTextThatIsNoSmaps) {
  EXPECT_TRUE(ResidentCode("").empty());
  EXPECT_TRUE(ResidentCode("Rss: 12 kB\nnonsense\n-- -\n7f-8").empty());
}

TEST(IsVendorLibrary, KnowsFamiliesByTheWordsOfTheFileName) {
  for (const char* name :
       {"libopenblas.so.0", "libscipy_openblas64_-32a4b2a6.so", "libmkl_core.so.2",
        "libcublasLt.so.13", "libcudnn_ops.so.9", "libdnnl.so.3", "libblis.so.4"})
    EXPECT_TRUE(IsVendorLibrary(name)) << name;
  for (const char* name : {"libtorch_cpu.so", "libestablish.so", "libgomp.so.1", "openblas.txt",
                           "libm.so.6", "kernel_mkl.so"})
    EXPECT_FALSE(IsVendorLibrary(name)) << name;
}

TEST(ExecutedVendorLibraries, FindsNoneInAProcessThatCallsNone) {
  EXPECT_TRUE(ExecutedVendorLibraries(getpid()).empty());
  EXPECT_TRUE(ExecutedVendorLibraries(-1).empty());
}

}  // namespace
}  // namespace davinci::judge
