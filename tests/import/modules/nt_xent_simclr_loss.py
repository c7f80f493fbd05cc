import torch
import torch.nn as nn

PAIRS = 128
DIM = 64
TAU = 0.2

class NTXentLoss(nn.Module):
    def __init__(self, batch_size, temperature, use_cosine_similarity):
        super(NTXentLoss, self).__init__()
        self.batch_size = batch_size
        self.temperature = temperature
        self.softmax = torch.nn.Softmax(dim=-1)
        self.similarity_function = self._get_similarity_function(use_cosine_similarity)
        self.criterion = torch.nn.CrossEntropyLoss(reduction="sum")

    def _get_similarity_function(self, use_cosine_similarity):
        if use_cosine_similarity:
            self._cosine_similarity = torch.nn.CosineSimilarity(dim=-1)
            return self._cosine_simililarity
        else:
            return self._dot_simililarity

    @staticmethod
    def _dot_simililarity(x, y):
        return torch.tensordot(x.unsqueeze(1), y.T.unsqueeze(0), dims=2)

    def _cosine_simililarity(self, x, y):
        # x shape: (N, 1, C), y shape: (1, 2N, C)
        return self._cosine_similarity(x.unsqueeze(1), y.unsqueeze(0))

    def forward(self, zis, zjs):
        representations = torch.cat([zjs, zis], dim=0)
        similarity_matrix = self.similarity_function(representations, representations)
        n = 2 * self.batch_size
        l_pos = torch.diag(similarity_matrix, self.batch_size)
        r_pos = torch.diag(similarity_matrix, -self.batch_size)
        positives = torch.cat([l_pos, r_pos]).view(n, 1)
        eye = torch.eye(n, dtype=torch.bool, device=zis.device)
        eye = eye | eye.roll(self.batch_size, 0)
        negatives = similarity_matrix.masked_fill(eye, -1e4)
        logits = torch.cat((positives, negatives), dim=1)
        logits /= self.temperature
        labels = torch.zeros(n, device=zis.device).long()
        loss = self.criterion(logits, labels)
        return loss / n

class Model(nn.Module):
    def __init__(self, b, t):
        super().__init__()
        self.loss = NTXentLoss(b, t, True)
    def forward(self, a, b):
        return self.loss(a, b)

def get_inputs():
    return [torch.randn(PAIRS, DIM), torch.randn(PAIRS, DIM)]

def get_init_inputs():
    return [PAIRS, TAU]
