package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.fence.instruction.Access.Kind;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.instruction.InstructionClass.Barrier;
import io.tessera.guardian.fence.instruction.InstructionClass.Control;
import io.tessera.guardian.fence.instruction.InstructionClass.Handle;
import io.tessera.guardian.fence.instruction.InstructionClass.Memory;
import io.tessera.guardian.fence.instruction.InstructionClass.Pure;
import io.tessera.guardian.fence.instruction.InstructionClass.Refused;
import io.tessera.guardian.fence.instruction.InstructionClass.Warp;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Every opcode of PTX ISA 9.0, and what the rewriter does with it. Stateless. */
public final class InstructionTable {
    private static final Pure PURE = new Pure();
    private static final Control CONTROL = new Control();
    private static final Barrier BARRIER = new Barrier();
    private static final Warp WARP = new Warp();
    private static final int MBARRIER_BYTES = 8;
    private static final int CACHE_LINE_BYTES = 128;
    private static final int MATRIX_ROW_BYTES = 16;

    /** The modifiers that may follow an opcode, and the resulting class. */
    private record Row(Vocabulary vocabulary, Function<Instruction, InstructionClass> classify) {
    }

    private static final Map<String, Row> ROWS = new HashMap<>();

    static {
        put(Vocabulary.REGISTERS, i -> PURE, "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind "
                + "fns brev bfe bfi bmsk szext dp4a dp2a addc subc madc testp copysign fma rcp sqrt rsqrt sin cos lg2 "
                + "ex2 tanh set setp selp slct and or xor not cnot lop3 shf shl shr mov prmt isspacep cvta cvt "
                + "mapa getctarank createpolicy activemask griddepcontrol mma movmatrix "
                + "nanosleep pmevent setmaxnreg vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 "
                + "vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4");
        put(Vocabulary.REGISTERS, i -> i.has("sync") ? WARP : PURE, "shfl vote match redux elect");
        put(Vocabulary.TRANSFER, i -> transfer(i, Kind.READ), "ld ldu");
        put(Vocabulary.TRANSFER, i -> transfer(i, Kind.WRITE), "st");
        put(Vocabulary.ATOMIC, i -> transfer(i, Kind.ATOMIC), "atom red");
        put(Vocabulary.CACHE, i -> cache(i, 1), "prefetch prefetchu");
        put(Vocabulary.CACHE, i -> cache(i, CACHE_LINE_BYTES), "applypriority discard");
        put(Vocabulary.COPY, CopyTable::of, "cp");
        put(Vocabulary.MBARRIER, InstructionTable::mbarrier, "mbarrier");
        put(Vocabulary.MATRIX, InstructionTable::rows, "ldmatrix stmatrix");
        put(Vocabulary.REGISTERS, InstructionTable::wmma, "wmma");
        put(Vocabulary.REGISTERS, InstructionTable::wgmma, "wgmma");
        put(Vocabulary.TEXTURE, InstructionTable::handle, "tex tld4 txq suld sust sured suq");
        put(Vocabulary.ORDER,
                i -> i.has("tensormap::generic") ? new Refused("makes a tensor map in memory known, which only the driver may write") : PURE,
                "membar fence");
        put(Vocabulary.BARRIER, InstructionTable::barrier, "bar barrier");
        put(Vocabulary.CONTROL, i -> CONTROL, "bra brx call ret exit trap brkpt");
        refuse("takes as much stack as it likes, and an overflow would end the shared context",
                "alloca stacksave stackrestore");
        refuse("writes a tensor map, which only the driver may", "tensormap");
        refuse("needs multicast memory, which no tenant of a shared context has", "multimem");
        refuse("is not fenced (GPUs of capability 10 and later only)", "tcgen05 clusterlaunchcontrol");
        refuse("is not fenced (a kind of opaque handle)", "istypep");
    }

    private InstructionTable() {
    }

    private static void put(Vocabulary vocabulary, Function<Instruction, InstructionClass> classify, String opcodes) {
        for (String opcode : opcodes.split(" ")) {
            ROWS.put(opcode, new Row(vocabulary, classify));
        }
    }

    private static void refuse(String reason, String opcodes) {
        Refused refused = new Refused(reason);
        for (String opcode : opcodes.split(" ")) {
            ROWS.put(opcode, new Row(null, i -> refused));
        }
    }

    /** Returns whether there is a row for an opcode. */
    static boolean contains(String opcode) {
        return ROWS.containsKey(opcode);
    }

    /** Returns the class of an instruction. */
    public static InstructionClass of(Instruction instruction) {
        Row row = ROWS.get(instruction.opcode());
        if (row == null) {
            return new Refused("is an instruction that the fence does not know", false);
        }
        // st.async, red.async and st.bulk have words of their own.
        Vocabulary vocabulary = row.vocabulary() != null && instruction.has("async") && !instruction.opcode().equals("cp")
                && !instruction.opcode().equals("fence") ? Vocabulary.REMOTE : row.vocabulary();
        String unknown = vocabulary == null ? null : vocabulary.unknownIn(instruction);
        if (unknown != null) {
            return new Refused("has '." + unknown + "', which the fence does not know here", false);
        }
        return row.classify().apply(instruction);
    }

    private static InstructionClass transfer(Instruction i, Kind kind) {
        ScalarType type = i.type().orElse(null);
        int operand = Access.address(i, 0);
        if (type == null || operand < 0) {
            return new Refused("has no type or no address");
        }
        int bytes = type.bytes() * i.vectorLength();
        Access access = new Access(operand, Access.place(i), kind, bytes, bytes);
        if (!i.has("async")) {
            return new Memory(List.of(access));
        }
        int barrier = Access.address(i, 1);
        if (barrier < 0 || access.place() != Place.CLUSTER) {
            return new Refused("is a form of it that is not fenced");
        }
        return new Memory(List.of(access, new Access(barrier, Place.CLUSTER, Kind.ATOMIC, MBARRIER_BYTES,
                MBARRIER_BYTES)));
    }

    private static InstructionClass cache(Instruction i, int bytes) {
        if (i.has("tensormap")) {
            return new InstructionClass.Dropped();
        }
        int operand = Access.address(i, 0);
        Place place = Access.place(i);
        if (operand < 0 || place == Place.CONST || place == Place.PARAM) {
            return new Refused("has no address that it may have");
        }
        if (place == Place.LOCAL) {
            return new Memory(List.of(new Access(operand, place, Kind.PREFETCH, bytes, bytes)));
        }
        // Only global memory has these caches; a generic address elsewhere makes a prefetch do nothing.
        Kind kind = i.opcode().equals("discard") ? Kind.WRITE : Kind.PREFETCH;
        return new Memory(List.of(new Access(operand, Place.GLOBAL, kind, bytes, bytes)));
    }

    private static InstructionClass mbarrier(Instruction i) {
        int operand = Access.address(i, 0);
        if (operand < 0) {
            return i.has("pending_count") ? PURE : new Refused("has no address");
        }
        Place place = Access.place(i);
        return new Memory(List.of(new Access(operand, place == Place.GENERIC ? Place.GENERIC_SHARED : place, Kind.ATOMIC,
                MBARRIER_BYTES, MBARRIER_BYTES)));
    }

    private static InstructionClass rows(Instruction i) {
        int operand = Access.address(i, 0);
        Place place = Access.place(i) == Place.GENERIC ? Place.GENERIC_SHARED : Access.place(i);
        if (operand < 0 || place == Place.GLOBAL) {
            return new Refused("has no address in shared memory");
        }
        Kind kind = i.opcode().equals("ldmatrix") ? Kind.READ : Kind.WRITE;
        return new Memory(List.of(new Access(operand, place, kind, MATRIX_ROW_BYTES, MATRIX_ROW_BYTES)));
    }

    private static InstructionClass wmma(Instruction i) {
        return i.modifiers().isEmpty() || !i.modifiers().getFirst().equals("mma") ? MatrixTable.of(i) : PURE;
    }

    private static InstructionClass wgmma(Instruction i) {
        String what = i.modifiers().isEmpty() ? "" : i.modifiers().getFirst();
        return what.equals("fence") || what.equals("commit_group") || what.equals("wait_group") ? PURE
                : new Refused("reads shared memory by a descriptor whose extent is not known");
    }

    private static InstructionClass handle(Instruction i) {
        for (int n = 0; n < i.operands().size(); n++) {
            Operand operand = i.operands().get(n);
            if (operand instanceof Operand.Address || operand instanceof Operand.CompoundAddress) {
                return new Handle(n);
            }
        }
        return new Refused("has no handle");
    }

    private static InstructionClass barrier(Instruction i) {
        return i.has("cluster") ? PURE : i.has("warp") ? WARP : BARRIER;
    }
}
