import torch
from torch import nn

STATIONS, TRIPS, EARTH_KM = 500, 300, 6371.0088

class Model(nn.Module):
	"""Great-circle distances of trips to stations, inverse-distance interpolation of readings."""
	def __init__(self, k = 5, power = 2.):
		super().__init__()
		self.k, self.power = k, power

	def distance(self, a, b):
		a, b = torch.deg2rad(a)[:, None], torch.deg2rad(b)[None]
		dlat, dlon = (b - a).unbind(-1)
		h = torch.sin(dlat / 2) ** 2 + torch.cos(a[..., 0]) * torch.cos(b[..., 0]) * torch.sin(dlon / 2) ** 2
		return 2 * EARTH_KM * torch.asin(torch.sqrt(h.clamp(0., 1.)))

	def forward(self, trips, stations, reading):
		d = self.distance(trips, stations)
		near, idx = d.topk(self.k, largest = False)
		w = 1 / (near + 1e-3) ** self.power
		w /= w.sum(1, keepdim = True)
		return (w * reading[idx]).sum(1), idx[:, 0].int(), near[:, 0]

def get_inputs():
	c = torch.tensor([48., 11.])
	return [c + torch.randn(TRIPS, 2), c + torch.randn(STATIONS, 2), torch.rand(STATIONS) * 30]
def get_init_inputs():
	return []
