from collections import namedtuple
import torch
import torch.nn as nn

Output = namedtuple("Output", ["age", "gender", "emotion"])


class Model(nn.Module):
    def __init__(self, n_features, n_shared):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(n_features, n_shared), nn.BatchNorm1d(n_shared), nn.ReLU())
        self.age_head = nn.Linear(n_shared, 1)
        self.gender_head = nn.Linear(n_shared, 2)
        self.emotion_head = nn.Linear(n_shared, 7)

    def forward(self, x):
        z = self.shared(x)
        return Output(age=nn.functional.softplus(self.age_head(z)),
                      gender=self.gender_head(z).log_softmax(1),
                      emotion=self.emotion_head(z).log_softmax(1))


def get_inputs():
    return [torch.randn(1200, 512)]


def get_init_inputs():
    return [512, 160]
