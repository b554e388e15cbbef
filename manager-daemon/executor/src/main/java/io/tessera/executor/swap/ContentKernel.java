package io.tessera.executor.swap;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kernel that examines memory before it leaves the device: whether the memory is zero, and a keyed hash of it. It is the kernel of
 * time sharing, whose source explains why equal hashes mean equal contents ({@code native-preload/src/direct/content/content.cu}).
 * There is one for each device. Thread-safe.
 */
public final class ContentKernel {
    /** Number of words of a hash. */
    static final int HASH = 4;
    /** Number of words of a result: the hash, and 1 if anything is not zero. */
    public static final int RESULT = HASH + 1;
    /** As in content.cu. */
    private static final int THREADS = 256;
    private static final int WORD_KEYS = 512 * 4 + 2 * (HASH - 1);
    private static final int NUMBER_KEYS = THREADS * HASH * 2;
    private static final long PRIME = (1L << 61) - 1;
    /** Offset of the driver's room for results where arguments are built. */
    private static final int ARGUMENTS_AT = 256;
    private static final int ARGUMENTS = 2;
    private static final Logger LOG = LoggerFactory.getLogger(ContentKernel.class);

    private boolean tried;
    private volatile long function;

    /**
     * Loads the kernel unless that was tried before; if the device was full, it is tried again. Should be called before memory is short, because a driver holds
     * the context while it compiles and loads. The kernel stays as long as the context, since otherwise each new program would wait for it. Without the kernel,
     * all memory is copied. No tenant is asked to make room for it: those that leave the device call this, too.
     */
    public synchronized void load(DriverCalls driver) {
        if (tried) {
            return;
        }
        tried = true;
        try (Arena arena = Arena.ofConfined()) {
            int result = driver.withoutRoom(() -> load(driver, arena));
            tried = result != CudaResult.OUT_OF_MEMORY; // tried again, since the device may have room later
            if (tried && result != CudaResult.SUCCESS) {
                LOG.warn("memory cannot be examined, so all of it is copied when it leaves the device (CUDA error {})", result);
            }
        }
    }

    private int load(DriverCalls driver, Arena arena) {
        int result = driver.call(DriverEntry.cuModuleLoadData, driver.out(0), arena.allocateFrom(text()).address());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long module = driver.outLong(0);
        SecureRandom random = new SecureRandom();
        MemorySegment words = arena.allocate(4L * WORD_KEYS, 8);
        for (int i = 0; i < WORD_KEYS; i++) {
            words.setAtIndex(ValueLayout.JAVA_INT, i, random.nextInt());
        }
        MemorySegment numbers = arena.allocate(8L * NUMBER_KEYS, 8);
        for (int i = 0; i < NUMBER_KEYS; i++) {
            numbers.setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong() & PRIME);
        }
        result = give(driver, module, arena.allocateFrom("tessera_content_words"), words);
        result = result == CudaResult.SUCCESS ? give(driver, module, arena.allocateFrom("tessera_content_numbers"), numbers) : result;
        if (result == CudaResult.SUCCESS) {
            result = driver.call(DriverEntry.cuModuleGetFunction, driver.out(0), module, arena.allocateFrom("tessera_content").address());
        }
        if (result != CudaResult.SUCCESS) {
            driver.call(DriverEntry.cuModuleUnload, module);
            return result;
        }
        function = driver.outLong(0);
        return result;
    }

    private static int give(DriverCalls driver, long module, MemorySegment name, MemorySegment keys) {
        int result = driver.call(DriverEntry.cuModuleGetGlobal_v2, driver.out(0), driver.out(1), module, name.address());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        if (driver.outLong(1) != keys.byteSize()) {
            return CudaResult.NOT_SUPPORTED;
        }
        return driver.call(DriverEntry.cuMemcpyHtoD_v2, driver.outLong(0), keys.address(), keys.byteSize());
    }

    private static String text() {
        try (InputStream image = ContentKernel.class.getResourceAsStream("/content.ptx")) {
            return new String(image.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("content.ptx cannot be read", e);
        }
    }

    /** Returns whether {@link #begin} can be called. */
    public boolean isLoaded() {
        return function != 0;
    }

    /**
     * Begins to examine parts of {@link HostFrames#FRAME_BYTES}.
     *
     * @param parts   array of their addresses, 0 for none; in pinned memory, like results
     * @param results destination of {@link #RESULT} numbers for each
     * @return a CUresult
     */
    public int begin(DriverCalls driver, long stream, long parts, int count, long results) {
        MemorySegment room = driver.outMemory().asSlice(ARGUMENTS_AT, 2L * ARGUMENTS * Long.BYTES);
        room.setAtIndex(ValueLayout.JAVA_LONG, 0, parts);
        room.setAtIndex(ValueLayout.JAVA_LONG, 1, results);
        for (int i = 0; i < ARGUMENTS; i++) {
            room.setAtIndex(ValueLayout.JAVA_LONG, ARGUMENTS + i, room.address() + (long) i * Long.BYTES);
        }
        return driver.call(DriverEntry.cuLaunchKernel, function, count, 1, 1, THREADS, 1, 1, 0, stream,
                room.address() + (long) ARGUMENTS * Long.BYTES, 0);
    }
}
