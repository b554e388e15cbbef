package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSetCurrent;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoHAsync;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoDAsync;
import static jcuda.driver.JCudaDriver.cuStreamCreate;
import static jcuda.driver.JCudaDriver.cuStreamDestroy;
import static jcuda.driver.JCudaDriver.cuStreamSynchronize;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;

/**
 * A linear model on the GPU: it returns a score for each class from a vector of features. Any thread may call it; each has its own stream.
 */
final class ScoringModel implements AutoCloseable {
    static final int FEATURES = 128;
    static final int CLASSES = 64;
    private static final int THREADS = 64;

    /** Stream and buffers of one thread. */
    private final class Lane {
        private final CUstream stream = new CUstream();
        private final CUdeviceptr vector;
        private final CUdeviceptr scores;

        private Lane() {
            cuCtxSetCurrent(context);
            cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING);
            vector = Gpu.allocate(FEATURES);
            scores = Gpu.allocate(CLASSES);
            synchronized (lanes) {
                lanes.add(this);
            }
        }

        private float[] score(float[] features) {
            float[] result = new float[CLASSES];
            cuMemcpyHtoDAsync(vector, Pointer.to(features), (long) FEATURES * Sizeof.FLOAT, stream);
            Pointer parameters = Pointer.to(Pointer.to(deviceWeights), Pointer.to(deviceBiases), Pointer.to(vector),
                    Pointer.to(scores), Pointer.to(new int[] {CLASSES}), Pointer.to(new int[] {FEATURES}));
            cuLaunchKernel(kernel, (CLASSES + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, stream, parameters, null);
            cuMemcpyDtoHAsync(Pointer.to(result), scores, (long) CLASSES * Sizeof.FLOAT, stream);
            cuStreamSynchronize(stream);
            return result;
        }

        private void free() {
            cuStreamDestroy(stream);
            cuMemFree(vector);
            cuMemFree(scores);
        }
    }

    private final float[] weights = new float[CLASSES * FEATURES];
    private final float[] biases = new float[CLASSES];
    private final CUcontext context;
    private final CUfunction kernel;
    private final CUdeviceptr deviceWeights;
    private final CUdeviceptr deviceBiases;
    private final List<Lane> lanes = new ArrayList<>();
    private final ThreadLocal<Lane> lane = ThreadLocal.withInitial(Lane::new);

    /** Takes weights from the seed; they stay on the device until the model is closed. */
    ScoringModel(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < weights.length; i++) {
            weights[i] = random.nextInt(-9, 10);
        }
        for (int i = 0; i < biases.length; i++) {
            biases[i] = random.nextInt(-99, 100);
        }
        context = Gpu.open();
        kernel = Gpu.kernel("scores");
        deviceWeights = Gpu.upload(weights);
        deviceBiases = Gpu.upload(biases);
    }

    /** Returns the scores, computed on the GPU. */
    float[] score(float[] features) {
        return lane.get().score(features);
    }

    /** Returns the scores, computed on the CPU: sums of small whole numbers, so every digit must agree. */
    float[] expected(float[] features) {
        float[] result = new float[CLASSES];
        for (int row = 0; row < CLASSES; row++) {
            float sum = biases[row];
            for (int i = 0; i < FEATURES; i++) {
                sum += weights[row * FEATURES + i] * features[i];
            }
            result[row] = sum;
        }
        return result;
    }

    /** Returns features of whole numbers from a seed. */
    static float[] features(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] features = new float[FEATURES];
        for (int i = 0; i < FEATURES; i++) {
            features[i] = random.nextInt(-9, 10);
        }
        return features;
    }

    /** Frees everything; the model must not be used afterwards. */
    @Override
    public void close() {
        cuCtxSetCurrent(context);
        synchronized (lanes) {
            lanes.forEach(Lane::free);
            lanes.clear();
        }
        cuMemFree(deviceWeights);
        cuMemFree(deviceBiases);
        cuCtxDestroy(context);
    }
}
