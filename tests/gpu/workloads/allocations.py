"""What programs ask of PyTorch's allocator, and what that asks of the driver: runs a program and writes its events.

    allocations.py PROGRAM STEPS [OUT]

With OUT, the memory history that PyTorch keeps is written to OUT.tensors (every tensor: allocated, and free again) and
OUT.segments (what the allocator gets from the driver and gives back), a line an event: ``A ADDRESS BYTES`` or
``F ADDRESS``, the address in hexadecimal. Without, the program only runs, and somebody else watches. Prints one JSON object.
"""

import json
import random
import sys
import time

#: More events than any program here has: a history that lost its beginning is of no use.
MOST_EVENTS = 2_000_000
#: Events of the history, by the file they belong to.
BEGINNINGS = {"alloc": "tensors", "segment_alloc": "segments"}
ENDS = {"free_completed": "tensors", "segment_free": "segments"}
SEED = 20261122

#: Epochs of images: full batches, the incomplete last one, batches of an evaluation.
BATCHES, LAST_BATCH, EVALUATIONS, EVALUATION_BATCH = 10, 40, 3, 100

#: The server: a small decoder, requests of random lengths, several at a time.
WIDTH, HEADS, LAYERS, WORDS = 1024, 16, 4, 8192
REQUESTS = 6
PROMPT_TOKENS = (16, 1500)
ANSWER_TOKENS = (4, 120)


def trained(name, mode=None):
    """A training of this folder, eager or compiled in the given mode."""

    def program(torch, steps):
        task = __import__(name).build(torch)
        if mode is not None:
            task.model = torch.compile(task.model, mode=mode)
        for _ in range(steps):
            task.step()

    return program


def epochs(torch, steps):
    """Images as a program meets them: batches of several sizes, evaluations, an emptied cache after each epoch."""
    import resnet

    task = resnet.build(torch)
    labels = torch.randint(0, resnet.CLASSES, (EVALUATION_BATCH,), device="cuda")

    def images(count):
        return torch.randn(count, 3, resnet.PIXELS, resnet.PIXELS, device="cuda")

    for _ in range(steps):
        task.model.train()
        for batch in range(BATCHES):
            count = LAST_BATCH if batch == BATCHES - 1 else resnet.BATCH
            task.optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(task.model(images(count)), labels[:count]).backward()
            task.optimizer.step()
        task.model.eval()
        with torch.no_grad():
            for _ in range(EVALUATIONS):
                task.model(images(EVALUATION_BATCH)).argmax(1).eq(labels).sum()
        torch.cuda.empty_cache()


class Decoder:
    """A decoder with random weights whose keys and values grow by concatenation, request by request."""

    def __init__(self, torch):
        self._torch = torch

        def weights(rows, columns):
            return torch.randn(rows, columns, device="cuda", dtype=torch.float16) / columns**0.5

        self._words = weights(WORDS, WIDTH)
        shapes = ((3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH))
        self._layers = [[weights(*shape) for shape in shapes] for _ in range(LAYERS)]

    def forward(self, words, cache):
        """The next word after the given ones; the cache takes their keys and values."""
        torch, functional = self._torch, self._torch.nn.functional
        state = self._words[words].unsqueeze(0)
        tokens = state.shape[1]
        for at, (projections, output, wide, narrow) in enumerate(self._layers):
            normed = functional.layer_norm(state, (WIDTH,))
            query, key, value = (
                part.view(1, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
                for part in functional.linear(normed, projections).split(WIDTH, 2)
            )
            if cache[at] is not None:
                key, value = torch.cat((cache[at][0], key), 2), torch.cat((cache[at][1], value), 2)
            cache[at] = (key, value)
            seen = functional.scaled_dot_product_attention(query, key, value, is_causal=tokens > 1)
            state = state + functional.linear(seen.transpose(1, 2).reshape(1, tokens, WIDTH), output)
            normed = functional.layer_norm(state, (WIDTH,))
            state = state + functional.linear(functional.gelu(functional.linear(normed, wide)), narrow)
        return functional.linear(state[:, -1], self._words).argmax(1)


def serving(torch, steps):
    """A language-model server: each step begins requests where there is room, and each request gets its next word."""
    numbers = random.Random(SEED)
    decoder = Decoder(torch)
    live = []
    with torch.no_grad():
        for _ in range(steps):
            while len(live) < REQUESTS:
                prompt = torch.randint(0, WORDS, (numbers.randint(*PROMPT_TOKENS),), device="cuda")
                cache = [None] * LAYERS
                live.append([decoder.forward(prompt, cache), cache, numbers.randint(*ANSWER_TOKENS)])
            for request in live:
                request[0] = decoder.forward(request[0], request[1])
                request[2] -= 1
            live = [request for request in live if request[2] > 0]


PROGRAMS = {
    "gpt": trained("gpt"),
    "resnet": trained("resnet"),
    "mlp": trained("mlp"),
    "gpt-compiled": trained("gpt", "default"),
    "mlp-graphs": trained("mlp", "reduce-overhead"),
    "epochs": epochs,
    "serving": serving,
}


def write(history, out):
    """Writes the events of one device's history; returns how many each file has."""
    counts = {"tensors": 0, "segments": 0}
    with open(f"{out}.tensors", "w", encoding="ascii") as tensors, open(f"{out}.segments", "w", encoding="ascii") as segments:
        files = {"tensors": tensors, "segments": segments}
        for event in history:
            action = event["action"]
            if action in BEGINNINGS:
                kind = BEGINNINGS[action]
                files[kind].write(f"A {event['addr']:x} {event['size']}\n")
            elif action in ENDS:
                kind = ENDS[action]
                files[kind].write(f"F {event['addr']:x}\n")
            else:
                continue
            counts[kind] += 1
    return counts


def main():
    """Runs one program, with or without a history."""
    import torch

    program, steps = PROGRAMS[sys.argv[1]], int(sys.argv[2])
    out = sys.argv[3] if len(sys.argv) > 3 else None
    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device: this workload records one")
    torch.cuda.init()  # there is no allocator to watch before
    torch.manual_seed(SEED)
    if out is not None:
        torch.cuda.memory._record_memory_history("all", context=None, max_entries=MOST_EVENTS)
    started = time.monotonic()
    program(torch, steps)
    torch.cuda.synchronize()
    answer = {"program": sys.argv[1], "steps": steps, "seconds": time.monotonic() - started, "torch": torch.__version__}
    answer["peak_bytes"] = torch.cuda.max_memory_allocated()
    if out is not None:
        history = max(torch.cuda.memory._snapshot()["device_traces"], key=len)
        if len(history) >= MOST_EVENTS:
            raise SystemExit(f"the history is full after {len(history)} events: its beginning is lost")
        answer["events"] = write(history, out)
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
