import torch
import torch.nn.functional as F

N_RAYS, N_SAMPLES, N_FINE = 256, 48, 32

def sample_pdf(bins, weights, N_samples):
    # deterministic inverse transform sampling
    weights = weights + 1e-5
    pdf = weights / torch.sum(weights, -1, keepdim=True)
    cdf = torch.cumsum(pdf, -1)
    cdf = torch.cat([torch.zeros_like(cdf[...,:1]), cdf], -1)
    u = torch.linspace(0., 1., steps=N_samples, device=cdf.device)
    u = u.expand(list(cdf.shape[:-1]) + [N_samples]).contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below = torch.max(torch.zeros_like(inds-1), inds-1)
    above = torch.min((cdf.shape[-1]-1) * torch.ones_like(inds), inds)
    inds_g = torch.stack([below, above], -1)
    matched_shape = [inds_g.shape[0], inds_g.shape[1], cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(1).expand(matched_shape), 2, inds_g)
    bins_g = torch.gather(bins.unsqueeze(1).expand(matched_shape), 2, inds_g)
    denom = (cdf_g[...,1]-cdf_g[...,0])
    denom = torch.where(denom<1e-5, torch.ones_like(denom), denom)
    t = (u-cdf_g[...,0])/denom
    return bins_g[...,0] + t * (bins_g[...,1]-bins_g[...,0])

class Model(torch.nn.Module):
    def __init__(self, white_bkgd=True):
        super().__init__()
        self.white_bkgd = white_bkgd

    def forward(self, raw, z_vals, rays_d):
        raw2alpha = lambda raw, dists, act_fn=F.relu: 1.-torch.exp(-act_fn(raw)*dists)
        dists = z_vals[...,1:] - z_vals[...,:-1]
        dists = torch.cat([dists, torch.tensor([1e10], device=dists.device).expand(dists[...,:1].shape)], -1)
        dists = dists * torch.norm(rays_d[...,None,:], dim=-1)
        rgb = torch.sigmoid(raw[...,:3])
        alpha = raw2alpha(raw[...,3], dists)
        weights = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1), device=alpha.device), 1.-alpha + 1e-10], -1), -1)[:, :-1]
        rgb_map = torch.sum(weights[...,None] * rgb, -2)
        depth_map = torch.sum(weights * z_vals, -1)
        acc_map = torch.sum(weights, -1)
        if self.white_bkgd:
            rgb_map = rgb_map + (1.-acc_map[...,None])
        z_mid = .5 * (z_vals[...,1:] + z_vals[...,:-1])
        z_fine = sample_pdf(z_mid, weights[...,1:-1], N_FINE)
        z_all, _ = torch.sort(torch.cat([z_vals, z_fine.detach()], -1), -1)
        return rgb_map, depth_map, acc_map, z_all

def get_inputs():
    z = torch.sort(torch.rand(N_RAYS, N_SAMPLES) * 4 + 2, -1)[0]
    return [torch.randn(N_RAYS, N_SAMPLES, 4), z, torch.randn(N_RAYS, 3)]

def get_init_inputs():
    return []
