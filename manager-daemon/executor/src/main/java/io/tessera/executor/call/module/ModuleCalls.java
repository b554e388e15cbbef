package io.tessera.executor.call.module;

import io.tessera.device.CudaEnums.LibraryOption;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.load.PlacedImage;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.report.RefusedCode;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Modules and libraries: loads images, and looks up names. One owner thread. */
final class ModuleCalls {
    private static final Logger LOG = LoggerFactory.getLogger(ModuleCalls.class);

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientFences fences;
    private final ClientMemory memory;
    private final ClientPrinting printing;
    private final RelaySegment segment;
    private final CallImages images;
    /** The driver's function that the call in progress has found. */
    private long found;

    ModuleCalls(DriverCalls driver, ClientHandles handles, ClientFences fences, ClientMemory memory, ClientCompletion completion, ClientImages images,
            HandleResults results) {
        this.driver = driver;
        this.handles = handles;
        this.fences = fences;
        this.memory = memory;
        this.printing = completion.printing();
        this.segment = completion.segment();
        this.images = new CallImages(fences, images);
        results.whenEnded(HandleKind.MODULE, (clientHandle, _) -> memory.removeOwnedBy(clientHandle));
        results.whenEnded(HandleKind.LIBRARY, (clientHandle, _) -> memory.removeOwnedBy(clientHandle));
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuModuleLoadData).packed("image").executes((frame, _) -> load(frame, false, frame.entry(), null));
        calls.row(DriverApi.cuModuleLoadFatBinary).packed("fatCubin").executes((frame, _) -> load(frame, false, frame.entry(), null));
        calls.row(DriverApi.cuModuleLoadDataEx).packed("image", "options", "optionValues").executes(this::loadEx);
        calls.row(DriverApi.cuLibraryLoadData).withoutContext().packed("code", "jitOptions", "jitOptionsValues").executes(this::library);
        calls.row(DriverApi.cuModuleUnload).ends(HandleKind.MODULE).executes((frame, _) -> end(HandleKind.MODULE, frame.slot(0)));
        calls.row(DriverApi.cuLibraryUnload).withoutContext().ends(HandleKind.LIBRARY).executes((frame, _) -> end(HandleKind.LIBRARY, frame.slot(0)));
        calls.row(DriverApi.cuLibraryGetModule).withoutContext().executes(this::moduleOfLibrary);
        calls.row(DriverApi.cuModuleGetFunction).executes(this::function).answers(this::got);
        calls.row(DriverApi.cuLibraryGetKernel).withoutContext().executes(this::kernel);
        calls.row(DriverApi.cuModuleGetGlobal).makesMemory().executes(this::global).completes(this::globalFound);
        calls.row(DriverApi.cuLibraryGetGlobal).withoutContext().makesMemory().executes(this::global).completes(this::globalFound);
        calls.row(DriverApi.cuModuleEnumerateFunctions).executes((frame, _) -> list(frame));
        calls.row(DriverApi.cuLibraryEnumerateKernels).withoutContext().executes((frame, _) -> list(frame));
        calls.plain(DriverApi.cuModuleGetFunctionCount, DriverApi.cuModuleGetSurfRef, DriverApi.cuModuleGetTexRef);
        calls.plainWithoutContext(DriverApi.cuLibraryGetKernelCount);
    }

    /** Loads an image, fenced if possible; the client's policy decides about other images. */
    private int load(CallFrame frame, boolean library, DriverEntry entry, JitOptions options) throws RejectedException {
        int result;
        try {
            ProgramSource source = images.source(frame, 1);
            long standIn = fences.load(source, options == null ? CodeOptions.none() : options.code(), library);
            if (standIn != 0) {
                frame.data(0).set(WireTypes.U64, 0, standIn);
                result = CudaResult.SUCCESS;
            } else {
                result = original(frame, entry, library, source, options);
            }
            if (result == CudaResult.SUCCESS) {
                boolean known = !source.isKept() && source.prints();
                // A kept image is only examined when one of its functions is used; one on the heap is not kept for that, so it is examined now.
                printing.loaded(frame.data(0).get(WireTypes.U64, 0), source.isKept() ? source::prints : () -> known);
            }
        } catch (ProgramRefusedException e) {
            RefusedCode.answered(e, segment);
            if (options != null) {
                options.log("", e.getMessage());
            }
            result = e.result();
        }
        if (options != null) {
            options.answer();
        }
        return result;
    }

    /**
     * Has the driver load an image unfenced. An image that stays at its address need not be copied by the driver. Compiler options are not passed on: if
     * the image has to be compiled, a worker has already had that done without them.
     */
    private int original(CallFrame frame, DriverEntry entry, boolean library, ProgramSource source, JitOptions options)
            throws RejectedException, ProgramRefusedException {
        if (options != null) {
            frame.slot(library ? 4 : 2, 0);
        }
        PlacedImage fenced = fences.machineCode(source);
        boolean walled = fenced != null && loadFenced(frame, library, fenced);
        long standIn = walled ? 0 : fences.loadsAsItIs(source, fenced, options == null ? CodeOptions.none() : options.code(), library);
        if (standIn != 0) {
            frame.data(0).set(WireTypes.U64, 0, standIn);
            return CudaResult.SUCCESS;
        }
        int result = walled ? CudaResult.SUCCESS : loadAsItIs(frame, entry, library, source);
        fences.askedAsItIs(result, result == CudaResult.SUCCESS ? frame.data(0).get(WireTypes.U64, 0) : 0, source, walled ? fenced : null);
        Reference.reachabilityFence(source);
        return result;
    }

    /** Has the driver load a fenced image. Returns whether the driver accepted it. */
    private boolean loadFenced(CallFrame frame, boolean library, PlacedImage fenced) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment code = arena.allocate(fenced.code().length, Long.BYTES);
            MemorySegment.copy(fenced.code(), 0, code, ValueLayout.JAVA_BYTE, 0, fenced.code().length);
            int result = library
                    ? driver.call(DriverEntry.cuLibraryLoadData, frame.slot(0), code.address(), 0, 0, 0, 0, 0, 0)
                    : driver.call(DriverEntry.cuModuleLoadData, frame.slot(0), code.address());
            if (result != CudaResult.SUCCESS) {
                LOG.warn("the driver does not load machine code with fences (error {}); it runs as it is", result);
            }
            return result == CudaResult.SUCCESS;
        }
    }

    private int loadAsItIs(CallFrame frame, DriverEntry entry, boolean library, ProgramSource source) throws RejectedException {
        if (library && source.isKept()) {
            MemorySegment option = frame.room(Long.BYTES);
            MemorySegment value = frame.room(Long.BYTES);
            option.set(WireTypes.U32, 0, LibraryOption.BINARY_IS_PRESERVED);
            value.set(WireTypes.U64, 0, 1);
            frame.slot(5, option.address());
            frame.slot(6, value.address());
            frame.slot(7, 1);
        }
        return driver.call(entry, frame.slots());
    }

    /** Ends a module or library, by the value in the client's table, when no kernel, graph or reference of the client uses its memory any more. */
    int end(HandleKind kind, long value) {
        return handles.deferredReleases().end(Set.of(value), () -> {
            printing.unloaded(value);
            return fences.unload(value, kind == HandleKind.LIBRARY);
        });
    }

    /** Parameters: module, library. */
    private int moduleOfLibrary(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            fences.moduleOfLibrary(frame.slot(1), frame.data(0).get(WireTypes.U64, 0));
        }
        return result;
    }

    /** Parameters: address, size, module or library, name. */
    private int global(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        frame.want(1, Long.BYTES);
        String name = frame.required(3).getString(0);
        try {
            long[] place = fences.global(frame.slot(2), name);
            if (place == null) {
                return driver.call(frame.entry(), frame.slots());
            }
            frame.data(0).set(WireTypes.U64, 0, place[0]);
            frame.data(1).set(WireTypes.U64, 0, place[1]);
            return CudaResult.SUCCESS;
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    private void globalFound(CallFrame frame, int result) {
        long bytes = result == CudaResult.SUCCESS ? frame.data(1).get(WireTypes.U64, 0) : 0;
        if (bytes > 0) {
            memory.add(new MemoryRange(frame.data(0).get(WireTypes.U64, 0), bytes, MemoryRange.Origin.GLOBAL, frame.contextNumber(), 0,
                    frame.argument(2)));
        }
    }

    private int function(CallFrame frame, ClientContext context) throws RejectedException {
        int result = kernel(frame, context);
        found = result == CudaResult.SUCCESS ? frame.data(0).get(WireTypes.U64, 0) : 0;
        return result;
    }

    private int list(CallFrame frame) {
        int result = driver.call(frame.entry(), frame.slots());
        RefusedCode.byDriver(result, driver.port(), segment);
        return result;
    }

    private int got(CallFrame frame) {
        try {
            if (found != 0) {
                fences.kernels().got(frame.data(0).get(WireTypes.U64, 0), found);
            }
            return CudaResult.SUCCESS;
        } catch (ProgramRefusedException e) {
            return e.result();
        }
    }

    /** Parameters: function or kernel, module or library, name. */
    private int kernel(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        String name = frame.required(2).getString(0);
        try {
            fences.kernel(frame.slot(1), name);
        } catch (ProgramRefusedException e) {
            return e.result();
        }
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            fences.kernels().named(frame.data(0).get(WireTypes.U64, 0), name);
        }
        RefusedCode.byDriver(result, driver.port(), segment);
        return result;
    }

    /** Parameters: module, image, count, options, values. */
    private int loadEx(CallFrame frame, ClientContext context) throws RejectedException {
        JitOptions options = new JitOptions(frame, 2, 3, 4);
        return load(frame, false, frame.entry(), options);
    }

    /** Parameters: library, code, options, values, count, library options, their values, their count. */
    private int library(CallFrame frame, ClientContext context) throws RejectedException {
        if (frame.slot(7) != 0) {
            throw CallFrame.malformed("options of a library");
        }
        JitOptions options = new JitOptions(frame, 4, 2, 3);
        return load(frame, true, DriverEntry.cuLibraryLoadData, options);
    }
}
