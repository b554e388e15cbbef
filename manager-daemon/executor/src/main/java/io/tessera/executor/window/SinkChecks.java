package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaEnums.HostAllocFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects writes of a tenant's kernels to its sink, where no program has memory. The sink is filled with a pattern, which is NaN in all floating point types of
 * 16 bits and more. A kernel compares it through addresses outside all windows, and restores the pattern where it finds something else. Any thread of the
 * tenant's clients.
 */
final class SinkChecks {
    private static final long VISIBLE = HostAllocFlag.PORTABLE | HostAllocFlag.DEVICEMAP;
    /** NaN as two bfloat16 or float16, as float32, and as the upper half of a float64; the numbers that are added to it keep it so. */
    private static final int LEAST_PATTERN = 0x7FF1_7F81;
    private static final int UPPER_VALUES = 0xE;
    private static final int LOWER_VALUES = 0x7E;
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle EPOCH = ValueLayout.JAVA_LONG.varHandle();
    private static final Logger LOG = LoggerFactory.getLogger(SinkChecks.class);

    private final DriverPages driverPages;
    private final SinkKernel kernel;
    private final NanoClock clock;
    private final int pattern;
    private final OwnStream stream = new OwnStream();
    private boolean prepared;
    private volatile boolean armed;
    private long address;
    private long bytes;
    /** Size of the range of its own addresses; 0: the sink is compared where the window has it. */
    private long reservedBytes;
    private long mappedBytes;
    /** The results of checks, followed by those of the first filling, which are not read. */
    private MemorySegment finds;
    private long findsAddress;
    private final SinkSuspects suspects = new SinkSuspects(this::publish);
    /** The {@link SinkSuspects#leftovers} at the start of the sweep in progress; {@link SinkSuspects#NONE} without one. Guarded by the stream's monitor. */
    private long sweeping = SinkSuspects.NONE;
    private volatile int foundOfSeveral;

    /** Checks of one tenant's sink, once it is there. */
    SinkChecks(DriverPages driverPages, SinkKernel kernel, NanoClock clock) {
        this.driverPages = driverPages;
        this.kernel = kernel;
        this.clock = clock;
        this.pattern = LEAST_PATTERN + (ThreadLocalRandom.current().nextInt(UPPER_VALUES + 1) << 16)
                + ThreadLocalRandom.current().nextInt(LOWER_VALUES + 1);
    }

    /**
     * Allocates what checks need and fills the sinks, while no kernel of the tenant runs yet: later this could wait for kernels. If the driver refuses, writes
     * to sinks are not detected, which is logged. Called once.
     *
     * @param sinks handles; they are mapped side by side at addresses of their own. None: the sink's place is set later
     * @param sizes of them
     */
    void prepare(DriverCalls driver, long[] sinks, long[] sizes) {
        int result = kernel.load(driver);
        result = result == CudaResult.SUCCESS ? makeFinds(driver) : result;
        if (result == CudaResult.SUCCESS && sinks.length > 0) {
            result = map(driver, sinks, sizes);
            result = result == CudaResult.SUCCESS ? fill(driver, false) : result;
            armed = result == CudaResult.SUCCESS;
        }
        prepared = result == CudaResult.SUCCESS;
        if (!prepared) {
            unnoticed(result);
        }
    }

    private static void unnoticed(int result) {
        LOG.warn("writes outside of a tenant's memory will not be noticed: CUDA error {} where its sink was to be compared", result);
    }

    /** Fills a sink that is mapped at its final place, unless that was done, and has it checked from now on. The window's lock is held. */
    void arm(DriverCalls driver, long mapped, long size) {
        if (prepared && !armed) {
            address = mapped;
            bytes = size;
            int result = fill(driver, true);
            armed = result == CudaResult.SUCCESS;
            if (!armed) {
                unnoticed(result);
            }
        }
    }

    /**
     * Fills the sink by a driver call. Only kernels reach a repeating sink, so there the comparison fills it. That is slow (65 ms for 64 MiB on an H200), since
     * the kernel reads host memory wherever there is a difference.
     */
    private int fill(DriverCalls driver, boolean repeats) {
        SinkKernel.Comparison first = new SinkKernel.Comparison(address, bytes, pattern, findsAddress + SinkKernel.FINDS_BYTES, 0, SinkSuspects.NONE,
                0);
        int result = repeats ? stream.submit(driver, own -> kernel.begin(driver, own, first))
                : stream.words(driver, address, pattern, bytes / Integer.BYTES);
        return result == CudaResult.SUCCESS ? stream.await(driver, BoundedWait.begin(clock, WaitLimit.ZEROS)) : result;
    }

    private int makeFinds(DriverCalls driver) {
        int result = driver.call(DriverEntry.cuMemHostAlloc, driver.out(0), 2 * SinkKernel.FINDS_BYTES, VISIBLE);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        finds = MemorySegment.ofAddress(driver.outLong(0)).reinterpret(2 * SinkKernel.FINDS_BYTES);
        finds.fill((byte) 0);
        publish(SinkSuspects.FIRST_EPOCH);
        result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(1), finds.address(), 0);
        findsAddress = driver.outLong(1);
        return result;
    }

    private int map(DriverCalls driver, long[] sinks, long[] sizes) {
        for (long size : sizes) {
            bytes += size;
        }
        int result = driverPages.reserve(driver, bytes, 0, 0);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        address = driver.outLong(0);
        reservedBytes = bytes;
        for (int i = 0; i < sinks.length && result == CudaResult.SUCCESS; i++) {
            result = driverPages.map(driver, address + mappedBytes, sizes[i], sinks[i]);
            mappedBytes += result == CudaResult.SUCCESS ? sizes[i] : 0;
        }
        return result == CudaResult.SUCCESS ? driverPages.allow(driver, address, bytes) : result;
    }

    /** Publishes the epoch. A check in progress reads it when it has found something, and names its client only if that is still the epoch of the check. */
    private void publish(long epoch) {
        if (finds != null) {
            EPOCH.setVolatile(finds, SinkKernel.EPOCH, epoch);
        }
    }

    /** Records that a client is about to launch its first kernel: from now on, writes that checks find can be this client's. */
    void writes(WindowClient client) {
        suspects.begins(client);
    }

    /** Waits for a bounded time for clients that have left, and for the check of their writes, so that the next client under the same name is alone. */
    void awaitLeavers(DriverCalls driver) {
        BoundedWait.begin(clock, WaitLimit.LEAVERS).until(() -> {
            sweepLeftovers(driver);
            return !suspects.isSomebodyLeaving() && suspects.leftovers() == SinkSuspects.NONE;
        });
    }

    /**
     * Records that a client writes nothing any more: its kernels have ended.
     *
     * @param swept whether {@link #checkNow} has found everything that it had written
     */
    void writesNoMore(WindowClient client, boolean swept) {
        suspects.ends(client, swept || !armed);
    }

    /**
     * Begins a check, which is over when the stream reaches the work that follows.
     *
     * @param client the client for which it is made
     * @param errorAddress device address of a word that becomes ILLEGAL_ADDRESS if only this client can have made the writes that are found; 0: none
     * @return whether it has begun
     */
    boolean begin(WindowClient client, long behind, long errorAddress) {
        if (!armed) {
            return false;
        }
        sweepLeftovers(client.driver());
        return kernel.begin(client.driver(), behind, comparison(client, errorAddress)) == CudaResult.SUCCESS;
    }

    private SinkKernel.Comparison comparison(WindowClient client, long errorAddress) {
        long epoch = suspects.sole(client);
        return new SinkKernel.Comparison(address, bytes, pattern, findsAddress, client.writer(), epoch, errorAddress);
    }

    /** Makes a check for the writes of clients that ended without one; afterwards these belong to no client. */
    private void sweepLeftovers(DriverCalls driver) {
        if (suspects.leftovers() == SinkSuspects.NONE) {
            return;
        }
        synchronized (stream) {
            if (sweeping != SinkSuspects.NONE && stream.isDone(driver)) {
                suspects.swept(sweeping);
                sweeping = SinkSuspects.NONE;
            }
            long left = suspects.leftovers();
            SinkKernel.Comparison several = new SinkKernel.Comparison(address, bytes, pattern, findsAddress, 0, SinkSuspects.NONE, 0);
            if (left > sweeping && stream.submit(driver, own -> kernel.begin(driver, own, several)) == CudaResult.SUCCESS) {
                sweeping = left;
            }
        }
    }

    /** Begins a check beside all streams of clients. Returns whether it has begun. */
    boolean beginBeside(WindowClient client, long errorAddress) {
        DriverCalls driver = client.driver();
        synchronized (stream) {
            return armed
                    && stream.submit(driver, own -> begin(client, own, errorAddress) ? CudaResult.SUCCESS : CudaResult.UNKNOWN) == CudaResult.SUCCESS;
        }
    }

    /**
     * Makes a check and waits for its end, if the device has room for it soon.
     *
     * @return whether it has ended, so that all earlier writes are found
     */
    boolean checkNow(WindowClient client) {
        long left = suspects.leftovers();
        boolean done = beginBeside(client, 0) && stream.await(client.driver(), BoundedWait.begin(clock, WaitLimit.COMPARISON)) == CudaResult.SUCCESS;
        if (done) {
            suspects.swept(left);
        }
        return done;
    }

    /**
     * Reads the results of checks; those in progress may have results, too. If only one client can have written, it is marked
     * ({@link WindowClient#hasStrayed}).
     *
     * @return how often the sink had changed and several clients can have written
     */
    int foundOfSeveral() {
        if (armed && ((int) WORD.getAcquire(finds, SinkKernel.OF_ONE) != 0 || (int) WORD.getAcquire(finds, SinkKernel.OF_SEVERAL) != 0)) {
            take();
        }
        return foundOfSeveral;
    }

    private synchronized void take() {
        suspects.strays((int) WORD.getAndSet(finds, SinkKernel.OF_ONE, 0));
        if ((int) WORD.getAndSet(finds, SinkKernel.OF_SEVERAL, 0) != 0) {
            foundOfSeveral++;
        }
    }

    /**
     * Gives back the memory of the checks, before the sinks end. The tenant's streams are idle.
     *
     * @return SUCCESS or the first other CUresult; NOT_READY: the device does not reach the last comparison, and everything stays as it is
     */
    int close(DriverCalls driver) {
        if (stream.await(driver, BoundedWait.begin(clock, WaitLimit.ZEROS)) == CudaResult.NOT_READY) {
            return CudaResult.NOT_READY;
        }
        prepared = false;
        armed = false;
        int first = stream.close(driver);
        if (mappedBytes != 0) {
            first = first(first, driverPages.unmap(driver, address, mappedBytes));
        }
        if (reservedBytes != 0) {
            first = first(first, driverPages.release(driver, address, reservedBytes));
        }
        if (finds != null) {
            first = first(first, driver.call(DriverEntry.cuMemFreeHost, finds.address()));
        }
        mappedBytes = 0;
        reservedBytes = 0;
        finds = null;
        return first;
    }

    private static int first(int known, int result) {
        return known == CudaResult.SUCCESS ? result : known;
    }
}
