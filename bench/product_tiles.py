"""Times fp32 matrix products on tensor cores against the library's, by tile: what the teacher's choice of tiles rests on.

    product_tiles.py [--shapes MxNxK,…] [--json FILE]

The kernel is the teacher's (src/davinci/teacher/regions/product.cc) with a ReLU as its epilogue, the library's side is
torch.relu(torch.matmul(…)) without TF32. Errors are RMS against fp64, as multiples of the library's. About 70 s on an H200.
"""
import argparse
import json
import sys

import torch
import triton
import triton.language as tl

# rows, columns, depth of a tile; warps, stages; precision of tl.dot
TILES = [
    (128, 128, 32, 8, 3, "tf32x3"), (128, 128, 16, 8, 3, "tf32x3"), (128, 128, 16, 8, 4, "tf32x3"), (128, 64, 32, 8, 3, "tf32x3"),
    (128, 64, 16, 4, 3, "tf32x3"), (64, 128, 16, 4, 3, "tf32x3"), (64, 64, 32, 4, 3, "tf32x3"), (64, 64, 64, 4, 2, "tf32x3"),
    (256, 64, 16, 8, 3, "tf32x3"), (64, 32, 32, 4, 3, "tf32x3"), (32, 128, 16, 4, 3, "tf32x3"), (32, 64, 32, 4, 3, "tf32x3"),
    (128, 64, 32, 8, 3, "bf16x6"), (64, 64, 32, 4, 3, "bf16x6"), (64, 64, 32, 4, 3, "ieee"), (128, 128, 16, 8, 3, "ieee"),
]
SHAPES = "4096x4096x4096,8192x1024x1024,2048x2048x2048,1024x1024x1024,16384x256x512,4096x512x4096,512x512x512,1024x128x8192"


@triton.jit
def product_kernel(left_ptr, right_ptr, out_ptr, rows, cols, depth, ROWS: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr, CHUNK: tl.constexpr, PRECISION: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(rows, ROWS), tl.cdiv(cols, BLOCK)
    group = tl.program_id(0) // (8 * tiles_n)
    height = tl.minimum(tiles_m - group * 8, 8)
    place = tl.program_id(0) % (8 * tiles_n)
    tile_m = group * 8 + place % height
    tile_n = place // height
    row = (tile_m * ROWS + tl.arange(0, ROWS))[:, None]
    in_row = row < rows
    col = (tile_n * BLOCK + tl.arange(0, BLOCK))[None, :]
    in_col = col < cols
    k = tl.arange(0, DEPTH)
    left = row * depth + k[None, :]
    right = col * depth + k[:, None]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    if CHUNK == 0:
        for start in range(0, depth, DEPTH):
            in_k = start + k < depth
            a = tl.load(left_ptr + left + start, mask=in_row & in_k[None, :], other=0.0)
            b = tl.load(right_ptr + right + start, mask=in_k[:, None] & in_col, other=0.0)
            total = tl.dot(a, b, total, input_precision=PRECISION)
    else:
        for chunk in range(0, depth, CHUNK):
            part = tl.zeros((ROWS, BLOCK), tl.float32)
            for start in range(chunk, tl.minimum(chunk + CHUNK, depth), DEPTH):
                in_k = start + k < depth
                a = tl.load(left_ptr + left + start, mask=in_row & in_k[None, :], other=0.0)
                b = tl.load(right_ptr + right + start, mask=in_k[:, None] & in_col, other=0.0)
                part = tl.dot(a, b, part, input_precision=PRECISION)
            total += part
    total = tl.where(total < 0.0, 0.0, total)
    tl.store(out_ptr + row * cols + col, total, mask=in_row & in_col)


def launch(x, w, out, tile, chunk):
    rows, columns, depth, warps, stages, precision = tile
    grid = (triton.cdiv(out.shape[0], rows) * triton.cdiv(out.shape[1], columns),)
    return product_kernel[grid](x, w, out, *out.shape, x.shape[1], ROWS=rows, BLOCK=columns, DEPTH=depth, CHUNK=chunk, PRECISION=precision, num_warps=warps, num_stages=stages)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    results = []
    for shape in options.shapes.split(","):
        m, n, k = map(int, shape.split("x"))
        for kind in ("normal", "uniform"):
            generator = torch.Generator("cuda").manual_seed(0)
            x = torch.randn(m, k, device="cuda", generator=generator) if kind == "normal" else torch.rand(m, k, device="cuda", generator=generator)
            w = torch.randn(n, k, device="cuda", generator=generator) if kind == "normal" else torch.rand(n, k, device="cuda", generator=generator)
            out = torch.empty(m, n, device="cuda")
            some = torch.arange(0, m, max(1, m // 256), device="cuda")
            truth = torch.relu(x[some].double() @ w.double().t())

            def error(result):
                return (result[some].double() - truth).square().mean().sqrt().item()

            base_error = error(torch.relu(x @ w.t()))
            if kind == "normal":
                base = triton.testing.do_bench(lambda: torch.relu(torch.matmul(x, w.t())), warmup=10, rep=40)
                print(f"{shape}: library {base * 1e3:.0f} us, {2e-9 * m * n * k / base:.0f} TFLOP/s", flush=True)
            for tile in TILES:
                for chunk in (0, 512) if k > 1024 else (0,):
                    row = {"shape": shape, "tile": tile, "chunk": chunk, "kind": kind}
                    try:
                        kernel = launch(x, w, out, tile, chunk)
                        row |= {"error": error(out) / base_error, "spills": kernel.n_spills, "registers": kernel.n_regs, "shared": kernel.metadata.shared}
                        if kind == "normal":
                            time = triton.testing.do_bench(lambda: launch(x, w, out, tile, chunk), warmup=5, rep=25)
                            row |= {"us": time * 1e3, "library_us": base * 1e3, "speedup": base / time}
                    except Exception as problem:  # noqa: BLE001 - a tile that does not fit is a result
                        row["problem"] = f"{type(problem).__name__}: {str(problem)[:120]}"
                    results.append(row)
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in results)
    bias = {(row["shape"], tuple(row["tile"]), row["chunk"]): row.get("error") for row in results if row["kind"] == "uniform"}
    print("shape | tile | chunk | speedup | us | error normal | error uniform | registers | spills")
    for row in sorted((row for row in results if row["kind"] == "normal" and "speedup" in row), key=lambda row: (row["shape"], -row["speedup"])):
        uniform = bias[row["shape"], tuple(row["tile"]), row["chunk"]]
        print(f"{row['shape']} | {row['tile']} | {row['chunk']} | {row['speedup']:.2f} | {row['us']:.0f} | {row['error']:.2f} | {uniform or 0:.2f} | {row['registers']} | {row['spills']}")
    for row in results:
        if "problem" in row:
            print(row["shape"], row["tile"], row["problem"], file=sys.stderr)


if __name__ == "__main__":
    main()
