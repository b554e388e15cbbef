// One score a class: the dot product of the vector with the class's weights, plus its bias.
extern "C" __global__ void scores(const float *weights, const float *biases, const float *vector, float *scores,
                                  int classes, int features)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= classes)
        return;
    float sum = biases[row];
    for (int i = 0; i < features; i++)
        sum += weights[row * features + i] * vector[i];
    scores[row] = sum;
}
