import torch
from torch import nn
from torch.distributions import Normal

STEPS, OBS, ACTIONS = 2048, 17, 6
CLIP, VF_COEF, ENT_COEF = 0.2, 0.5, 0.01


def layer_init(layer, std=2 ** 0.5, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(obs, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)), nn.Tanh(),
                                    layer_init(nn.Linear(64, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(obs, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)),
                                        nn.Tanh(), layer_init(nn.Linear(64, act), std=0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, act))

    def get_action_and_value(self, x, action):
        action_mean = self.actor_mean(x)
        action_logstd = self.actor_logstd.expand_as(action_mean)
        action_std = torch.exp(action_logstd)
        probs = Normal(action_mean, action_std, validate_args=False)
        return probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


class Model(nn.Module):
    def __init__(self, obs, act, norm_adv=True, clip_vloss=True):
        super().__init__()
        self.agent = Agent(obs, act)
        self.norm_adv, self.clip_vloss = norm_adv, clip_vloss

    def forward(self, obs, actions, old_logprob, advantages, returns, values):
        newlogprob, entropy, newvalue = self.agent.get_action_and_value(obs, actions)
        logratio = newlogprob - old_logprob
        ratio = logratio.clamp(-5, 5).exp()
        approx_kl = ((ratio - 1) - logratio).mean()
        if self.norm_adv:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        pg_loss = torch.max(-advantages * ratio, -advantages * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)).mean()
        newvalue = newvalue.view(-1)
        if self.clip_vloss:
            v_unclipped = (newvalue - returns) ** 2
            v_clipped = values + torch.clamp(newvalue - values, -CLIP, CLIP)
            v_loss = 0.5 * torch.max(v_unclipped, (v_clipped - returns) ** 2).mean()
        else:
            v_loss = 0.5 * ((newvalue - returns) ** 2).mean()
        return pg_loss - ENT_COEF * entropy.mean() + v_loss * VF_COEF, approx_kl


def get_inputs():
    n = STEPS
    return [torch.randn(n, OBS), torch.randn(n, ACTIONS), torch.randn(n) - 8, torch.randn(n), torch.randn(n), torch.randn(n)]


def get_init_inputs():
    return [OBS, ACTIONS]
