import torch
import torch.nn as nn
import torch.nn.functional as F

HIDDEN, EMB, EXPERTS, VOCAB, TOKENS = 96, 48, 5, 1200, 48

class Model(nn.Module):
    """Output layer of a language model; the decoder matrix is tied to the embedding."""
    def __init__(self, nhid, ninp, n_experts, ntoken):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.decoder = nn.Linear(ninp, ntoken)
        self.decoder.weight = self.encoder.weight
        self.prior = nn.Linear(nhid, n_experts, bias=False)
        self.latent = nn.Sequential(nn.Linear(nhid, n_experts*ninp), nn.Tanh())
        self.n_experts, self.ninp, self.ntoken = n_experts, ninp, ntoken

    def forward(self, output, tokens=None, return_prob=False):
        if tokens is not None:
            output = torch.cat([output[..., :-self.ninp], self.encoder(tokens)], dim=-1)
        latent = self.latent(output)
        logit = self.decoder(latent.view(-1, self.ninp))
        prior_logit = self.prior(output).contiguous().view(-1, self.n_experts)
        prior = F.softmax(prior_logit, -1)
        prob = F.softmax(logit.view(-1, self.ntoken), -1).view(-1, self.n_experts, self.ntoken)
        prob = (prob * prior.unsqueeze(2).expand_as(prob)).sum(1)
        if return_prob:
            return prob
        log_prob = torch.log(prob.add_(1e-8))
        return log_prob.view(output.size(0), output.size(1), self.ntoken)

def get_inputs():
    return [torch.randn(4, TOKENS // 4, HIDDEN), torch.randint(0, VOCAB, (4, TOKENS // 4))]

def get_init_inputs():
    return [HIDDEN, EMB, EXPERTS, VOCAB]
