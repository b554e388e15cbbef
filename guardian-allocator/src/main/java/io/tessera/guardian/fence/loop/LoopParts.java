package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Innermost loops that count to a bound, whose rounds are made in parts of at most {@link PartedLoop#ROUNDS}: before each part it is found how far
 * it goes, and the loop's own comparison is with that. So a round costs nothing, and no loop goes on for long without a look at the
 * stop word. Not thread-safe.
 */
public final class LoopParts {

    /**
     * A loop that is divided into parts.
     *
     * @param counted its counter
     * @param begin   the label where a part begins
     * @param limit   end of the part
     * @param rounds  maximum number of iterations of a part
     */
    public record Part(LoopText.Counted counted, String begin, Operand.Register limit, long rounds) {
        boolean equal() {
            return counted.compare().modifiers().getFirst().equals("ne");
        }

        Operand counter() {
            return counted.compare().operands().get(1);
        }
    }

    private final Code code;
    private final Loops loops;
    private final Map<Instruction, Part> closing = new IdentityHashMap<>();
    private final Map<Instruction, Part> comparing = new IdentityHashMap<>();
    private final Map<String, Part> heads = new HashMap<>();
    private final Map<Integer, Part> places = new HashMap<>();

    /** Creates the parts for one function, whose body is emitted to the given code. */
    public LoopParts(Code code, Loops loops) {
        this.code = code;
        this.loops = loops;
        for (PartedLoop loop : loops.parted()) {
            String head = ((Operand.Symbol) loop.branch().operands().getFirst()).name();
            Part part = new Part(loop.counted(), code.newLabel("part"), code.word(), loop.rounds());
            closing.put(loop.branch(), part);
            comparing.put(loop.counted().compare(), part);
            heads.put(head, part);
            places.put(loops.place(head), part);
        }
    }

    /** The loop that a branch closes, or null. */
    public Part closedBy(Instruction branch) {
        return closing.get(branch);
    }

    /** The loop that a comparison ends, or null. */
    public Part comparedBy(Instruction instruction) {
        return comparing.get(instruction);
    }

    /** The loop whose closing branch names a label, or null. */
    public Part headedBy(String label) {
        return heads.get(label);
    }

    /** Returns the target of a branch to a label that does not close a part; null for the label itself. */
    public String begins(String label) {
        Part part = places.isEmpty() ? null : places.get(loops.place(label));
        return part == null ? null : part.begin();
    }

    /**
     * Writes how far the next part goes.
     *
     * @param cut the loop's limit as it is cut for a proof, or null
     */
    public void begin(Part part, Operand.Register cut) {
        Instruction compare = part.counted().compare();
        Operand end = compare.operands().get(2);
        if (part.equal()) {
            untilEqual(part, end);
            return;
        }
        LoopBound bound = part.counted().bound();
        if (cut != null) {
            end = cut;
        } else if (bound.cut()) {
            end = cut(code, compare, bound);
        }
        boolean up = part.counted().step() > 0;
        long far = part.rounds() * Math.abs((long) part.counted().step());
        String type = type(compare);
        boolean signed = type.equals("s32");
        long farthest = up ? (signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL) - far : (signed ? Integer.MIN_VALUE : 0) + far;
        String nearer = (up ? "min." : "max.") + type;
        code.emit(nearer, part.limit(), part.counter(), Code.number(farthest));
        code.emit((up ? "add." : "sub.") + type, part.limit(), part.limit(), Code.number(far));
        code.emit(nearer, part.limit(), part.limit(), end);
        // A counter that is already past its end wraps around before it reaches it: its first part is one iteration.
        Operand.Register past = code.truth();
        code.emit((up ? "setp.ge." : "setp.le.") + type, past, part.counter(), end);
        long border = up ? (signed ? Integer.MIN_VALUE : 0) : signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        code.emit("selp." + type, part.limit(), Code.number(border), part.limit(), past);
    }

    /** As many steps as there are to the end, but at least one: a counter that is already at the end wraps around. */
    private void untilEqual(Part part, Operand end) {
        int bits = part.counted().bound().ignoredBits();
        boolean up = part.counted().step() > 0;
        Operand to = whole(end, bits);
        Operand from = whole(part.counter(), bits);
        Operand.Register left = code.word();
        code.emit("sub.u32", left, up ? to : from, up ? from : to);
        code.emit("sub.u32", left, left, Code.number(1L << bits));
        code.emit("min.u32", left, left, Code.number(part.rounds() - 1 << bits));
        code.emit("add.u32", left, left, Code.number(1L << bits));
        code.emit(up ? "add.u32" : "sub.u32", part.limit(), part.counter(), left);
    }

    private Operand whole(Operand value, int bits) {
        if (value instanceof Operand.Immediate(long number, boolean _)) {
            return Code.number(number & 0xFFFF_FFFFL & -(1L << bits));
        }
        if (bits == 0) {
            return value;
        }
        Operand.Register cut = code.word();
        code.emit("and.b32", cut, value, Code.number(-(1L << bits)));
        return cut;
    }

    /** Returns the comparison that ends a part. A part has whole steps, so the counter reaches its limit, and assemblers unroll the loop. */
    public Instruction compare(Part part) {
        return unequal(code, part.counted().compare(), part.limit(), new LoopBound(0, 0, false));
    }

    /** A comparison with a limit, less low bits that a step cannot change. */
    public static Instruction unequal(Code code, Instruction compare, Operand limit, LoopBound bound) {
        List<Operand> operands = new ArrayList<>(compare.operands());
        if (bound.ignoredBits() == 0) {
            operands.set(2, limit);
        } else {
            Operand.Register differ = code.word();
            code.emit("xor.b32", differ, operands.get(1), limit);
            code.emit("and.b32", differ, differ, Code.number(-(1L << bound.ignoredBits())));
            operands.set(1, differ);
            operands.set(2, Code.number(0));
        }
        return new Instruction(compare.guard(), compare.opcode(), compare.modifiers(), operands, compare.line());
    }

    /** Emits the limit of a comparison, far enough from the end of its range that the counter cannot pass it. */
    public static Operand cut(Code code, Instruction compare, LoopBound bound) {
        boolean up = compare.modifiers().getFirst().startsWith("l");
        Operand limit = compare.operands().get(2);
        if (limit instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number(up ? Math.min(value, bound.limit()) : Math.max(value, bound.limit()));
        }
        Operand.Register cut = code.word();
        code.emit((up ? "min." : "max.") + type(compare), cut, limit, Code.number(bound.limit()));
        return cut;
    }

    private static String type(Instruction compare) {
        String type = compare.modifiers().get(1);
        return type.startsWith("b") ? "u32" : type;
    }
}
