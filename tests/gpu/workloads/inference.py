"""A small model that answers requests: resnet50, fp16, one image. With ``--variant graph`` a step is the launch of one CUDA graph."""

from resnet50 import PIXELS, resnet50
from training import Task, main


class InferenceTask(Task):
    """A step is a forward pass; its loss is the mean of what comes out."""

    def __init__(self, torch):
        model = resnet50(torch).eval().half().cuda().to(memory_format=torch.channels_last)
        image = torch.randn(1, 3, PIXELS, PIXELS, device="cuda").half().to(memory_format=torch.channels_last)
        super().__init__(model, None, image, None)
        self._torch = torch

    def step(self):
        """One forward pass."""
        with self._torch.no_grad():
            return self.model(self.inputs).mean()


if __name__ == "__main__":
    main("inference", InferenceTask)
