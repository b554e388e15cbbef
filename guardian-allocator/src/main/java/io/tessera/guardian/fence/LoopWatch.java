package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks at the stop word now and then in loops, and ends the thread when it is set. Not thread-safe. */
final class LoopWatch {
    private final FunctionContext context;
    private final Code code;
    private final Loops loops;
    private Operand.Register fuel;

    LoopWatch(FunctionContext context, Loops loops) {
        this.context = context;
        this.code = context.code;
        this.loops = loops;
        if (loops.any()) {
            fuel = code.word();
            context.prologue.write(() -> code.emit("mov.u32", fuel, Code.number(Loops.FUEL)));
        }
    }

    /** What goes before a branch; {@code nested} where labels at the end of the function cannot come back here. */
    void before(Instruction branch, boolean nested) {
        int weight = loops.weight(branch);
        if (weight == 0) {
            return;
        }
        context.counts.fence(KernelReport.Fence.STOP);
        Operand.Register empty = code.truth();
        code.emit("sub.s32", fuel, fuel, Code.number(weight));
        code.emit("setp.le.s32", empty, fuel, Code.number(0));
        String back = code.newLabel("go_on");
        if (nested) {
            code.branch(empty, true, back);
            look();
        } else {
            String look = code.newLabel("look");
            code.branch(empty, false, look);
            context.sites.tail(() -> {
                code.label(look);
                look();
                code.emit("bra", new Operand.Symbol(back, 0));
            });
        }
        code.label(back);
    }

    private void look() {
        Operand.Register place = code.wide();
        Operand.Register word = code.word();
        Operand.Register stop = code.truth();
        code.emit("ld.const.u64", place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD));
        code.emit("ld.volatile.global.u32", word, Code.at(place, 0));
        code.emit("setp.ne.u32", stop, word, Code.number(0));
        code.emit(Optional.of(new Guard(stop, false)), "exit");
        code.emit("mov.u32", fuel, Code.number(Loops.FUEL));
    }

    /** A comparison that ends a counted loop, so that it is certain to end it; or the instruction itself. */
    Instruction compare(Instruction instruction) {
        Loops.Bound bound = instruction.opcode().equals("setp") ? loops.bound(instruction) : null;
        if (bound == null || bound.ignoredBits() == 0 && !bound.cut()) {
            return instruction;
        }
        Operand.Register cut = code.word();
        String type = instruction.modifiers().get(1);
        List<Operand> operands = new ArrayList<>(instruction.operands());
        if (bound.cut()) {
            boolean up = instruction.modifiers().getFirst().startsWith("l");
            if (operands.get(2) instanceof Operand.Immediate(long value, boolean _)) {
                operands.set(2, Code.number(up ? Math.min(value, bound.limit()) : Math.max(value, bound.limit())));
                return with(instruction, operands);
            }
            code.emit((up ? "min." : "max.") + (type.startsWith("b") ? "u32" : type), cut, operands.get(2),
                    Code.number(bound.limit()));
            operands.set(2, cut);
        } else {
            code.emit("xor.b32", cut, operands.get(1), operands.get(2));
            code.emit("and.b32", cut, cut, Code.number(-(1L << bound.ignoredBits())));
            operands.set(1, cut);
            operands.set(2, Code.number(0));
        }
        return with(instruction, operands);
    }

    private static Instruction with(Instruction instruction, List<Operand> operands) {
        return new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands,
                instruction.line());
    }
}
