"""A server of a language model: random weights in fp16, a conversation in its key-value cache, the rest of its share preallocated.

A step is one token, and its loss is the number of that token. Every ``LM_TOKENS`` steps a request begins: the same prompt goes
in first, behind the same conversation, so all answers are equal. Weights or a conversation that changed end the server. ``LM_SHARE`` says which share of the device is allocated
(0: no more than is needed), and ``LM_SEED`` which weights there are. ``LM_LAYERS`` makes a smaller model.
"""

import os

from training import Task, main

#: The shape of a model with 8 billion weights: 16 GB.
LAYERS = 32
SHAPE = {"vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8}
#: Tokens of the conversation, 128 KiB each, and of a prompt.
CONVERSATION = 8192
PROMPT = 32
#: What the caching allocator needs beside weights and conversation: both halves of a cache that grows by a token, logits.
SPARE_BYTES = 6 << 30


class LanguageModelTask(Task):
    """Answers requests with greedy decoding: the same tokens wherever every bit of weights and cache is the same."""

    def __init__(self, torch, share, seed, layers, tokens):
        import transformers

        self._torch = torch
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float16)
        config = transformers.LlamaConfig(num_hidden_layers=layers, max_position_embeddings=2 * CONVERSATION, **SHAPE)
        with torch.device("cuda"):
            self._model = transformers.LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
        self._tokens = tokens
        self._cache_of = lambda: transformers.DynamicCache()
        self._vocabulary = config.vocab_size
        self._conversation = self._read(self._cache_of(), self._some_tokens(CONVERSATION))[0]
        rest_bytes = int(share * torch.cuda.mem_get_info()[1]) - torch.cuda.memory_allocated() - SPARE_BYTES
        self._preallocated = torch.empty(max(1, rest_bytes), dtype=torch.uint8, device="cuda")
        self._prompt = self._some_tokens(PROMPT)
        self._steps = 0
        self._cache = self._last = None
        self._sums = self._summed()
        super().__init__(None, None, None, None)

    def _some_tokens(self, count):
        return self._torch.randint(self._vocabulary, (1, count), device="cuda")

    def _read(self, cache, tokens):
        """The cache behind these tokens, and the token that follows."""
        torch = self._torch
        with torch.no_grad():
            output = self._model(input_ids=tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return output.past_key_values, output.logits[:, -1:].argmax(-1)

    def step(self):
        """One token of an answer."""
        if self._steps % self._tokens == 0:
            self._require_unchanged()
            self._cache, self._last = self._copied(), self._prompt
        self._steps += 1
        self._cache, self._last = self._read(self._cache, self._last)
        return self._last[0, 0].float()

    def _summed(self):
        """Exact sums over the bits of all weights and of the conversation."""
        torch = self._torch
        kept = [*self._model.parameters(), *(part for pair in self._layers() for part in pair)]
        return torch.stack([part.view(torch.int64).sum() for part in kept])

    def _require_unchanged(self):
        wrong = (self._summed() != self._sums).nonzero().flatten().tolist()
        if wrong:
            raise SystemExit(f"step {self._steps}: {len(wrong)} of {len(self._sums)} tensors have changed, the first is number {wrong[0]}")

    def _copied(self):
        """A cache that begins with the conversation; what is read later is put behind it in memory of its own."""
        cache = self._cache_of()
        for layer, (keys, values) in enumerate(self._layers()):
            cache.update(keys, values, layer)
        return cache

    def _layers(self):
        return [(layer.keys, layer.values) for layer in self._conversation.layers]

    def state(self):
        """Nothing: the tokens tell of every weight."""
        return []


def build(torch):
    """The task on the current CUDA device."""
    return LanguageModelTask(
        torch,
        float(os.environ.get("LM_SHARE", "0")),
        int(os.environ.get("LM_SEED", "0")),
        int(os.environ.get("LM_LAYERS", str(LAYERS))),
        int(os.environ.get("LM_TOKENS", "16")),
    )


if __name__ == "__main__":
    main("language_model", build)
