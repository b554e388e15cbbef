// What a program with CCCL's algorithms brings as PTX: sort, scan, unique, reduce, histogram and select, about 1 MB.
#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

void run(int *keys, float *values, double *sums, size_t count)
{
    thrust::device_ptr<int> key(keys);
    thrust::device_ptr<float> value(values);
    thrust::device_ptr<double> sum(sums);
    thrust::sort_by_key(key, key + count, value);
    thrust::inclusive_scan(sum, sum + count, sum);
    thrust::unique(key, key + count);
    *sums = thrust::reduce(value, value + count);
    size_t bytes = 0;
    cub::DeviceHistogram::HistogramEven((void *)0, bytes, values, keys, 257, 0.f, 1.f, (int)count);
    cub::DeviceSelect::If((void *)0, bytes, keys, keys, keys, count, [] __device__(int each) { return each & 1; });
}
