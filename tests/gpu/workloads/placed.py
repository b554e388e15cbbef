"""Says on which GPU it is, computes until its input ends, and says whether all results were the same.

  {"gpu": UUID, "count": GPUs that it sees}     when it is on its GPU
  {"right": true}                               at its end
"""

import json
import sys
import threading

SIZE = 2048


def main():
    """Multiplies matrices."""
    import torch

    torch.manual_seed(1)
    factor = torch.randn(SIZE, SIZE, device="cuda")
    first = factor @ factor
    gpu = str(torch.cuda.get_device_properties(0).uuid)
    print(json.dumps({"gpu": gpu, "count": torch.cuda.device_count()}), flush=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    right = bool(torch.isfinite(first).all())
    while not ended.is_set():
        right = bool(torch.equal(factor @ factor, first)) and right
    print(json.dumps({"right": right}), flush=True)


if __name__ == "__main__":
    main()
