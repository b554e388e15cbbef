"""What a call gave back, as bytes that another process can be compared with. Needs a PyTorch module that its caller imports."""

import hashlib


def leaves(torch, value):
    """The tensors, numbers and other things inside nested containers, in order."""
    from torch.utils._pytree import tree_flatten

    return tree_flatten(value)[0]


def _dense(torch, tensor):
    """The strided tensors that hold what a tensor of any layout holds."""
    if tensor.is_nested:
        return [part for one in tensor.unbind() for part in _dense(torch, one)]
    if tensor.is_quantized:
        return [tensor.int_repr()]
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce()
        return [tensor.indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csr, getattr(torch, "sparse_bsr", None)):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (getattr(torch, "sparse_csc", 0), getattr(torch, "sparse_bsc", 0)):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return [tensor if tensor.layout is torch.strided else tensor.to_dense()]


def _bits(torch, tensor):
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    if plain.is_complex():
        plain = torch.view_as_real(plain).reshape(-1)
    # A copy of its own: of a single element any stride counts as contiguous, but not to view().
    return torch.empty(plain.shape, dtype=plain.dtype).copy_(plain).view(torch.uint8).numpy().tobytes()


class Values:
    """A file of raw values, and a line for each: what it is, its type and shape, its digest, and where its bytes lie.

    :param path: the file; it is overwritten
    """

    def __init__(self, torch, path):
        self._torch = torch
        self._file = open(path, "wb")
        self._offset = 0

    def close(self):
        """Ends the file."""
        self._file.close()

    def keep(self, label, value, contents=True):
        """Writes everything inside a value; returns its lines. Without ``contents`` types and shapes alone are kept."""
        torch, lines = self._torch, []
        for index, leaf in enumerate(leaves(torch, value)):
            name = f"{label}{index}"
            if isinstance(leaf, torch.Tensor):
                for part in _dense(torch, leaf):
                    kind = str(part.dtype).replace("torch.", "")
                    lines.append(self._line(name, kind, list(part.shape), _bits(torch, part) if contents else b""))
            elif isinstance(leaf, float):
                lines.append(self._line(name, "float64", [], _bits(torch, torch.tensor(leaf, dtype=torch.float64))))
            else:
                lines.append(self._line(name, "object", [], repr(leaf).encode()))
        return lines

    def _line(self, name, kind, shape, raw):
        line = [name, kind, shape, hashlib.sha256(raw).hexdigest()[:32], self._offset, len(raw)]
        self._file.write(raw)
        self._offset += len(raw)
        return line

    def flush(self):
        """Makes what was written visible to others."""
        self._file.flush()


def digest(torch, value):
    """One digest of everything inside a value."""
    whole = hashlib.sha256()
    for leaf in leaves(torch, value):
        if isinstance(leaf, torch.Tensor):
            for part in _dense(torch, leaf):
                whole.update(f"{part.dtype}{tuple(part.shape)}".encode())
                whole.update(_bits(torch, part))
        elif isinstance(leaf, (bool, int, float, complex, str)):
            whole.update(repr(leaf).encode())
    return whole.hexdigest()[:32]
