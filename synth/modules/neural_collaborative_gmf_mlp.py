import torch
import torch.nn as nn


class Model(nn.Module):
    """GMF and MLP branches of neural collaborative filtering joined in one prediction layer."""

    def __init__(self, n_users, n_items, f):
        super(Model, self).__init__()
        self.embed_user_GMF = nn.Embedding(n_users, f)
        self.embed_item_GMF = nn.Embedding(n_items, f)
        self.embed_user_MLP = nn.Embedding(n_users, f * 2)
        self.embed_item_MLP = nn.Embedding(n_items, f * 2)
        self.MLP_layers = nn.Sequential(nn.Linear(f * 4, f * 2), nn.ReLU(), nn.Linear(f * 2, f), nn.ReLU())
        self.predict_layer = nn.Linear(2 * f, 1)

    def forward(self, user, item):
        output_GMF = self.embed_user_GMF(user) * self.embed_item_GMF(item)
        interaction = torch.cat((self.embed_user_MLP(user), self.embed_item_MLP(item)), -1)
        output_MLP = self.MLP_layers(interaction)
        prediction = self.predict_layer(torch.cat((output_GMF, output_MLP), -1))
        return prediction.view(-1)


def get_inputs():
    return [torch.randint(0, 3000, (4096,)), torch.randint(0, 2000, (4096,))]


def get_init_inputs():
    return [3000, 2000, 32]
