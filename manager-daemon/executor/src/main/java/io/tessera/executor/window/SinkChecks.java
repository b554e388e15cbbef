package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
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
 * Finds out whether a tenant's kernels wrote to its sink, where no program has memory. The sink is full of a pattern, which is NaN in all floating point types of 16
 * bits and more. A kernel compares it through addresses outside of all windows and writes the pattern again where something else is. Any thread of the tenant's
 * clients.
 */
final class SinkChecks {
    private static final long FLAG_BYTES = 64;
    /** Offset of the word of checks that found what one client alone can have written. */
    private static final long OF_ONE = 0;
    /** Offset of the word of other checks. */
    private static final long OF_SEVERAL = 8;
    /** Offset of a word that nobody looks at. */
    private static final long UNHEEDED = 16;
    /** CU_MEMHOSTALLOC_PORTABLE and _DEVICEMAP. */
    private static final long VISIBLE = 1 | 2;
    /** NaN as two of bfloat16 or float16, as float32, and as the upper half of float64; what is added leaves it so. */
    private static final int LEAST_PATTERN = 0x7FF1_7F81;
    private static final int UPPER_VALUES = 0xE;
    private static final int LOWER_VALUES = 0x7E;
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
    private static final Logger LOG = LoggerFactory.getLogger(SinkChecks.class);

    private final DriverPages driverPages;
    private final SinkKernel kernel;
    private final NanoClock clock;
    private final int pattern;
    private final OwnStream stream = new OwnStream();
    private boolean loaded;
    private boolean prepared;
    private volatile boolean armed;
    private long address;
    private long bytes;
    /** Of addresses of its own; 0: the sink is compared where the window has it. */
    private long reservedBytes;
    private long mappedBytes;
    private MemorySegment flag;
    private long flagAddress;
    /** How often the number of clients that may write has changed while there were several: now, when the last check began, and when the one before it did. */
    private int changes;
    private int changesAtLast;
    private int changesBefore;
    private int clients;
    /** Whose checks were the last whose finds are that client's alone. */
    private WindowClient suspect;
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
     * Takes what checks need and fills the sinks, while no kernel of the tenant runs yet: later it could wait for kernels. Where the driver refuses it, writes to
     * sinks stay unnoticed, which is logged. Called once.
     *
     * @param sinks handles; they are mapped side by side at addresses of their own. None: where the sink is mapped is said later
     * @param sizes of them
     */
    void prepare(DriverCalls driver, long[] sinks, long[] sizes) {
        int result = kernel.load(driver);
        loaded = result == CudaResult.SUCCESS;
        result = result == CudaResult.SUCCESS ? makeFlag(driver) : result;
        if (result == CudaResult.SUCCESS && sinks.length > 0) {
            result = map(driver, sinks, sizes);
            result = result == CudaResult.SUCCESS ? fill(driver) : result;
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

    /** Fills a sink that is mapped where it stays, unless that was done, and has it checked from now on. The window's lock is held. */
    void arm(DriverCalls driver, long mapped, long size) {
        if (prepared && !armed) {
            address = mapped;
            bytes = size;
            int result = fill(driver);
            armed = result == CudaResult.SUCCESS;
            if (!armed) {
                unnoticed(result);
            }
        }
    }

    private int fill(DriverCalls driver) {
        int result = stream.submit(driver,
                own -> kernel.begin(driver, own, new SinkKernel.Comparison(address, bytes, pattern, flagAddress + UNHEEDED, 0)));
        return result == CudaResult.SUCCESS ? stream.await(driver, BoundedWait.begin(clock, WaitLimit.ZEROS)) : result;
    }

    private int makeFlag(DriverCalls driver) {
        int result = driver.call(DriverEntry.cuMemHostAlloc, driver.out(0), FLAG_BYTES, VISIBLE);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        flag = MemorySegment.ofAddress(driver.outLong(0)).reinterpret(FLAG_BYTES);
        flag.fill((byte) 0);
        result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(1), flag.address(), 0);
        flagAddress = driver.outLong(1);
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

    /** One more client of the tenant may write. */
    synchronized void workBegins() {
        clients++;
        changes += clients > 1 ? 1 : 0;
    }

    /** A client writes nothing any more. */
    synchronized void workEnds() {
        changes += clients > 1 ? 1 : 0;
        clients--;
    }

    /**
     * Begins a check, which is over when the stream comes to what follows.
     *
     * @param client       who has it made
     * @param errorAddress device address of a word that becomes ILLEGAL_ADDRESS if this client alone can have written what is found; 0: of none
     * @return whether it has begun
     */
    boolean begin(WindowClient client, long behind, long errorAddress) {
        if (!armed) {
            return false;
        }
        boolean alone;
        synchronized (this) {
            changesBefore = changesAtLast;
            changesAtLast = changes;
            alone = clients <= 1 && changes == changesBefore;
            suspect = alone ? client : suspect;
        }
        SinkKernel.Comparison comparison = alone ? new SinkKernel.Comparison(address, bytes, pattern, flagAddress + OF_ONE, errorAddress)
                : new SinkKernel.Comparison(address, bytes, pattern, flagAddress + OF_SEVERAL, 0);
        return kernel.begin(client.driver(), behind, comparison) == CudaResult.SUCCESS;
    }

    /** A check whose end is waited for, if the device has room for it soon. */
    void checkNow(WindowClient client) {
        DriverCalls driver = client.driver();
        if (armed && stream.submit(driver, own -> begin(client, own, 0) ? CudaResult.SUCCESS : CudaResult.UNKNOWN) == CudaResult.SUCCESS) {
            stream.await(driver, BoundedWait.begin(clock, WaitLimit.COMPARISON));
        }
    }

    /**
     * Looks what checks have found; those in progress may have, too. A client that alone can have written knows it from then on ({@link WindowClient#hasStrayed}).
     *
     * @return how often the sink was not as it had been left, and several clients can have written
     */
    int foundOfSeveral() {
        if (armed && ((int) WORD.getAcquire(flag, OF_ONE) != 0 || (int) WORD.getAcquire(flag, OF_SEVERAL) != 0)) {
            take();
        }
        return foundOfSeveral;
    }

    private synchronized void take() {
        if ((int) WORD.getAcquire(flag, OF_ONE) != 0) {
            WORD.setRelease(flag, OF_ONE, 0);
            suspect.strays();
        }
        if ((int) WORD.getAcquire(flag, OF_SEVERAL) != 0) {
            WORD.setRelease(flag, OF_SEVERAL, 0);
            foundOfSeveral++;
        }
    }

    /**
     * Gives back what it has, before the sinks go. The tenant's streams are idle.
     *
     * @return SUCCESS or the first other CUresult; NOT_READY: the device does not come to the last comparison, and all stays as it is
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
        if (flag != null) {
            first = first(first, driver.call(DriverEntry.cuMemFreeHost, flag.address()));
        }
        if (loaded) {
            first = first(first, kernel.release(driver));
        }
        loaded = false;
        mappedBytes = 0;
        reservedBytes = 0;
        flag = null;
        return first;
    }

    private static int first(int known, int result) {
        return known == CudaResult.SUCCESS ? result : known;
    }
}
