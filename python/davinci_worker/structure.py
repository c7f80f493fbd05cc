"""What of a tensor's own values carries its meaning, so that other values must have it too."""

import torch

from davinci_worker import packing

_SAMPLE = 4096
CHUNK = 1 << 25  # elements; what is moved on a device moves in pieces, so that temporaries stay small
_LONGEST_ROW = 1 << 18  # elements; longer ones are no probabilities and no unit vectors
_COLUMNS = 64  # a last dimension so short may hold one quantity in each column
_MIN_ROWS = 8  # where all numbers of a column are whole, that is no coincidence; the same for elements that are in order
_MIN_MATRIX = 4  # rows; that the diagonal of a smaller one stands out may be by chance
_TOLERANCE = 1e-3
MIN_CONSTANT = 16  # elements
_MOST_CODES = 8
_LARGEST_MATRIX = 1024  # rows; larger ones are not tested for definiteness
# Entries of a tensor without structure, in the words of specification.py.
NO_ENTRIES = {"values": "free", "sums": "none", "order": "none", "axis": -1, "zeros": "free", "symmetry": "none", "whole_columns": []}
_ORDERS = {"none": 0, "ascending": 1, "descending": -1}


def _places(size, count, device):
    """Numbers of up to ``count`` of so many elements, always the same ones, from all over them: where a triangle of zeros begins or
    a batch is padded, the first would tell little."""
    if size <= count:
        return torch.arange(size, device=device)
    return torch.randint(size, (count,), generator=torch.Generator().manual_seed(size)).to(device)


def sample(tensor):
    if tensor.numel() <= _SAMPLE:
        return tensor.reshape(-1)
    return tensor[packing.coordinates(_places(tensor.numel(), _SAMPLE, tensor.device), tensor.shape)]


def has_few_values(some):
    """Masks, indices, one-hot rows, signs: of a sample, are there so few distinct numbers that their meaning is in them?"""
    return some.numel() >= MIN_CONSTANT and torch.unique(some).numel() <= _MOST_CODES


def _sample_rows(tensor):
    """Some of the rows along the last dimension, up to where rows are too long to look at."""
    rows = tensor[..., :_LONGEST_ROW]
    if rows.dim() == 1:
        return rows[None]
    count = rows.numel() // rows.shape[-1]
    return rows[packing.coordinates(_places(count, max(4, _SAMPLE // rows.shape[-1]), rows.device), rows.shape[:-1])]


def blocks(tensor, together=0):
    """Views of about so many elements that make up the tensor; its last ``together`` dimensions are not taken apart."""
    if tensor.numel() <= CHUNK or tensor.dim() <= together:
        yield tensor
    elif rows := CHUNK // (tensor.numel() // tensor.shape[0]):
        yield from tensor.split(rows)
    else:
        for row in tensor.unbind(0):
            yield from blocks(row, together)


def _strips(tensor):
    """Pairs of views of square matrices: some rows from the diagonal on, and what they would be in the transpose."""
    for block in blocks(tensor, 2):
        size = block.shape[-1]
        step = max(1, CHUNK // (block.numel() // size))
        for i in range(0, size, step):
            yield block[..., i:i + step, i:], block[..., i:, i:i + step].mT


def _wide(tensor):
    return torch.float64 if tensor.dtype is torch.float64 else torch.float32


def _tolerance(tensor):
    return max(_TOLERANCE, torch.finfo(tensor.dtype).eps)


def _whole(values):
    """Along the first dimension, are all of them whole numbers, and not for want of precision?"""
    exact = (values.abs() < 1 / torch.finfo(values.dtype).eps).float().mean(0) >= 0.01
    return (values == values.round()).all(0) & exact


def _sums(rows):
    return rows.sum(-1, dtype=_wide(rows))


def _norms(rows):
    return torch.linalg.vector_norm(rows, dim=-1, dtype=_wide(rows))


class Structure:
    """Ids in a column, a triangle of zeros, symmetry, positive definiteness, and along one dimension order, probabilities or unit
    vectors. A sample decides whether the whole tensor is looked at. ``keeps_all``: only its own values are sure to be of its kind.
    ``said``: entries that are known (specification.py); with all of them the tensor is not looked at."""

    def __init__(self, own, constant=False, said=None):
        self._own = own
        self._columns, self._zeros, self.symmetric, self.keeps_all, self.solvable = [], False, False, False, False
        self._axis, self._probabilities, self._unit, self._order = -1, False, False, 0
        if not said or any(name not in said for name in NO_ENTRIES):
            self._look(own, constant)
        if said:
            self._take(said)

    @property
    def entries(self):
        return {"values": "kept" if self.keeps_all else "system" if self.solvable else "free",
                "sums": "one" if self._probabilities else "unit" if self._unit else "none",
                "order": next(word for word, order in _ORDERS.items() if order == self._order), "axis": self._axis,
                "zeros": "kept" if self._zeros else "free", "symmetry": "kept" if self.symmetric else "none", "whole_columns": self._columns}

    def _take(self, said):
        said = {**self.entries, **said}
        self.keeps_all, self.solvable = said["values"] == "kept", said["values"] == "system"
        self._probabilities, self._unit, self._order = said["sums"] == "one", said["sums"] == "unit", _ORDERS[said["order"]]
        self._axis, self._zeros, self.symmetric = said["axis"], said["zeros"] == "kept", said["symmetry"] == "kept"
        self._columns = said["whole_columns"]

    def _look(self, own, constant):
        for axis in (-1, *range(own.dim() - 1)) if own.dim() else ():
            if self._find_rows(own.movedim(axis, -1), constant):
                self._axis = axis
                break
        if constant:
            return
        some, length = sample(own), own.shape[-1] if own.dim() else 0
        self._zeros = self._has_zeros(some)
        self.symmetric = own.dim() > 1 and own.shape[-2] == length > 1 and self._is_symmetric(some)
        # A system that can be solved, or what is positive definite: no values but its own are sure to be one.
        self.solvable = self.symmetric and self._is_definite() or \
            own.dim() > 1 and own.shape[-2] == length >= _MIN_MATRIX and self._is_dominated()
        # Lengths and ids, and a matrix that would lose its symmetry or its sums for the other.
        self.keeps_all = self.symmetric and (self._probabilities or self._unit) or \
            self._unit and self._is_orthonormal() or \
            self._holds(own, some, lambda values: _whole(values.reshape(-1)) & (values.abs() > 1).any(), 0,
                        lambda part: (part == part.round()).all())
        if not (self.keeps_all or self.symmetric or self._order or self._probabilities or self._unit) and own.dim() > 1 and \
                length <= _COLUMNS and own.numel() >= max(MIN_CONSTANT, _MIN_ROWS * length):
            self._columns = [j for j in _whole(_sample_rows(own)).nonzero().flatten().tolist()
                             if all(bool((part == part.round()).all()) for part in blocks(own[..., j]))]
            self.keeps_all = len(self._columns) == length

    def _find_rows(self, own, constant):
        """What holds for all rows along the last dimension."""
        length = own.shape[-1]
        if not 1 < length:
            return False
        rows = _sample_rows(own)
        if length <= _LONGEST_ROW:
            self._probabilities = self._holds(own, rows, lambda r: (r >= 0).all() & self._near_one(_sums(r)), 1)
            self._unit = not self._probabilities and self._holds(own, rows, lambda r: self._near_one(_norms(r)), 1)
        if not constant and length >= _MIN_ROWS and (rows[:, 0] != rows[:, -1]).float().mean() >= 0.5:
            if self._holds(own, rows, lambda r: (r[..., 1:] >= r[..., :-1]).all(), 1):
                self._order = 1
            elif self._holds(own, rows, lambda r: (r[..., 1:] <= r[..., :-1]).all(), 1):
                self._order = -1
        return bool(self._probabilities or self._unit or self._order)

    @staticmethod
    def _holds(own, some, of_some, together, of_all=None):
        return bool(of_some(some)) and all(bool((of_all or of_some)(part)) for part in blocks(own, together))

    def _near_one(self, sizes):
        return ((sizes - 1).abs() <= _tolerance(self._own)).all()

    def _has_zeros(self, some):
        if (some == 0).float().mean() < 0.006:
            return False
        count = sum(int((part == 0).sum()) for part in blocks(self._own))
        return 0.01 * self._own.numel() <= count < self._own.numel()

    def _is_symmetric(self, some):
        own, scale = self._own, some.abs().mean(dtype=_wide(some)) / 10
        *batch, i, j = packing.coordinates(_places(own.numel(), _SAMPLE, own.device), own.shape)

        def alike(a, b):
            return ((a - b).abs() <= _tolerance(own) * (a.abs() + b.abs() + scale)).all()

        return bool(alike(own[(*batch, i, j)], own[(*batch, j, i)])) and all(bool(alike(a, b)) for a, b in _strips(own))

    def _is_dominated(self):
        """Is the largest element of every row the one on the diagonal?"""
        diagonal = self._own.diagonal(dim1=-2, dim2=-1)
        at = packing.coordinates(_places(diagonal.numel(), max(_MIN_MATRIX, _SAMPLE // diagonal.shape[-1]), diagonal.device), diagonal.shape)

        def stands_out(rows, values):
            return ((rows.abs() >= values.abs()[..., None]).sum(-1) == 1).all()

        return bool(stands_out(self._own[at], diagonal[at])) and all(
            bool(stands_out(part, part.diagonal(dim1=-2, dim2=-1))) for part in blocks(self._own, 2))

    def _few_matrices(self):
        """Some of them in float64, none where they are large."""
        size = self._own.shape[-1]
        return self._own.reshape(-1, *self._own.shape[-2:])[: _MIN_ROWS].double() if size <= _LARGEST_MATRIX else None

    def _is_definite(self):
        few = self._few_matrices()
        return few is not None and bool((few.diagonal(dim1=-2, dim2=-1) > 0).all()) and not bool(torch.linalg.cholesky_ex(few).info.any())

    def _is_orthonormal(self):
        if self._own.dim() < 2 or min(self._own.shape[-2:]) < _MIN_MATRIX or (few := self._few_matrices()) is None:
            return False
        products = few @ few.mT if few.shape[-2] <= few.shape[-1] else few.mT @ few
        return bool(((products - torch.eye(products.shape[-1], dtype=few.dtype, device=few.device)).abs() <= _tolerance(self._own)).all())

    @property
    def is_walk(self):
        """Square, and its rows or columns are probabilities: what one step of a random walk does."""
        own = self._own
        return self._probabilities and own.dim() > 1 and own.shape[-2] == own.shape[-1] and self._axis in (-1, own.dim() - 2)

    @property
    def ordered(self):
        return self._order != 0

    @property
    def is_bound(self):
        """Is there more to it than zeros in their places: can an element not change alone?"""
        return bool(self.keeps_all or self.solvable or self.symmetric or self._order or self._probabilities or self._unit or self._columns)

    def other_system(self, generator):
        """Other values of what is ``solvable``, as well conditioned or nearly so, in which the diagonal tells less: the rows in another
        order, or, where it is definite, the outer product of a vector more. Where zeros are structural the own ones."""
        own = self._own
        if self._zeros:
            return own
        result = torch.empty_strided(own.shape, own.stride(), dtype=own.dtype, device=own.device)
        size = own.shape[-1]
        if not self.symmetric:
            return result.copy_(own[..., torch.randperm(size, generator=generator, device=own.device), :])
        signs = torch.where(torch.rand(size, generator=generator, device=own.device) < 0.5, -1.0, 1.0).to(own.dtype)
        more = own.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None] / 2
        return torch.add(own, more * (signs[:, None] * signs), out=result)

    def keep(self, result):
        """Other values, in place, of the same structure."""
        rows = self._probabilities or self._unit or self._order
        for part, opposite in _strips(result) if self.symmetric else ():
            mean = (part * 0.5).add_(opposite, alpha=0.5)
            part.copy_(mean)
            opposite.copy_(mean)
        moved = [t.movedim(self._axis, -1) if rows else t for t in (result, self._own)]
        for part, own in zip(*(blocks(t, bool(rows)) for t in moved)) if rows or self._zeros else ():
            if self._probabilities:
                part.abs_()
            if self._zeros:
                if self._order:
                    part.copysign_(own)  # so that the zeros are where they were
                part.masked_fill_(own == 0, 0)
            if self._order:
                part.copy_(part.sort(dim=-1, descending=self._order < 0).values)
            if self._probabilities or self._unit:
                size = (_sums(part) if self._probabilities else _norms(part))[..., None]
                part.copy_(torch.where(size > 0, part / size, own))
        for j in self._columns:
            result[..., j] = self._own[..., j]
        return result
