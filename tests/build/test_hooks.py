"""The candidate's side: load_inline and davinci_runtime, inside the judge (compiled by the service) and outside.

    python tests/build/test_hooks.py --builder build/dev/src/davinci/build/davinci-build [--support DIR]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

try:
    import support
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SOURCE = "torch::Tensor twice(torch::Tensor x) { return x * 2; }"
C_SOURCE = """
extern "C" void scale(const float* x, float* y, long n, float s) { for (long i = 0; i < n; i++) y[i] = s * x[i]; }
extern "C" long total(const long* x, long n) { long t = 0; for (long i = 0; i < n; i++) t += x[i]; return t; }
"""


def use_c_module(module):
    x, y = torch.randn(10), torch.empty(10)
    module.get("scale", "ptr ptr i64 f32")(x, y, x.numel(), 2.5)
    assert torch.allclose(y, x * 2.5)
    assert module.get("total", "ptr i64 -> i64")(torch.arange(5), 5) == 10
    for signature, arguments in (("ptr", (x, y)), ("nonsense", (x,))):
        try:
            module.get("scale", signature)(*arguments)
        except (TypeError, ValueError):
            continue
        raise AssertionError(signature)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--builder", required=True)
    support.add_arguments(parser)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="davinci-hooks") as folder:
        os.environ["DAVINCI_RUNTIME_CACHE"] = os.path.join(folder, "runtime")
        import davinci_runtime

        # Outside the judge: the helper compiles by itself, and again from its cache.
        for _ in range(2):
            use_c_module(davinci_runtime.cpp_module(C_SOURCE))
        try:
            davinci_runtime.cpp_module("int f( {")
            raise AssertionError("a wrong source compiled")
        except RuntimeError as error:
            assert "expected" in str(error)

        # Inside: the same calls end in the build service. The supervisor's socket is replaced by a pipe to it.
        support.take(arguments, os.path.join(folder, "cache"))
        builder = subprocess.Popen([arguments.builder, "--python", sys.executable, "--cache", os.path.join(folder, "cache")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        seen = []

        class Peer:
            def send(self, message):
                seen.append(message["build"])
                builder.stdin.write(json.dumps(message["build"]) + "\n")
                builder.stdin.flush()

            def recv(self):
                outcome = json.loads(builder.stdout.readline())
                return {"built": outcome}, []

        from davinci_worker import hooks

        assert "torch.utils.cpp_extension" not in sys.modules
        hooks.install(Peer())
        assert "torch.utils.cpp_extension" not in sys.modules, "importing it before a CUDA fork breaks CUDA"
        from torch.utils.cpp_extension import load_inline

        module = load_inline(name="hooked", cpp_sources=SOURCE, functions=["twice"], verbose=False)
        assert torch.equal(module.twice(torch.ones(3)), torch.full((3,), 2.0))
        other = load_inline("hooked", [SOURCE.replace("2;", "3;")], functions={"twice": "thrice"})
        assert torch.equal(other.twice(torch.ones(3)), torch.full((3,), 3.0)), "one name, two sources"
        assert torch.equal(module.twice(torch.ones(3)), torch.full((3,), 2.0))
        import torch.utils.cpp_extension as extension

        path = os.path.join(folder, "own.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <torch/extension.h>\n" + SOURCE + "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"twice\", &twice); }\n")
        assert torch.equal(extension.load(name="own", sources=[path]).twice(torch.ones(2)), torch.full((2,), 2.0))
        try:
            load_inline("wrong", "torch::Tensor f(torch::Tensor x) {\n return x\n}", functions="f")
            raise AssertionError("a wrong source compiled")
        except hooks.BuildError as error:
            assert "cpp_sources:" in str(error), str(error)
        use_c_module(davinci_runtime.cpp_module(C_SOURCE, flags=["-funroll-loops"]))
        assert [request["kind"] for request in seen] == ["extension"] * 4 + ["library"]
        builder.stdin.close()
        builder.wait()
    assert isinstance(davinci_runtime, types.ModuleType)
    print("hooks and runtime helper: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
