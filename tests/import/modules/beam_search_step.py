import torch
from torch import nn

BATCH, BEAMS, VOCAB, PREFIX, DIM = 8, 4, 3000, 12, 64

class Model(nn.Module):
    # one step: extend, score, pick 2*beams, reorder prefix and state
    def __init__(self, beams, vocab, dim, length_penalty=0.6, eos=2):
        super().__init__()
        self.beams, self.vocab, self.eos = beams, vocab, eos
        self.length_penalty = length_penalty
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, prefix, scores, state):
        bb = prefix.shape[0]; b = bb // self.beams
        logp = self.lm_head(state).log_softmax(-1)
        logp[:, 0] = -1e9          # never pad
        total = scores.view(bb, 1) + logp
        lp = ((5.0 + prefix.shape[1] + 1) / 6.0) ** self.length_penalty
        flat = (total / lp).view(b, self.beams * self.vocab)
        best, idx = flat.topk(2 * self.beams, dim=1, largest=True, sorted=True)
        beam_idx = torch.div(idx, self.vocab, rounding_mode='floor')
        tok = idx % self.vocab
        # finished hypotheses sink to the end, order otherwise kept
        key = (tok == self.eos).to(torch.int64) * 1000 + torch.arange(2 * self.beams, device=tok.device)
        order = key.argsort(dim=1)[:, :self.beams]
        tok, beam_idx, best = (t.gather(1, order) for t in (tok, beam_idx, best))
        rows = (beam_idx + torch.arange(b, device=tok.device).unsqueeze(1) * self.beams).view(-1)
        new_prefix = torch.cat([prefix.index_select(0, rows), tok.view(-1, 1)], dim=-1)
        return new_prefix, (best * lp).view(-1), state[rows]

def get_inputs():
    n = BATCH * BEAMS
    return [torch.randint(3, VOCAB, (n, PREFIX)), -torch.rand(n) * 5, torch.randn(n, DIM)]
def get_init_inputs():
    return [BEAMS, VOCAB, DIM]
