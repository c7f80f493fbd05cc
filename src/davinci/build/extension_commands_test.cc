#include "davinci/build/extension_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace davinci::build {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct ExtensionCommandsTest : ::testing::Test {
  ExtensionCommandsTest() {
    toolchain.cxx.path = "/bin/c++";
    toolchain.nvcc.path = "/cuda/bin/nvcc";
    toolchain.nvcc.version = "Cuda compilation tools, release 13.0, V13.0.88";
    toolchain.cuda_home = "/no/cuda";
    toolchain.python.torch_dir = "/no/torch";
    toolchain.python.torch_cuda_version = "13.0";
    toolchain.python.include_dir = "/no/python";
    request.name = "mine";
    request.cpp_sources = {"int a();", "int b();"};
    request.functions =
        std::vector<std::pair<std::string, std::string>>{{"a", "says \"a\"\nand more"}};
  }
  ExtensionStage Stage() const { return {request, toolchain, true, false, {"-isystem", "/thin"}}; }
  static std::ptrdiff_t At(const Flags& argv, const std::string& flag) {
    return std::find(argv.begin(), argv.end(), flag) - argv.begin();
  }

  Toolchain toolchain;
  BuildRequest request;
};

TEST_F(ExtensionCommandsTest, SourcesKeepTheUsersNamesAndLines) {
  const ExtensionSources sources = SourcesOf(request);
  EXPECT_THAT(sources.main_cpp, StartsWith("#include <torch/extension.h>\n"));
  EXPECT_THAT(sources.main_cpp, HasSubstr("#line 1 \"cpp_sources[1]\"\nint b();\n"));
  EXPECT_THAT(
      sources.main_cpp,
      HasSubstr("m.def(\"a\", torch::wrap_pybind_function(a), \"says \\\"a\\\"\\nand more\");"));
  EXPECT_THAT(sources.cuda_cu, IsEmpty());
  request.cuda_sources = {"__global__ void k();"};
  EXPECT_THAT(SourcesOf(request).cuda_cu,
              HasSubstr("#line 1 \"cuda_sources\"\n__global__ void k();\n"));
  request.no_implicit_headers = true;
  EXPECT_THAT(SourcesOf(request).main_cpp, Not(HasSubstr("torch/extension.h")));
}

TEST_F(ExtensionCommandsTest, TheStagesHeadersComeBeforeTorchsAndOwnFlagsLast) {
  const Flags argv = CppCommand(Stage(), {"-O3"});
  EXPECT_EQ(argv.front(), "/bin/c++");
  EXPECT_LT(At(argv, "/thin"), At(argv, "/no/torch/include"));
  EXPECT_LT(At(argv, "/no/torch/include"), At(argv, "/no/cuda/include"));
  EXPECT_LT(At(argv, "-fPIC"), At(argv, "-O3"));
  EXPECT_THAT(argv, Contains("-DTORCH_EXTENSION_NAME=mine"));
  EXPECT_THAT(argv, Contains("-DDAVINCI_NEED_PYTHON")) << "the bindings are Python's";
  EXPECT_THAT(argv, Not(Contains("-fvisibility=hidden")));
}

TEST_F(ExtensionCommandsTest, ArchitecturesThatACandidateNamesOverrideTheDevices) {
  EXPECT_THAT(CudaCommand(Stage(), "sm_90", {}), Contains("-gencode=arch=compute_90,code=sm_90"));
  const Flags own = CudaCommand(Stage(), "sm_90", {"-gencode=arch=compute_80,code=sm_80"});
  EXPECT_THAT(own, Not(Contains("-gencode=arch=compute_90,code=sm_90")));
}

TEST_F(ExtensionCommandsTest, LinksAgainstStandInsAndTheFittingCudaRuntime) {
  const Flags argv = LinkCommand(Stage(), {"main.o"}, {}, "/stubs");
  EXPECT_LT(At(argv, "-L/stubs"), At(argv, "-L/no/torch/lib"));
  EXPECT_LT(At(argv, "-Wl,--no-as-needed"), At(argv, "-ltorch"));
  EXPECT_THAT(argv, Contains("-lcudart"));
  EXPECT_THAT(argv, Not(Contains("-ltorch_cuda"))) << "this torch has none";
  toolchain.python.torch_cuda_version = "12.8";
  EXPECT_THAT(LinkCommand(Stage(), {"main.o"}, {}, ""), Contains("-lcudart_static"));
}

}  // namespace
}  // namespace davinci::build
