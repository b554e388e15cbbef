"""Whether two arrays of raw bytes agree, by their type. Pure Python: the comparison needs neither PyTorch nor NumPy.

Bits are compared first; what differs is compared as numbers. Two bounds apply: relative to the number itself, and relative to
the largest number of its array, because what a sum of large numbers leaves over is no more exact than they are.
"""

import dataclasses
import math
import struct

#: Relative bounds for what may come out in another order of adding: some hundred units in the last place.
BOUNDS = {
    "float64": 1e-9, "complex128": 1e-9, "float32": 1e-4, "complex64": 1e-4, "float16": 1e-2, "complex32": 1e-2, "bfloat16": 4e-2,
}  # fmt: skip
_FORMATS = {
    "float64": "d", "complex128": "d", "float32": "f", "complex64": "f", "float16": "e", "complex32": "e",
    "int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Difference:
    """How two arrays differ.

    :param count: how many elements differ
    :param place: the first of them, and its two numbers (the parts of complex numbers count one by one)
    :param excess: the largest difference over what is allowed; at most 1 is within the bounds, infinite where there is no bound
    """

    count: int
    place: int
    left: str
    right: str
    excess: float

    @property
    def close(self):
        """Whether all is within the bounds."""
        return self.excess <= 1.0


def numbers(kind, raw):
    """The numbers in raw bytes, or None for a type that is unknown here."""
    if kind == "bfloat16":
        words = struct.unpack(f"<{len(raw) // 2}H", raw)
        return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(word << 16 for word in words)))
    form = _FORMATS.get(kind)
    return struct.unpack(f"<{len(raw) // struct.calcsize(form)}{form}", raw) if form else None


def difference(kind, left, right):
    """How two arrays of one type differ; None where every bit is equal."""
    if left == right:
        return None
    a, b = numbers(kind, left), numbers(kind, right)
    if a is None or len(left) != len(right):
        return Difference(1, 0, f"{len(left)} bytes", f"{len(right)} bytes", math.inf)
    bound = BOUNDS.get(kind, 0.0)
    largest = max((abs(number) for number in b if math.isfinite(number)), default=0.0)
    count, place, excess = 0, None, 0.0
    for index, (one, other) in enumerate(zip(a, b)):
        if one == other or (one != one and other != other):
            continue
        count += 1
        place = index if place is None else place
        excess = max(excess, _excess(one, other, bound, largest))
    if place is None:
        return Difference(0, 0, "", "", 0.0)  # zeros of two signs, or other NaNs
    return Difference(count, place, repr(a[place]), repr(b[place]), excess)


def _excess(one, other, bound, largest):
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    allowed = bound * max(abs(other), largest)
    return abs(one - other) / allowed if allowed else math.inf
