package io.tessera.software.driver.entry.module;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.module.JitLogOptions;
import io.tessera.software.driver.module.PtxLinker;
import java.lang.foreign.MemorySegment;

/** The JIT's linker. */
public final class LinkerEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public LinkerEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> {
            long out = call.pointer(3);
            call.context();
            PtxLinker linker = new PtxLinker(new JitLogOptions(call.number(0), call.word(1), call.word(2)));
            HostMemory.putLong(out, state.handles().of(linker));
        }, DriverEntry.cuLinkCreate, DriverEntry.cuLinkCreate_v2).on(call -> {
            long bytes = call.word(3);
            DriverException.require(bytes > 0 && bytes < Integer.MAX_VALUE, CudaError.INVALID_VALUE);
            call.object(0, PtxLinker.class).add(call.number(1), HostMemory.get(call.pointer(2), bytes));
        }, DriverEntry.cuLinkAddData, DriverEntry.cuLinkAddData_v2)
                .on(call -> call.object(0, PtxLinker.class).addFile(call.number(1), call.text(2)),
                        DriverEntry.cuLinkAddFile, DriverEntry.cuLinkAddFile_v2)
                .on(DriverEntry.cuLinkComplete, call -> {
                    long out = call.pointer(1);
                    MemorySegment image = call.object(0, PtxLinker.class).complete();
                    HostMemory.putLong(out, image.address());
                    call.offerLong(2, image.byteSize());
                })
                .on(DriverEntry.cuLinkDestroy, call -> {
                    PtxLinker linker = call.object(0, PtxLinker.class);
                    state.handles().remove(linker);
                    linker.close();
                });
    }
}
