package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.fence.LinkInput;
import io.tessera.executor.fence.ProgramRefusedException;
import io.tessera.executor.stream.ClientContext;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The JIT's linker. The driver writes into a linker's options and logs at every step, so that they live as long as it; the
 * image goes to the client in pieces. One owner thread.
 */
final class LinkCalls {
    /** cuLinkComplete with this offset asks for option values and logs (RELAY.md, section 8). */
    private static final long LOGS = 1L << 63;

    private final ClientState client;
    /** By the driver's own handle. */
    private final Map<Long, Linker> linkers = new HashMap<>();

    private static final class Linker {
        private final JitOptions options;
        /** Of its inputs, if they are fenced. */
        private final List<FencedTables> tables = new ArrayList<>();
        private boolean asItIs;
        private MemorySegment image;

        Linker(JitOptions options) {
            this.options = options;
        }

        /** Whether it may be linked with those before it: fences hold only where all have them. */
        boolean takes(LinkInput input) {
            return input.tables() == null ? tables.isEmpty() : !asItIs;
        }

        void add(LinkInput input) {
            if (input.tables() == null) {
                asItIs = true;
            } else {
                tables.add(input.tables());
            }
        }
    }

    LinkCalls(ClientState client) {
        this.client = client;
    }

    /** Enters the calls. */
    void register(Map<String, SpecialCall> calls) {
        calls.put("cuLinkCreate", this::create);
        calls.put("cuLinkAddData", this::add);
        calls.put("cuLinkComplete", this::complete);
        calls.put("cuLinkDestroy", this::destroy);
    }

    private int call(CallFrame frame) {
        return client.driver().call(frame.plan().entry(), frame.slots());
    }

    /** Parameters: count, options, values, linker. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(3, Long.BYTES);
        Arena arena = Arena.ofAuto();
        JitOptions options = new JitOptions(frame, 0, 1, 2, bytes -> arena.allocate(Math.max(1, bytes), 64));
        int result = call(frame);
        if (result == CudaResult.SUCCESS) {
            linkers.put(frame.data(3).get(WireTypes.U64, 0), new Linker(options));
        }
        return result;
    }

    /** Parameters: linker, type, data, bytes, name, count, options, values. */
    private int add(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment data = frame.required(2);
        long bytes = frame.slot(3);
        if (bytes <= 0 || bytes > frame.inBytes(2)) {
            throw CallFrame.malformed("an input of " + bytes + " bytes");
        }
        JitOptions options = new JitOptions(frame, 5, 6, 7);
        Linker linker = linkers.get(frame.slot(0));
        int result;
        try (Arena arena = Arena.ofConfined()) {
            LinkInput input = linker == null ? null : client.fences().linkInput((int) frame.slot(1),
                    data.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
            if (input != null && !linker.takes(input)) {
                options.log("", "fenced and unfenced inputs are not linked with each other");
                options.answer();
                return CudaResult.NOT_SUPPORTED;
            }
            if (input != null && input.tables() != null) {
                MemorySegment text = arena.allocate(input.ptx().length + 1L);
                MemorySegment.copy(input.ptx(), 0, text, ValueLayout.JAVA_BYTE, 0, input.ptx().length);
                frame.slot(1, LinkInput.PTX);
                frame.slot(2, text.address());
                frame.slot(3, text.byteSize());
            }
            result = call(frame);
            if (result == CudaResult.SUCCESS && input != null) {
                linker.add(input);
            }
        } catch (ProgramRefusedException e) {
            options.log("", e.getMessage());
            result = e.result();
        }
        options.answer();
        return result;
    }

    /** Parameters: linker, piece, size of the whole. */
    private int complete(CallFrame frame, ClientContext context) throws RejectedException {
        Linker linker = linkers.get(frame.slot(0));
        MemorySegment piece = frame.required(1);
        if (linker == null || frame.inBytes(1) < Long.BYTES) {
            throw CallFrame.malformed("a piece of no image");
        }
        long offset = piece.get(WireTypes.U64, 0);
        piece.fill((byte) 0);
        if (offset == LOGS) {
            linker.options.answer(piece, frame.outBytes(1));
            return CudaResult.SUCCESS;
        }
        if (linker.image == null) {
            int result = client.driver().call(DriverEntry.cuLinkComplete, frame.slot(0), client.driver().out(0),
                    client.driver().out(1));
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            linker.image = MemorySegment.ofAddress(client.driver().outLong(0))
                    .reinterpret(client.driver().outLong(1));
            if (!linker.tables.isEmpty()) {
                client.fences().linked(linker.image.toArray(ValueLayout.JAVA_BYTE), linker.tables);
            }
        }
        if (offset < 0 || offset > linker.image.byteSize()) {
            throw CallFrame.malformed("a piece behind the image's end");
        }
        MemorySegment.copy(linker.image, offset, piece, 0,
                Math.min(linker.image.byteSize() - offset, frame.outBytes(1)));
        if (frame.data(2) != null) {
            frame.data(2).set(WireTypes.U64, 0, linker.image.byteSize());
        }
        return CudaResult.SUCCESS;
    }

    /** Parameter: linker. */
    private int destroy(CallFrame frame, ClientContext context) {
        int result = call(frame);
        if (result == CudaResult.SUCCESS) {
            linkers.remove(frame.slot(0));
        }
        return result;
    }
}
