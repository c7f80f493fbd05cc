import torch
import torch.nn as nn

USER_NUM, ITEM_NUM = 943, 1682
FACTOR_NUM, NUM_LAYERS = 8, 3
BATCH = 8192

class NCF(nn.Module):
	def __init__(self, user_num, item_num, factor_num, num_layers,
					dropout, model):
		super(NCF, self).__init__()
		"""
		model: 'MLP', 'GMF', 'NeuMF-end';
		"""		
		self.dropout = dropout
		self.model = model

		self.embed_user_GMF = nn.Embedding(user_num, factor_num)
		self.embed_item_GMF = nn.Embedding(item_num, factor_num)
		self.embed_user_MLP = nn.Embedding(
				user_num, factor_num * (2 ** (num_layers - 1)))
		self.embed_item_MLP = nn.Embedding(
				item_num, factor_num * (2 ** (num_layers - 1)))

		MLP_modules = []
		for i in range(num_layers):
			input_size = factor_num * (2 ** (num_layers - i))
			MLP_modules.append(nn.Dropout(p=self.dropout))
			MLP_modules.append(nn.Linear(input_size, input_size//2))
			MLP_modules.append(nn.ReLU())
		self.MLP_layers = nn.Sequential(*MLP_modules)

		if self.model in ['MLP', 'GMF']:
			predict_size = factor_num 
		else:
			predict_size = factor_num * 2
		self.predict_layer = nn.Linear(predict_size, 1)

	def forward(self, user, item):
		if not self.model == 'MLP':
			embed_user_GMF = self.embed_user_GMF(user)
			embed_item_GMF = self.embed_item_GMF(item)
			output_GMF = embed_user_GMF * embed_item_GMF
		if not self.model == 'GMF':
			embed_user_MLP = self.embed_user_MLP(user)
			embed_item_MLP = self.embed_item_MLP(item)
			interaction = torch.cat((embed_user_MLP, embed_item_MLP), -1)
			output_MLP = self.MLP_layers(interaction)

		if self.model == 'GMF':
			concat = output_GMF
		elif self.model == 'MLP':
			concat = output_MLP
		else:
			concat = torch.cat((output_GMF, output_MLP), -1)

		prediction = self.predict_layer(concat)
		return prediction.view(-1)

class Model(nn.Module):
	def __init__(self):
		super().__init__()
		self.ncf = NCF(USER_NUM, ITEM_NUM, FACTOR_NUM, NUM_LAYERS, 0.0, 'NeuMF-end')
	def forward(self, user, item):
		return self.ncf(user, item)

def get_inputs():
	return [torch.randint(0, USER_NUM, (BATCH,)), torch.randint(0, ITEM_NUM, (BATCH,))]

def get_init_inputs():
	return []
