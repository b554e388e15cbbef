"""resnet50 (He and others, 2015; stride in the 3 by 3 convolution) in plain PyTorch, with random weights, and as a program its
training: batch 128, images of 224 by 224, SGD with momentum, bf16.
"""

from training import Task, main

BATCH = 128
PIXELS = 224
CLASSES = 1000
#: Of each stage: blocks, and the width of their inner convolutions. What a block gives is four times as wide.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
EXPANSION = 4


def resnet50(torch):
    """The network, on the CPU."""
    nn = torch.nn

    def convolution(inputs, outputs, size, stride=1):
        return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))

    class Block(nn.Module):
        """Three convolutions, and the input beside them."""

        def __init__(self, inputs, width, stride):
            super().__init__()
            outputs = EXPANSION * width
            self.inner = nn.Sequential(
                convolution(inputs, width, 1), nn.ReLU(True), convolution(width, width, 3, stride), nn.ReLU(True), convolution(width, outputs, 1)
            )
            self.beside = nn.Identity() if inputs == outputs and stride == 1 else convolution(inputs, outputs, 1, stride)

        def forward(self, images):
            return torch.relu(self.inner(images) + self.beside(images))

    layers = [convolution(3, 64, 7, 2), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, (blocks, width) in enumerate(STAGES):
        for block in range(blocks):
            layers.append(Block(inputs, width, 2 if stage and not block else 1))
            inputs = EXPANSION * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


class MixedTask(Task):
    """A step whose forward pass is in bf16 where that is safe."""

    def __init__(self, torch, *parts):
        super().__init__(*parts)
        self._torch = torch

    def step(self):
        """One training step. Returns the loss tensor."""
        self.optimizer.zero_grad(set_to_none=True)
        with self._torch.autocast("cuda", dtype=self._torch.bfloat16):
            loss = self.loss(self.model(self.inputs))
        loss.backward()
        self.optimizer.step()
        return loss


def build(torch):
    """The training on the current CUDA device."""
    model = resnet50(torch).cuda().to(memory_format=torch.channels_last)
    labels = torch.randint(0, CLASSES, (BATCH,), device="cuda")
    return MixedTask(
        torch,
        model,
        torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9),
        torch.randn(BATCH, 3, PIXELS, PIXELS, device="cuda").to(memory_format=torch.channels_last),
        lambda output: torch.nn.functional.cross_entropy(output, labels),
    )


if __name__ == "__main__":
    main("resnet50", build)
