package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuEventCreate;
import static jcuda.driver.JCudaDriver.cuEventDestroy;
import static jcuda.driver.JCudaDriver.cuEventRecord;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuStreamCreate;
import static jcuda.driver.JCudaDriver.cuStreamDestroy;
import static jcuda.driver.JCudaDriver.cuStreamSynchronize;
import static jcuda.driver.JCudaDriver.cuStreamWaitEvent;

import java.io.IOException;
import java.util.Arrays;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;

/** A chain over several streams: each vector is computed from its predecessor after an event shows that this is complete. */
public final class Streams {
    private static final int STREAMS = 4;
    private static final int ROUNDS = 5;
    private static final int N = 20_000;
    private static final int THREADS = 256;
    private static final float ALPHA = 0.5f;

    private final CUstream[] streams = new CUstream[STREAMS];
    private final CUevent[] finished = new CUevent[STREAMS];
    private final CUdeviceptr[] vectors = new CUdeviceptr[STREAMS];

    private Streams() {
    }

    /** Runs the program; no arguments. Ends with 0 if every vector is right. */
    public static void main(String[] arguments) throws IOException {
        CUcontext context = Gpu.open();
        float[] last = new Streams().chain(Gpu.kernel("saxpy"));
        cuCtxDestroy(context);
        ResultLine.end("streams", STREAMS + " streams, " + ROUNDS + " rounds, digest " + ResultLine.digest(last),
                Arrays.equals(last, expected()));
    }

    private float[] chain(CUfunction kernel) {
        for (int i = 0; i < STREAMS; i++) {
            streams[i] = new CUstream();
            cuStreamCreate(streams[i], CUstream_flags.CU_STREAM_NON_BLOCKING);
            finished[i] = new CUevent();
            cuEventCreate(finished[i], CUevent_flags.CU_EVENT_DISABLE_TIMING);
            vectors[i] = Gpu.upload(start(i));
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < STREAMS; i++) {
                int before = (i + STREAMS - 1) % STREAMS;
                if (round > 0 || i > 0) {
                    cuStreamWaitEvent(streams[i], finished[before], 0);
                }
                Pointer parameters = Pointer.to(Pointer.to(new float[] {ALPHA}), Pointer.to(vectors[before]),
                        Pointer.to(vectors[i]), Pointer.to(new int[] {N}));
                cuLaunchKernel(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, streams[i], parameters,
                        null);
                cuEventRecord(finished[i], streams[i]);
            }
        }
        cuStreamSynchronize(streams[STREAMS - 1]);
        float[] last = Gpu.download(vectors[STREAMS - 1], N);
        for (int i = 0; i < STREAMS; i++) {
            cuStreamDestroy(streams[i]);
            cuEventDestroy(finished[i]);
            cuMemFree(vectors[i]);
        }
        return last;
    }

    private static float[] start(int stream) {
        float[] vector = new float[N];
        for (int i = 0; i < N; i++) {
            vector[i] = (stream + 1) * (i % 17);
        }
        return vector;
    }

    /** Products with a power of two are exact, so a fused multiplication and addition rounds as two steps do. */
    private static float[] expected() {
        float[][] vectors = new float[STREAMS][];
        for (int i = 0; i < STREAMS; i++) {
            vectors[i] = start(i);
        }
        for (int step = 0; step < ROUNDS * STREAMS; step++) {
            float[] x = vectors[(step + STREAMS - 1) % STREAMS];
            float[] y = vectors[step % STREAMS];
            for (int i = 0; i < N; i++) {
                y[i] = ALPHA * x[i] + y[i];
            }
        }
        return vectors[STREAMS - 1];
    }
}
