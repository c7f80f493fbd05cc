import torch

QUERIES = 64
DOCS = 200
K = 10

def dcg_at_k(rel, k):
    discounts = 1.0 / torch.log2(torch.arange(2, k + 2, dtype=rel.dtype, device=rel.device))
    return ((2.0 ** rel[:, :k] - 1.0) * discounts).sum(dim=-1)

def pairwise_auc(scores, labels):
    diff = scores.unsqueeze(2) - scores.unsqueeze(1)
    pos_neg = labels.unsqueeze(2) * (1 - labels).unsqueeze(1)
    wins = (diff > 0).to(scores) + 0.5 * (diff == 0).to(scores)
    return (wins * pos_neg).sum((1, 2)) / pos_neg.sum((1, 2)).clamp(min=1)

class Model(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, scores, relevance):
        order = scores.argsort(dim=-1, descending=True)
        ranked = torch.take_along_dim(relevance, order, dim=-1)
        ideal = relevance.sort(dim=-1, descending=True)[0]
        ndcg = dcg_at_k(ranked, self.k) / dcg_at_k(ideal, self.k).clamp(min=1e-9)
        hits = (ranked > 0).float()
        first = (hits.cumsum(-1) == 0).sum(-1)
        mrr = 1.0 / (first + 1)
        prec = hits.cumsum(-1) / torch.arange(1, hits.shape[-1] + 1, device=hits.device)
        ap = (prec * hits).sum(-1) / hits.sum(-1).clamp(min=1)
        return ndcg.mean(), mrr.mean(), ap.mean(), pairwise_auc(scores, (relevance > 0).float())

def get_inputs():
    return [torch.randn(QUERIES, DOCS), torch.randint(0, 4, (QUERIES, DOCS)).float()]

def get_init_inputs():
    return [K]
