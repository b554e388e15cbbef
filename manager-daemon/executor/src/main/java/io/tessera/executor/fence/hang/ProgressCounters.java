package io.tessera.executor.fence.hang;

import io.tessera.device.CudaEnums.HostAllocFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;

/**
 * Words of host memory to which streams write their progress, so that it is known without a driver call: any call may be blocked by the kernels that have
 * to end. Each watched stream has a word of its own, to which it writes rising numbers. Thread-safe, except for {@link #write}: a word has one writer at
 * a time.
 */
public final class ProgressCounters {
    /** There is no word left, or no memory for words. */
    static final int NO_WORD = -1;
    /** A place for which the progress of the stream is unknown. */
    static final long UNKNOWN = -1;
    private static final int WORDS = 16_384;
    private static final long VISIBLE = HostAllocFlag.PORTABLE | HostAllocFlag.DEVICEMAP;
    private static final VarHandle WORD = ValueLayout.JAVA_INT.arrayElementVarHandle();

    private final MemorySegment page;
    private final long deviceAddress;
    private final int[] numbers;
    private final ArrayDeque<Integer> spare = new ArrayDeque<>();
    private int used;

    private ProgressCounters(MemorySegment page, long deviceAddress) {
        this.page = page;
        this.deviceAddress = deviceAddress;
        this.numbers = new int[(int) (page.byteSize() / Integer.BYTES)];
    }

    /** Makes words with memory that lives as long as the context. If the driver gives no memory, there are no words. */
    public static ProgressCounters make(DriverCalls driver) {
        int result = driver.call(DriverEntry.cuMemHostAlloc, driver.out(0), (long) WORDS * Integer.BYTES, VISIBLE);
        long host = driver.outLong(0);
        if (result != CudaResult.SUCCESS || host == 0
                || driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(1), host, 0) != CudaResult.SUCCESS) {
            return none();
        }
        MemorySegment page = MemorySegment.ofAddress(host).reinterpret((long) WORDS * Integer.BYTES);
        page.fill((byte) 0);
        return new ProgressCounters(page, driver.outLong(1));
    }

    /** Returns an instance without words. */
    static ProgressCounters none() {
        return new ProgressCounters(MemorySegment.NULL, 0);
    }

    /** Takes a word for a stream; returns {@link #NO_WORD} if none is left. */
    synchronized int take() {
        Integer word = spare.poll();
        if (word != null) {
            return word;
        }
        return used < numbers.length ? used++ : NO_WORD;
    }

    /** Gives a word back. All work of its stream is done. */
    synchronized void giveBack(int word) {
        if (word != NO_WORD) {
            spare.add(word);
        }
    }

    /** Makes a stream that is not captured write the word's next number. Returns the place behind its work so far, or {@link #UNKNOWN}. */
    long write(DriverCalls driver, long stream, int word) {
        if (word == NO_WORD) {
            return UNKNOWN;
        }
        int number = numbers[word] + 1;
        if (driver.call(DriverEntry.cuStreamWriteValue32_v2, stream, deviceAddress + (long) word * Integer.BYTES, number, 0) != CudaResult.SUCCESS) {
            return UNKNOWN;
        }
        numbers[word] = number;
        return (long) word << Integer.SIZE | Integer.toUnsignedLong(number);
    }

    /** Returns whether a stream has not reached a place; true if that is unknown. Makes no driver call; any thread. */
    public boolean isAhead(long place) {
        return place == UNKNOWN || (int) WORD.getAcquire(page, 0L, place >>> Integer.SIZE) - (int) place < 0;
    }
}
