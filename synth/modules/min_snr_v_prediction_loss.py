import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Velocity target and min-SNR weighting of the per-sample loss."""

    def __init__(self, num_train_timesteps=1000, gamma=5.0):
        super().__init__()
        betas = torch.linspace(0.00085**0.5, 0.012**0.5, num_train_timesteps) ** 2
        self.register_buffer("alphas_cumprod", torch.cumprod(1 - betas, 0))
        self.gamma = gamma

    def forward(self, model_pred, latents, noise, timesteps):
        ac = self.alphas_cumprod[timesteps]
        alpha, sigma = ac.sqrt().view(-1, 1, 1, 1), (1 - ac).sqrt().view(-1, 1, 1, 1)
        target = alpha * noise - sigma * latents

        snr = ac / (1 - ac)
        mse_loss_weights = snr.clamp(max=self.gamma) / (snr + 1)
        loss = F.mse_loss(model_pred.float(), target.float(), reduction="none")
        loss = loss.mean(dim=list(range(1, len(loss.shape)))) * mse_loss_weights
        return loss.mean()


def get_inputs():
    a = [torch.randn(12, 4, 64, 64) for _ in range(3)]
    return a + [torch.randint(0, 1000, (12,))]


def get_init_inputs():
    return []
