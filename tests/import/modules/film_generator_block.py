import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_FEAT, COND, HW, NBLOCK = 32, 48, 14, 2

class FiLM(nn.Module):
  """
  A Feature-wise Linear Modulation Layer (two-space indentation, as in the original)
  """
  def forward(self, x, gammas, betas):
    gammas = gammas.unsqueeze(2).unsqueeze(3).expand_as(x)
    betas = betas.unsqueeze(2).unsqueeze(3).expand_as(x)
    return (gammas * x) + betas

class FiLMedResBlock(nn.Module):
  def __init__(self, dim):
    super(FiLMedResBlock, self).__init__()
    self.input_proj = nn.Conv2d(dim + 2, dim, kernel_size=1)
    self.conv1 = nn.Conv2d(dim, dim, kernel_size=3, padding=1)
    self.bn1 = nn.BatchNorm2d(dim, affine=False)
    self.film = FiLM()

  def forward(self, x, gammas, betas, coords):
    x = torch.cat([x, coords.expand(x.size(0), -1, -1, -1)], 1)
    x = F.relu(self.input_proj(x))
    out = self.bn1(self.conv1(x))
    out = F.relu(self.film(out, gammas, betas))
    return x + out

def coord_map(shape, start=-1, end=1):
  m, n = shape
  x_coord_row = torch.linspace(start, end, steps=n).float()
  y_coord_row = torch.linspace(start, end, steps=m).float()
  x_coords = x_coord_row.unsqueeze(0).expand(torch.Size((m, n))).unsqueeze(0)
  y_coords = y_coord_row.unsqueeze(1).expand(torch.Size((m, n))).unsqueeze(0)
  return torch.cat([x_coords, y_coords], 0)

class Model(nn.Module):
  def __init__(self, dim, cond, n):
    super(Model, self).__init__()
    self.register_buffer("coords", coord_map((HW, HW)))
    self.gen = nn.Linear(cond, n * 2 * dim)
    self.blocks = {}
    self.n, self.dim = n, dim
    for fn_num in range(n):
      mod = FiLMedResBlock(dim)
      self.add_module(str(fn_num), mod)
      self.blocks[fn_num] = mod

  def forward(self, x, cond):
    film = self.gen(cond).view(cond.size(0), self.n, 2 * self.dim)
    gammas, betas = torch.split(film[:,:,:2*self.dim], self.dim, dim=-1)
    gammas = gammas + 1
    for fn_num in range(self.n):
      x = self.blocks[fn_num](x, gammas[:, fn_num, :], betas[:, fn_num, :], self.coords)
    return x.amax((2, 3))

def get_inputs():
  return [torch.randn(4, NUM_FEAT, HW, HW), torch.randn(4, COND)]
def get_init_inputs():
  return [NUM_FEAT, COND, NBLOCK]
