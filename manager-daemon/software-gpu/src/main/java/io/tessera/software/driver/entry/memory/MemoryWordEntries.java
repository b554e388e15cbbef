package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.MemOp;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.operation.MemoryWord;
import io.tessera.software.driver.operation.MemoryWord.Kind;
import io.tessera.software.driver.operation.MemoryWords;
import java.util.ArrayList;
import java.util.List;

/** Waits for, and writes of, words in the order of a stream. */
public final class MemoryWordEntries implements EntryGroup {
    /** Operations that one entry may hold (cuStreamBatchMemOp). */
    private static final int LARGEST_BATCH = 256;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public MemoryWordEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> single(call, Kind.WAIT_32), DriverEntry.cuStreamWaitValue32,
                DriverEntry.cuStreamWaitValue32_v2)
                .on(call -> single(call, Kind.WAIT_64), DriverEntry.cuStreamWaitValue64,
                        DriverEntry.cuStreamWaitValue64_v2)
                .on(call -> single(call, Kind.WRITE_32), DriverEntry.cuStreamWriteValue32,
                        DriverEntry.cuStreamWriteValue32_v2)
                .on(call -> single(call, Kind.WRITE_64), DriverEntry.cuStreamWriteValue64,
                        DriverEntry.cuStreamWriteValue64_v2)
                .on(call -> {
                    DriverException.require(call.number(3) == 0, CudaError.INVALID_VALUE);
                    call.stream(0).submit(batch(state, call.number(1), call.pointer(2)));
                }, DriverEntry.cuStreamBatchMemOp, DriverEntry.cuStreamBatchMemOp_v2);
    }

    private void single(Call call, Kind kind) {
        MemoryWord word = new MemoryWord(kind, call.word(1), call.word(2), call.number(3));
        check(state, word);
        call.stream(0).submit(new MemoryWords(List.of(word)));
    }

    /** Returns the words of a batch, checked. */
    public static MemoryWords batch(DriverState state, int count, long operations) {
        DriverException.require(count > 0 && count <= LARGEST_BATCH, CudaError.INVALID_VALUE);
        List<MemoryWord> words = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long at = operations + (long) i * MemOp.BYTES;
            Kind kind = Kind.of(HostMemory.getInt(at + MemOp.OPERATION));
            boolean word = kind != Kind.FLUSH_REMOTE_WRITES && kind != Kind.BARRIER;
            MemoryWord made = word ? new MemoryWord(kind, HostMemory.getLong(at + MemOp.ADDRESS),
                    HostMemory.getLong(at + MemOp.VALUE), HostMemory.getInt(at + MemOp.FLAGS))
                    : new MemoryWord(kind, 0, 0, 0);
            check(state, made);
            words.add(made);
        }
        return new MemoryWords(words);
    }

    private static void check(DriverState state, MemoryWord word) {
        DriverException.require(word.address() == 0 || state.memory().addresses().covers(word.address(), 4),
                CudaError.INVALID_VALUE);
    }
}
