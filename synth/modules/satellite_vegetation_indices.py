import torch
import torch.nn as nn

class Model(nn.Module):
    '''NDVI, EVI, NDWI and a cloud mask from four reflectance bands'''
    def __init__(self, L=1.0, C1=6.0, C2=7.5, G=2.5):
        super().__init__()
        self.L = L; self.C1 = C1; self.C2 = C2; self.G = G

    def forward(self, bands):
        blue, green, red, nir = bands[:, 0], bands[:, 1], bands[:, 2], bands[:, 3]
        ndvi = (nir - red) / (nir + red + 1e-6)
        evi = self.G * (nir - red) / (nir + self.C1 * red - self.C2 * blue + self.L + 1e-6).abs().clamp(min=0.1)
        ndwi = (green - nir) / (green + nir + 1e-6)
        cloudy = (blue > 0.6) & (ndvi.abs() < 0.1)
        stacked = torch.stack([ndvi, evi.clamp(-1, 1), ndwi], dim=1)
        return stacked.masked_fill(cloudy[:, None], -1.0), cloudy

def get_inputs():
    return [torch.rand(6, 4, 256, 256)]

def get_init_inputs():
    return []
