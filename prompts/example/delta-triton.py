@kernel
def bias_square_relu(x, bias, out, N, C):
    i = ids(1024)
    inside = i < N
    v = ld(x + i, inside) + ld(bias + i % C, inside)
    v = tl.where(v < 0, 0.0, v)  # keeps NaN, as relu does
    st(out + i, v * v, inside)


class ModelNew(Model):
    def forward(self, x):
        out = torch.empty_like(x)
        bias_square_relu[cdiv(x.numel(), 1024)](x.contiguous(), self.bias, out, x.numel(), x.shape[-1])
        return out
