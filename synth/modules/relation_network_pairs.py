import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # g over all pairs of objects and the question, summed, then f
    def __init__(self, obj, q, hid, out):
        super().__init__()
        self.g_left = nn.Linear(obj, hid)
        self.g_right = nn.Linear(obj, hid, bias=False)
        self.g_question = nn.Linear(q, hid, bias=False)
        self.g_2 = nn.Linear(hid, hid)
        self.f = nn.Linear(hid, out)

    def forward(self, objects, question):
        pair = self.g_left(objects).unsqueeze(2) + self.g_right(objects).unsqueeze(1)
        pair = F.relu(pair + self.g_question(question)[:, None, None])
        pair = F.relu(self.g_2(pair))
        return self.f(pair.sum(dim=(1, 2)))


def get_inputs():
    return [torch.randn(16, 25, 26), torch.randn(16, 11)]


def get_init_inputs():
    return [26, 11, 128, 10]
