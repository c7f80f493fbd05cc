import torch, torch.nn as nn

D, L, K = 310, 96, 2

class Model(nn.Module):

    def __init__(self, d=D, l=L, k=K):
        super(Model, self).__init__()
        self.att_V = nn.Sequential(nn.Linear(d, l), nn.Tanh())
        self.att_U = nn.Sequential(nn.Linear(d, l), nn.Sigmoid())
        self.att_w = nn.Linear(l, k)
        self.clf = nn.Linear(d * k, 1)

    def forward(self, H):
        A = self.att_w(self.att_V(H) * self.att_U(H))   # B x N x K
        A = torch.softmax(A.transpose(2, 1), dim=2)     # B x K x N
        M = torch.matmul(A, H)                          # B x K x D
        Y_prob = torch.sigmoid(self.clf(M.flatten(1)))
        Y_hat = torch.ge(Y_prob, 0.5).float()
        return Y_prob, Y_hat, A

def get_inputs():
    return [torch.randn(9, 420, D)]

def get_init_inputs():
    return []
