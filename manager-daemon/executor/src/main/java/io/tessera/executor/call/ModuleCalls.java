package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.fence.ProgramRefusedException;
import io.tessera.executor.fence.RefusedCode;
import io.tessera.executor.fence.ProgramSource;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/** Modules and libraries: images in, names out. One owner thread. */
final class ModuleCalls {
    /**
     * CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET to _REQUIRED_CLUSTER_DEPTH: what makes clusters of every launch. The two behind
     * (sizes that are not portable, the scheduling policy) say how launches in clusters go, if there are any; cuBLASLt sets the
     * first for a kernel that it only asks the driver about, and takes slower kernels where that fails.
     */
    private static final int FIRST_CLUSTER = 10;
    private static final int LAST_CLUSTER = 13;
    /** CU_LIBRARY_BINARY_IS_PRESERVED: who says so keeps the image as it is until the library is unloaded. */
    private static final int BINARY_IS_PRESERVED = 1;
    private static final int LONGEST_NAME = 65_536;

    private final ClientState client;
    private final CallImages images;
    private final Endings endings;

    ModuleCalls(ClientState client, Endings endings) {
        this.client = client;
        this.endings = endings;
        this.images = new CallImages(client);
    }

    /** Parameters: module, image. */
    int load(CallFrame frame, ClientContext context) throws RejectedException {
        return load(frame, false, frame.plan().entry(), null);
    }

    /** Fences what can be fenced; the client's policy decides about the rest. */
    private int load(CallFrame frame, boolean library, DriverEntry entry, JitOptions options) throws RejectedException {
        ClientFences fences = client.fences();
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
                // What is on the heap is not held for this; what is kept is asked when something of it is used.
                client.printing().loaded(frame.data(0).get(WireTypes.U64, 0), source.isKept() ? source::prints : () -> known);
            }
        } catch (ProgramRefusedException e) {
            RefusedCode.answered(e, client.segment());
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
     * Has the driver load an image as it is; one that stays where it is need not be copied by the driver. Options of a compiler reach no
     * compiler: where there is one to do something, a worker has had it do that without.
     */
    private int original(CallFrame frame, DriverEntry entry, boolean library, ProgramSource source, JitOptions options)
            throws RejectedException {
        if (options != null) {
            frame.slot(library ? 4 : 2, 0);
        }
        if (library && source.isKept()) {
            MemorySegment option = frame.room(Long.BYTES);
            MemorySegment value = frame.room(Long.BYTES);
            option.set(WireTypes.U32, 0, BINARY_IS_PRESERVED);
            value.set(WireTypes.U64, 0, 1);
            frame.slot(5, option.address());
            frame.slot(6, value.address());
            frame.slot(7, 1);
        }
        int result = client.driver().call(entry, frame.slots());
        client.fences().askedAsItIs(result, result == CudaResult.SUCCESS ? frame.data(0).get(WireTypes.U64, 0) : 0, source);
        Reference.reachabilityFence(source);
        return result;
    }

    /** Parameter: module or library. */
    int unload(CallFrame frame, ClientContext context) {
        return endings.end(frame.plan().api().equals("cuLibraryUnload") ? HandleKind.LIBRARY : HandleKind.MODULE, frame.slot(0));
    }

    /** Parameters: module, library. */
    int moduleOfLibrary(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            client.fences().moduleOfLibrary(frame.slot(1), frame.data(0).get(WireTypes.U64, 0));
        }
        return result;
    }

    /** Parameters: address, size, module or library, name. */
    int global(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        frame.want(1, Long.BYTES);
        String name = frame.required(3).getString(0);
        try {
            long[] place = client.fences().global(frame.slot(2), name);
            if (place == null) {
                return client.driver().call(frame.plan().entry(), frame.slots());
            }
            frame.data(0).set(WireTypes.U64, 0, place[0]);
            frame.data(1).set(WireTypes.U64, 0, place[1]);
            return CudaResult.SUCCESS;
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** Parameters: function or kernel, module or library, name. */
    int kernel(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        String name = frame.required(2).getString(0);
        try {
            client.fences().kernel(frame.slot(1), name);
        } catch (ProgramRefusedException e) {
            return e.result();
        }
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            client.fences().named(frame.data(0).get(WireTypes.U64, 0), name);
        }
        RefusedCode.byDriver(result, client.driver().port(), client.segment());
        return result;
    }

    /** Parameters: something of a kernel or function. */
    int changed(CallFrame frame, ClientContext context) throws RejectedException {
        boolean ofKernel = frame.plan().api().startsWith("cuKernel");
        int kernel = ofKernel ? 2 : 0;
        long attribute = frame.slot(ofKernel ? 0 : 1);
        if (frame.plan().api().endsWith("SetAttribute") && attribute >= FIRST_CLUSTER && attribute <= LAST_CLUSTER) {
            try {
                client.fences().kernels().inCluster(frame.said(kernel), frame.slot(kernel));
            } catch (ProgramRefusedException e) {
                throw RejectedException.of(e);
            }
        }
        client.fences().kernels().changed();
        return client.driver().call(frame.plan().entry(), frame.slots());
    }

    /** Parameters: module, image, count, options, values. */
    int loadEx(CallFrame frame, ClientContext context) throws RejectedException {
        JitOptions options = new JitOptions(frame, 2, 3, 4);
        return load(frame, false, frame.plan().entry(), options);
    }

    /** Parameters: library, code, options, values, count, library options, their values, their count. */
    int library(CallFrame frame, ClientContext context) throws RejectedException {
        if (frame.slot(7) != 0) {
            throw CallFrame.malformed("options of a library");
        }
        JitOptions options = new JitOptions(frame, 4, 2, 3);
        return load(frame, true, DriverEntry.cuLibraryLoadData, options);
    }

    /** Parameters: name, handle. The driver answers with a pointer, the client gets the text. */
    int name(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment place = frame.room(Long.BYTES);
        MemorySegment wanted = frame.data(0);
        frame.slot(0, place.address());
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        long named = place.get(WireTypes.U64, 0);
        if (result == CudaResult.SUCCESS && wanted != null) {
            if (named == 0) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "the driver knows no name");
            }
            MemorySegment text = MemorySegment.ofAddress(named).reinterpret(LONGEST_NAME);
            long length = 0;
            while (length + 1 < Math.min(frame.outBytes(0), LONGEST_NAME)
                    && text.get(ValueLayout.JAVA_BYTE, length) != 0) {
                length++;
            }
            wanted.fill((byte) 0);
            MemorySegment.copy(text, 0, wanted, 0, Math.min(length, wanted.byteSize()));
        }
        return result;
    }
}
