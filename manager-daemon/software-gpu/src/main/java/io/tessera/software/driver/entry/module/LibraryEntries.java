package io.tessera.software.driver.entry.module;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.module.DriverModule;
import io.tessera.software.driver.module.JitLogOptions;
import io.tessera.software.driver.module.Library;
import io.tessera.software.driver.module.Library.LibraryKernel;
import java.util.List;

/** Libraries, and their kernels by name. */
public final class LibraryEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public LibraryEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuLibraryLoadData, call -> {
            long image = call.pointer(1);
            long out = call.pointer(0);
            HostMemory.putLong(out, state.handles().of(new Library(state.loader().load(image, options(call), 0))));
        }).on(DriverEntry.cuLibraryLoadFromFile, call -> {
            String path = call.text(1);
            long out = call.pointer(0);
            HostMemory.putLong(out,
                    state.handles().of(new Library(state.loader().loadFile(path, options(call), 0))));
        }).on(DriverEntry.cuLibraryUnload, this::unload)
                .on(DriverEntry.cuLibraryGetKernel, call -> {
                    long out = call.pointer(0);
                    Library library = call.object(1, Library.class);
                    HostMemory.putLong(out, state.handles().of(kernel(library, call.text(2))));
                })
                .on(DriverEntry.cuLibraryGetModule, call -> call.putLong(0,
                        state.handles().of(call.object(1, Library.class).module())))
                .on(DriverEntry.cuLibraryGetGlobal,
                        call -> ModuleEntries.variable(call, call.object(2, Library.class).module(), call.text(3)))
                .on(DriverEntry.cuLibraryGetKernelCount, call -> call.putInt(0,
                        call.object(1, Library.class).module().functionNames().size()))
                .on(DriverEntry.cuLibraryEnumerateKernels, this::enumerate)
                // There is neither managed memory nor a function that host and device share.
                .on(call -> {
                    call.object(2, Library.class);
                    throw new DriverException(CudaError.NOT_FOUND);
                }, DriverEntry.cuLibraryGetManaged)
                .on(call -> {
                    call.object(1, Library.class);
                    throw new DriverException(CudaError.NOT_FOUND);
                }, DriverEntry.cuLibraryGetUnifiedFunction);
    }

    /** Options of the library itself (1: the image stays where it is) ask for nothing here: images are copied. */
    private static JitLogOptions options(Call call) {
        return new JitLogOptions(call.number(4), call.word(2), call.word(3));
    }

    private LibraryKernel kernel(Library library, String name) {
        library.module().function(name);
        return library.kernel(name);
    }

    private void unload(Call call) {
        Library library = call.object(0, Library.class);
        DriverModule module = library.module();
        library.known().forEach(state.handles()::remove);
        state.handles().remove(library);
        ModuleEntries.unload(state, module);
    }

    private void enumerate(Call call) {
        Library library = call.object(2, Library.class);
        long out = call.pointer(0);
        List<String> names = library.module().functionNames();
        for (int i = 0; i < Math.min(call.number(1), names.size()); i++) {
            HostMemory.putLong(out + 8L * i, state.handles().of(kernel(library, names.get(i))));
        }
    }
}
