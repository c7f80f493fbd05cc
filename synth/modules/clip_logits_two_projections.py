import torch
import torch.nn as nn
import math


class Model(nn.Module):
    def __init__(self, vision_width, text_width, projection_dim):
        super().__init__()
        self.visual_projection = nn.Linear(vision_width, projection_dim, bias=False)
        self.text_projection = nn.Linear(text_width, projection_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image_embeds, text_embeds):
        image_embeds = self.visual_projection(image_embeds)
        text_embeds = self.text_projection(text_embeds)

        # normalized features
        image_embeds = image_embeds / image_embeds.norm(p=2, dim=-1, keepdim=True)
        text_embeds = text_embeds / text_embeds.norm(p=2, dim=-1, keepdim=True)

        logit_scale = self.logit_scale.exp()
        logits_per_text = torch.matmul(text_embeds, image_embeds.t()) * logit_scale
        return logits_per_text.t(), logits_per_text


def get_inputs():
    return [torch.randn(512, 768), torch.randn(640, 512)]


def get_init_inputs():
    return [768, 512, 512]
