// One step of heat spreading over a plate: each inner cell moves a quarter of the way to the mean of its neighbours.
extern "C" __global__ void heat_step(const double *now, double *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        next[i] = now[i];
        return;
    }
    double around = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
    next[i] = now[i] + 0.0625 * (around - 4.0 * now[i]);
}
