package io.tessera.executor.call.module;

import io.tessera.device.CudaEnums.JitInput;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.program.LinkInput;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.report.RefusedCode;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.Countable;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.worker.Answer;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The JIT's linker. It collects a program's inputs, fenced if possible, and a worker has the driver link them. A program's options live as long as its
 * linker; the image goes to the client in pieces. One owner thread.
 */
final class LinkCalls {
    /** cuLinkComplete with this offset requests option values and logs (RELAY.md, section 8). */
    private static final long LOGS = 1L << 63;
    /** Maximum bytes of the inputs of one linker, which are in the heap that all clients share. */
    private static final long MOST_BYTES = 128L << 20;
    private static final int MOST_INPUTS = 4096;
    /** First number of a linker: odd, and never an address of a driver's object. */
    private static final long FIRST_NUMBER = 0x8000_0000_0000_0001L;

    private final ClientFences fences;
    private final ClientAccount account;
    private final RelaySegment segment;
    /** Linkers by the value in the client's table. */
    private final Map<Long, Linker> linkers = new HashMap<>();
    private long nextNumber = FIRST_NUMBER;

    private static final class Linker {
        private final JitOptions options;
        private final List<LinkerInput> inputs = new ArrayList<>();
        /** The linker's inputs, if they are fenced. */
        private final List<LinkInput> fenced = new ArrayList<>();
        private boolean asItIs;
        private byte[] image;

        Linker(JitOptions options) {
            this.options = options;
        }

        /** Number and bytes of the linker's inputs and of its image. */
        private int kept;
        private long bytes;

        /** Returns whether an input may be linked with those before it: either all inputs have fences, or none has. */
        boolean takes(LinkInput input) {
            return input.tables() == null ? fenced.isEmpty() : !asItIs;
        }

        boolean hasRoom(long bytes) {
            return inputs.size() < MOST_INPUTS && this.bytes + bytes <= MOST_BYTES;
        }

        /** Adds an input. Returns the bytes that are kept of it. */
        int add(LinkInput input, int type, byte[] data) {
            if (input.tables() == null) {
                asItIs = true;
                inputs.add(new LinkerInput(type, data));
            } else {
                fenced.add(input);
                inputs.add(new LinkerInput(JitInput.PTX, input.ptx()));
            }
            return inputs.getLast().data().length;
        }
    }

    LinkCalls(ClientFences fences, ClientAccount account, RelaySegment segment) {
        this.fences = fences;
        this.account = account;
        this.segment = segment;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuLinkCreate).withoutContext().packed("options", "optionValues").executes(this::create);
        calls.row(DriverApi.cuLinkAddData).withoutContext().packed("options", "optionValues").executes(this::add);
        calls.row(DriverApi.cuLinkComplete).withoutContext().packed("cubinOut", "sizeOut").executes(this::complete);
        calls.row(DriverApi.cuLinkDestroy).withoutContext().ends(HandleKind.LINKER).executes(this::destroy);
    }

    /** Parameters: count, options, values, linker. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(3, Long.BYTES);
        Arena arena = Arena.ofAuto();
        JitOptions options = new JitOptions(frame, 0, 1, 2, bytes -> arena.allocate(Math.max(1, bytes), 64));
        long number = nextNumber;
        nextNumber += 2;
        linkers.put(number, new Linker(options));
        frame.data(3).set(WireTypes.U64, 0, number);
        return CudaResult.SUCCESS;
    }

    /** Parameters: linker, type, data, bytes, name, count, options, values. */
    private int add(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment data = frame.required(2);
        long bytes = frame.slot(3);
        if (bytes <= 0 || bytes > frame.inBytes(2)) {
            throw CallFrame.malformed("an input of " + bytes + " bytes");
        }
        JitOptions options = new JitOptions(frame, 5, 6, 7);
        Linker linker = linker(frame);
        int result = CudaResult.SUCCESS;
        try {
            if (!linker.hasRoom(bytes)) {
                throw ProgramRefusedException.toTell(CudaResult.OUT_OF_MEMORY,
                        "a linker may have " + MOST_INPUTS + " inputs with " + (MOST_BYTES >> 20)
                                + " MiB in all; link fewer at a time");
            }
            String refusal = account.refusal(Countable.IMAGE, 1, bytes);
            if (refusal != null) {
                throw ProgramRefusedException.toTell(CudaResult.OUT_OF_MEMORY, refusal);
            }
            int type = (int) frame.slot(1);
            byte[] given = data.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
            LinkInput input = fences.links().linkInput(type, given);
            if (!linker.takes(input)) {
                throw ProgramRefusedException.toTell(CudaResult.NOT_SUPPORTED,
                        "inputs of a linker with PTX and without are not linked with each other in space sharing; give all of them as PTX, or run the program with --share time");
            }
            keeps(linker, linker.add(input, type, given));
        } catch (ProgramRefusedException e) {
            RefusedCode.answered(e, segment);
            options.log("", e.getMessage());
            result = e.result();
        }
        options.answer();
        return result;
    }

    private Linker linker(CallFrame frame) throws RejectedException {
        Linker linker = linkers.get(frame.slot(0));
        if (linker == null) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no linker");
        }
        return linker;
    }

    /** Parameters: linker, piece, size of the whole. */
    private int complete(CallFrame frame, ClientContext context) throws RejectedException {
        Linker linker = linker(frame);
        MemorySegment piece = frame.required(1);
        if (frame.inBytes(1) < Long.BYTES) {
            throw CallFrame.malformed("a piece of no image");
        }
        long offset = piece.get(WireTypes.U64, 0);
        piece.fill((byte) 0);
        if (offset == LOGS) {
            linker.options.answer(piece, frame.outBytes(1));
            return CudaResult.SUCCESS;
        }
        if (linker.image == null) {
            try {
                Answer made = fences.links().link(linker.inputs, linker.options.code(), linker.fenced);
                linker.options.log(made.text(), "");
                linker.image = made.parts().getFirst();
                keeps(linker, linker.image.length);
            } catch (ProgramRefusedException e) {
                linker.options.log("", e.getMessage());
                return e.result();
            }
        }
        int whole = linker.image.length;
        if (offset < 0 || offset > whole) {
            throw CallFrame.malformed("a piece behind the image's end");
        }
        MemorySegment.copy(MemorySegment.ofArray(linker.image), offset, piece, 0, Math.min(whole - offset, frame.outBytes(1)));
        if (frame.data(2) != null) {
            frame.data(2).set(WireTypes.U64, 0, whole);
        }
        return CudaResult.SUCCESS;
    }

    /** Parameter: linker. */
    private int destroy(CallFrame frame, ClientContext context) {
        Linker linker = linkers.remove(frame.slot(0));
        if (linker == null) {
            return CudaResult.INVALID_HANDLE;
        }
        account.add(Countable.IMAGE, -linker.kept, -linker.bytes);
        return CudaResult.SUCCESS;
    }

    private void keeps(Linker linker, long bytes) {
        linker.kept++;
        linker.bytes += bytes;
        account.add(Countable.IMAGE, 1, bytes);
    }
}
