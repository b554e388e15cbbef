"""GPU-bound with convolutions: resnet18, batch 64, images of 224 by 224, SGD, fp32, random weights."""

from training import Task, main

BATCH = 64
PIXELS = 224
CLASSES = 1000


def build(torch):
    """The task on the current CUDA device."""
    import torchvision

    model = torchvision.models.resnet18(weights=None).cuda()
    labels = torch.randint(0, CLASSES, (BATCH,), device="cuda")
    return Task(
        model,
        torch.optim.SGD(model.parameters(), lr=1e-2),
        torch.randn(BATCH, 3, PIXELS, PIXELS, device="cuda"),
        lambda output: torch.nn.functional.cross_entropy(output, labels),
    )


if __name__ == "__main__":
    main("resnet", build)
