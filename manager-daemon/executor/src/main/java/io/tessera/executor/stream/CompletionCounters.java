package io.tessera.executor.stream;

import io.tessera.device.CudaEnums.HostRegisterFlag;
import io.tessera.device.CudaEnums.WaitValueFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;

/**
 * The completion words of a client, and its error, as the device sees them (RELAY.md, section 5). Registered at the start of a session, so
 * that streams can write them. One owner thread.
 */
public final class CompletionCounters {
    private static final long PORTABLE_AND_MAPPED = HostRegisterFlag.PORTABLE | HostRegisterFlag.DEVICEMAP;

    private final DriverCalls driver;
    private final RelaySegment segment;
    private boolean registered;
    private long deviceAddress;
    private boolean headerRegistered;
    private long errorAddress;

    /** Creates the counters, which are not registered yet. */
    public CompletionCounters(DriverCalls driver, RelaySegment segment) {
        this.driver = driver;
        this.segment = segment;
    }

    /** Registers the words with the device. Returns the CUresult. */
    public int register() {
        long host = segment.memory().address() + RelaySegment.WORD;
        int result = driver.call(DriverEntry.cuMemHostRegister_v2, host, (long) RelayLayout.WORDS * Long.BYTES,
                PORTABLE_AND_MAPPED);
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        registered = true;
        result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(0), host, 0);
        deviceAddress = driver.outLong(0);
        return result == CudaResult.SUCCESS ? registerHeader() : result;
    }

    private int registerHeader() {
        long host = segment.memory().address();
        int result = driver.call(DriverEntry.cuMemHostRegister_v2, host, RelaySegment.DEVICE, PORTABLE_AND_MAPPED);
        headerRegistered = result == CudaResult.SUCCESS;
        if (headerRegistered) {
            result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(0), host, 0);
            errorAddress = driver.outLong(0) + RelaySegment.CONTEXT_ERROR;
        }
        return result;
    }

    /** Returns the device address of the client's {@code context_error}. */
    public long errorAddress() {
        return errorAddress;
    }

    /** Unregisters the words, when no stream uses them any more. */
    public void unregister() {
        if (registered) {
            driver.call(DriverEntry.cuMemHostUnregister, segment.memory().address() + RelaySegment.WORD);
            registered = false;
        }
        if (headerRegistered) {
            driver.call(DriverEntry.cuMemHostUnregister, segment.memory().address());
            headerRegistered = false;
        }
    }

    /** Makes a stream write a word when it reaches this point. Returns the CUresult. */
    public int write(ClientStream stream, int word, long value) {
        return driver.call(DriverEntry.cuStreamWriteValue64_v2, stream.value, address(word), value, 0);
    }

    /** Makes a stream wait until a word has a value. Returns the CUresult. */
    public int await(ClientStream stream, int word, long value) {
        return driver.call(DriverEntry.cuStreamWaitValue64_v2, stream.value, address(word), value, WaitValueFlag.EQ);
    }

    /** Returns a word's device address. */
    public long address(int word) {
        return deviceAddress + (long) word * Long.BYTES;
    }

    /** Returns the word at a device address; -1: none is there. */
    public int indexOf(long address) {
        long offset = address - deviceAddress;
        return offset >= 0 && offset < (long) RelayLayout.WORDS * Long.BYTES ? (int) (offset / Long.BYTES) : -1;
    }
}
