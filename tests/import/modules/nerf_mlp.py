import torch
import torch.nn as nn
import torch.nn.functional as F

RAYS, SAMPLES = 64, 16
L_XYZ, L_DIR = 6, 3
WIDTH = 64

class Embedder:
    def __init__(self, **kwargs):
        self.kwargs = kwargs
        self.create_embedding_fn()

    def create_embedding_fn(self):
        embed_fns = []
        d = self.kwargs['input_dims']
        out_dim = 0
        if self.kwargs['include_input']:
            embed_fns.append(lambda x : x)
            out_dim += d
        max_freq = self.kwargs['max_freq_log2']
        N_freqs = self.kwargs['num_freqs']
        freq_bands = 2.**torch.linspace(0., max_freq, steps=N_freqs)
        for freq in freq_bands:
            for p_fn in self.kwargs['periodic_fns']:
                embed_fns.append(lambda x, p_fn=p_fn, freq=freq : p_fn(x * freq))
                out_dim += d
        self.embed_fns = embed_fns
        self.out_dim = out_dim

    def embed(self, inputs):
        return torch.cat([fn(inputs) for fn in self.embed_fns], -1)

def get_embedder(multires):
    return Embedder(include_input=True, input_dims=3, max_freq_log2=multires-1, num_freqs=multires,
                    periodic_fns=[torch.sin, torch.cos])

class Model(nn.Module):
    def __init__(self, D=4, W=64, skips=[2]):
        super().__init__()
        self.emb, self.emb_dir = get_embedder(L_XYZ), get_embedder(L_DIR)
        input_ch, input_ch_views = self.emb.out_dim, self.emb_dir.out_dim
        self.skips = skips
        self.pts_linears = nn.ModuleList(
            [nn.Linear(input_ch, W)] + [nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W) for i in range(D-1)])
        self.views_linears = nn.ModuleList([nn.Linear(input_ch_views + W, W//2)])
        self.feature_linear = nn.Linear(W, W)
        self.alpha_linear = nn.Linear(W, 1)
        self.rgb_linear = nn.Linear(W//2, 3)

    def forward(self, pts, viewdirs):
        dirs = viewdirs[:,None].expand(pts.shape)
        input_pts, input_views = self.emb.embed(pts), self.emb_dir.embed(dirs)
        h = input_pts
        for i, l in enumerate(self.pts_linears):
            h = self.pts_linears[i](h)
            h = F.relu(h)
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        alpha = self.alpha_linear(h)
        feature = self.feature_linear(h)
        h = torch.cat([feature, input_views], -1)
        for i, l in enumerate(self.views_linears):
            h = F.relu(self.views_linears[i](h))
        rgb = self.rgb_linear(h)
        return torch.cat([rgb, alpha], -1)

def get_inputs():
    d = F.normalize(torch.randn(RAYS, 3), dim=-1)
    return [torch.rand(RAYS, SAMPLES, 3) * 2 - 1, d]

def get_init_inputs():
    return [4, WIDTH]
