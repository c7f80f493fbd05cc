import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

BATCH = 256
IMAGE_DIM, TEXT_DIM, EMBED = 512, 384, 256


class ProjectionHead(nn.Module):
    def __init__(self, embedding_dim, projection_dim):
        super().__init__()
        self.projection = nn.Linear(embedding_dim, projection_dim)
        self.gelu = nn.GELU()
        self.fc = nn.Linear(projection_dim, projection_dim)
        self.layer_norm = nn.LayerNorm(projection_dim)

    def forward(self, x):
        projected = self.projection(x)
        x = self.gelu(projected)
        x = self.fc(x)
        x = x + projected
        return self.layer_norm(x)


class Model(nn.Module):
    def __init__(self, image_dim, text_dim, embed):
        super().__init__()
        self.image_projection = ProjectionHead(image_dim, embed)
        self.text_projection = ProjectionHead(text_dim, embed)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def forward(self, image_features, text_features):
        image = self.image_projection(image_features)
        text = self.text_projection(text_features)
        image = image / image.norm(dim=1, keepdim=True)
        text = text / text.norm(dim=1, keepdim=True)
        logits_per_image = self.logit_scale.exp() * image @ text.t()
        logits_per_text = logits_per_image.t()
        labels = torch.arange(logits_per_image.shape[0], device=logits_per_image.device, dtype=torch.long)
        loss = (F.cross_entropy(logits_per_image, labels) + F.cross_entropy(logits_per_text, labels)) / 2
        return loss, logits_per_image


def get_inputs():
    return [torch.randn(BATCH, IMAGE_DIM), torch.randn(BATCH, TEXT_DIM)]


def get_init_inputs():
    return [IMAGE_DIM, TEXT_DIM, EMBED]
