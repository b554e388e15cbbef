"""Launch-bound: six times Linear(256) and ReLU, batch 64, SGD, fp32. The host is the bottleneck."""

from training import Task, main

WIDTH = 256
LAYERS = 6
BATCH = 64


def build(torch):
    """The task on the current CUDA device."""
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).cuda()
    target = torch.randn(BATCH, WIDTH, device="cuda")
    return Task(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        torch.randn(BATCH, WIDTH, device="cuda"),
        lambda output: torch.nn.functional.mse_loss(output, target),
    )


if __name__ == "__main__":
    main("mlp", build)
