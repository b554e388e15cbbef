package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuEventCreate;
import static jcuda.driver.JCudaDriver.cuEventDestroy;
import static jcuda.driver.JCudaDriver.cuEventRecord;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemAllocHost;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemFreeHost;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoDAsync;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoHAsync;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoDAsync;
import static jcuda.driver.JCudaDriver.cuMemsetD8Async;
import static jcuda.driver.JCudaDriver.cuStreamCreate;
import static jcuda.driver.JCudaDriver.cuStreamDestroy;
import static jcuda.driver.JCudaDriver.cuStreamSynchronize;
import static jcuda.driver.JCudaDriver.cuStreamWaitEvent;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;

/** Sends pinned memory to the device and back in pieces, on one stream each way. Launches no kernel. */
public final class AsyncCopies {
    private static final int CHUNKS = 16;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int BYTES = CHUNKS * CHUNK_BYTES;
    private static final byte FILL = 0x5a;

    private AsyncCopies() {
    }

    /** Runs the program; no arguments. Ends with 0 if every byte came back. */
    public static void main(String[] arguments) {
        byte[] sent = new byte[BYTES];
        new SplittableRandom(5).nextBytes(sent);
        CUcontext context = Gpu.open();
        byte[] returned = thereAndBack(sent);
        cuCtxDestroy(context);
        byte[] expected = sent.clone();
        Arrays.fill(expected, 0, CHUNK_BYTES / 2, FILL);
        ResultLine.end("async copies", CHUNKS + " pieces of " + CHUNK_BYTES + " bytes, hash "
                + Arrays.hashCode(returned), Arrays.equals(returned, expected));
    }

    private static byte[] thereAndBack(byte[] sent) {
        Pointer from = new Pointer();
        Pointer into = new Pointer();
        cuMemAllocHost(from, BYTES);
        cuMemAllocHost(into, BYTES);
        CUdeviceptr first = new CUdeviceptr();
        CUdeviceptr second = new CUdeviceptr();
        cuMemAlloc(first, BYTES);
        cuMemAlloc(second, BYTES);
        CUstream there = new CUstream();
        CUstream back = new CUstream();
        cuStreamCreate(there, 0);
        cuStreamCreate(back, 0);
        CUevent arrived = new CUevent();
        cuEventCreate(arrived, 0);
        from.getByteBuffer(0, BYTES).put(sent);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            long at = (long) chunk * CHUNK_BYTES;
            cuMemcpyHtoDAsync(first.withByteOffset(at), from.withByteOffset(at), CHUNK_BYTES, there);
            if (chunk == 0) {
                cuMemsetD8Async(first, FILL, CHUNK_BYTES / 2, there);
            }
            cuEventRecord(arrived, there);
            cuStreamWaitEvent(back, arrived, 0);
            cuMemcpyDtoDAsync(second.withByteOffset(at), first.withByteOffset(at), CHUNK_BYTES, back);
            cuMemcpyDtoHAsync(into.withByteOffset(at), second.withByteOffset(at), CHUNK_BYTES, back);
        }
        cuStreamSynchronize(back);
        byte[] returned = new byte[BYTES];
        ByteBuffer pinned = into.getByteBuffer(0, BYTES);
        pinned.get(returned);
        cuEventDestroy(arrived);
        cuStreamDestroy(there);
        cuStreamDestroy(back);
        cuMemFree(first);
        cuMemFree(second);
        cuMemFreeHost(from);
        cuMemFreeHost(into);
        return returned;
    }
}
