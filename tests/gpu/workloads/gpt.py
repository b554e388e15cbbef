"""GPU-bound: a Transformer encoder of 4 layers, d=512, on 16 sequences of 256 tokens, SGD, fp32."""

from training import Task, main

WIDTH = 512
HEADS = 8
LAYERS = 4
SEQUENCES = 16
TOKENS = 256


def build(torch):
    """The task on the current CUDA device."""
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, dim_feedforward=4 * WIDTH, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).cuda()
    target = torch.randn(SEQUENCES, TOKENS, WIDTH, device="cuda")
    return Task(
        model,
        torch.optim.SGD(model.parameters(), lr=1e-2),
        torch.randn(SEQUENCES, TOKENS, WIDTH, device="cuda"),
        lambda output: torch.nn.functional.mse_loss(output, target),
    )


if __name__ == "__main__":
    main("gpt", build)
