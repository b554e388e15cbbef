package io.tessera.software.compile;

import io.tessera.software.compile.flat.CodeFlow;
import io.tessera.software.compile.flat.InlinedCode;
import io.tessera.software.compile.flat.NotCompiledException;
import io.tessera.software.compile.flat.RegisterKinds;
import io.tessera.software.compile.flat.RegisterUse;
import io.tessera.software.compile.flat.Step;
import io.tessera.software.compile.flat.WaitingCode;
import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.GridState;
import io.tessera.software.execution.StopReason;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.matrix.WarpSequence;
import io.tessera.software.memory.MemoryMap;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Writes the body of {@code run}: a loop over the threads; in it a switch to where the thread stopped, and the kernel's
 * code with its registers in locals. At a stop the live registers go to the thread's state, and the next thread begins;
 * the code at the resume point takes them back.
 */
final class KernelWriter {
    /** The cost of a look at memory that others may change, taken off the budget, so that spinning threads stop early. */
    private static final int LOOK_COST = 64;

    /** A place at which a stopped thread continues. */
    private record ResumePoint(Label label, BitSet live, Label target) {
    }

    private final CodeBuilder code;
    private final InlinedCode flat;
    private final CodeFlow flow;
    private final Registers registers;
    private final InstructionEmitter instructions;
    private final StopEmitter stops;
    private final Label[] labels;
    /** Place at which a thread has stopped and the next one is run. */
    private final Label stopped;
    private final List<ResumePoint> resumePoints = new ArrayList<>();
    private final boolean usesCarry;
    private final int budget;

    KernelWriter(CodeBuilder code, Kernel kernel, InlinedCode flat, SymbolAddresses addresses,
            ClassConstants constants) {
        this.code = code;
        this.flat = flat;
        this.flow = new CodeFlow(flat.steps());
        this.registers = new Registers(code, flat, new RegisterKinds(flat), addresses, ReservedLocals.REGISTERS);
        this.instructions = new InstructionEmitter(code, registers, kernel, constants, addresses);
        this.stops = new StopEmitter(code, registers, constants);
        this.stopped = code.newLabel();
        this.labels = new Label[flat.steps().size()];
        this.usesCarry = flat.steps().stream().anyMatch(KernelWriter::usesCarry);
        this.budget = Math.max(ReservedLocals.REGISTERS, registers.endLocal());
    }

    private static boolean usesCarry(Step step) {
        return step instanceof Step.Plain plain && switch (plain.instruction().opcode()) {
            case ADDC, SUBC, MADC -> true;
            default -> false;
        };
    }

    /** Writes everything. */
    void write() {
        Label dispatch = code.newLabel();
        Label begin = code.newLabel();
        Label nextThread = code.newLabel();
        Label done = code.newLabel();
        prologue();
        code.labelBinding(nextThread).iload(ReservedLocals.NUMBER).iload(ReservedLocals.END).if_icmpge(done);
        beginThread();
        // The switch stands at the end, when all resume points are known.
        code.goto_(dispatch).labelBinding(begin);
        for (int i = 0; i < labels.length; i++) {
            if (flow.isTarget(i)) {
                labels[i] = code.newLabel();
            }
        }
        for (int i = 0; i < labels.length; i++) {
            if (labels[i] != null) {
                code.labelBinding(labels[i]);
            }
            int sequenceEnd = sequenceEnd(i);
            if (sequenceEnd > i) {
                registers.enter(((Step.Plain) flat.steps().get(i)).slotBase(), ((Step.Plain) flat.steps().get(i)).frameBase());
                stop(i, sequenceEnd);
                i = sequenceEnd - 1;
            } else {
                step(i);
            }
        }
        // Reached by nothing: the verifier wants every path to end.
        leave(StopReason.EXIT);
        code.labelBinding(dispatch);
        dispatch(begin);
        code.labelBinding(stopped).iinc(ReservedLocals.NUMBER, 1).goto_(nextThread).labelBinding(done).return_();
    }

    /** Emits the code that is the same for all threads. */
    private void prologue() {
        code.aload(ReservedLocals.THREADS).iload(ReservedLocals.NUMBER).aaload();
        CallEmitter.get(code, ThreadState.class, "block", BlockState.class);
        code.astore(ReservedLocals.BLOCK).aload(ReservedLocals.BLOCK);
        CallEmitter.get(code, BlockState.class, "grid", GridState.class);
        code.astore(ReservedLocals.GRID).aload(ReservedLocals.GRID);
        CallEmitter.get(code, GridState.class, "map", MemoryMap.class);
        code.astore(ReservedLocals.MAP).aload(ReservedLocals.GRID);
        CallEmitter.get(code, GridState.class, "parameterBase", long.class);
        code.lstore(ReservedLocals.PARAMETERS);
    }

    private void beginThread() {
        code.aload(ReservedLocals.THREADS).iload(ReservedLocals.NUMBER).aaload().astore(ReservedLocals.THREAD);
        code.aload(ReservedLocals.BLOCK).iload(ReservedLocals.NUMBER);
        CallEmitter.put(code, BlockState.class, "running", int.class);
        code.iconst_0().istore(ReservedLocals.CARRY).loadConstant(ThreadState.BUDGET).istore(budget);
        registers.clearAll();
    }

    private void dispatch(Label begin) {
        List<SwitchCase> cases = new ArrayList<>();
        cases.add(SwitchCase.of(0, begin));
        for (int i = 0; i < resumePoints.size(); i++) {
            cases.add(SwitchCase.of(i + 1, resumePoints.get(i).label()));
        }
        Label wrong = code.newLabel();
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, "resumePoint", int.class);
        code.tableswitch(0, resumePoints.size(), wrong, cases);
        for (ResumePoint point : resumePoints) {
            if (point.target() != null) {
                code.labelBinding(point.label());
                restore(point.live());
                code.goto_(point.target());
            }
        }
        code.labelBinding(wrong).aload(ReservedLocals.THREAD);
        CallEmitter.invoke(code, Traps.class, "wrongResumePoint", RuntimeException.class, ThreadState.class);
        code.athrow();
    }

    private void leave(StopReason stop) {
        code.aload(ReservedLocals.STATUS).iload(ReservedLocals.NUMBER).loadConstant((int) stop.status()).bastore().goto_(stopped);
    }

    private void step(int place) {
        switch (flat.steps().get(place)) {
            case Step.Plain plain -> plain(plain, place);
            case Step.Jump jump -> {
                registers.enter(jump.slotBase(), 0);
                jump(jump.instruction().guard(), jump.target(), place);
            }
            case Step.SkipCall skip -> {
                registers.enter(skip.slotBase(), 0);
                LoweredOperand.Register guard = skip.instruction().guard();
                registers.pushInt(guard);
                code.ifeq(labels[skip.target()]);
            }
            case Step.Enter enter -> {
                code.aload(ReservedLocals.THREAD).loadConstant(enter.frameEnd());
                CallEmitter.invokeVirtual(code, ThreadState.class, "checkStack", void.class, long.class);
            }
            case Step.Copy copy -> {
                pushLocal(copy.from());
                pushLocal(copy.to());
                code.loadConstant((long) copy.bytes());
                CallEmitter.invoke(code, RealMemory.class, "copy", void.class, long.class, long.class, long.class);
            }
        }
    }

    private void pushLocal(long offset) {
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, "localBase", long.class);
        code.loadConstant(offset).ladd();
    }

    private void plain(Step.Plain step, int place) {
        LoweredInstruction instruction = step.instruction();
        registers.enter(step.slotBase(), step.frameBase());
        if (instruction.opcode() == Opcode.BRA) {
            jump(instruction.guard(), step.targets().getFirst(), place);
            return;
        }
        Label skip = null;
        if (instruction.guard() != null) {
            skip = code.newLabel();
            registers.pushInt(instruction.guard());
            code.ifeq(skip);
        }
        switch (instruction.opcode()) {
            case BRX -> jumpIndexed(step, place);
            case RET, EXIT -> leave(StopReason.EXIT);
            default -> {
                if (WaitingCode.stops(instruction)) {
                    stop(place, place + 1);
                } else {
                    if (WaitingCode.observesOthers(instruction)) {
                        code.iinc(budget, -LOOK_COST);
                    }
                    instructions.emit(step);
                }
            }
        }
        if (skip != null) {
            code.labelBinding(skip);
        }
    }

    private void jump(LoweredOperand.Register guard, int target, int place) {
        boolean backward = target <= place;
        if (!backward) {
            if (guard == null) {
                code.goto_(labels[target]);
            } else {
                registers.pushInt(guard);
                code.ifne(labels[target]);
            }
            return;
        }
        Label skip = code.newLabel();
        if (guard != null) {
            registers.pushInt(guard);
            code.ifeq(skip);
        }
        spend();
        code.ifge(labels[target]);
        yieldBefore(target);
        code.labelBinding(skip);
    }

    /** Takes one off the budget and pushes what is left. */
    private void spend() {
        code.iinc(budget, -1).iload(budget);
    }

    /** Stops the thread so that it continues at a step. */
    private void yieldBefore(int target) {
        BitSet live = flow.liveBefore(target);
        ResumePoint point = null;
        for (ResumePoint known : resumePoints) {
            point = known.target() == labels[target] ? known : point;
        }
        if (point == null) {
            point = new ResumePoint(code.newLabel(), live, labels[target]);
            resumePoints.add(point);
        }
        save(live, resumePoints.indexOf(point) + 1);
        leave(StopReason.YIELD);
    }

    private void jumpIndexed(Step.Plain step, int place) {
        if (step.targets().stream().anyMatch(target -> target <= place)) {
            Label go = code.newLabel();
            spend();
            code.ifge(go);
            // Resumes before the branch itself.
            int back = place;
            if (labels[back] == null) {
                throw new NotCompiledException("brx.idx backwards that is no branch target itself");
            }
            yieldBefore(back);
            code.labelBinding(go);
        }
        List<SwitchCase> cases = new ArrayList<>();
        for (int i = 0; i < step.targets().size(); i++) {
            cases.add(SwitchCase.of(i, labels[step.targets().get(i)]));
        }
        Label wrong = code.newLabel();
        registers.pushInt(step.instruction().argument(0));
        code.tableswitch(0, cases.size() - 1, wrong, cases).labelBinding(wrong);
        CallEmitter.invoke(code, Traps.class, "wrongIndex", RuntimeException.class);
        code.athrow();
    }

    /** End of the tensor core instructions that stop the thread once, from a step on; the step itself if it is none. */
    private int sequenceEnd(int begin) {
        List<LoweredInstruction> sequence = new ArrayList<>();
        Step.Plain first = null;
        for (int i = begin; i < labels.length && (i == begin || labels[i] == null); i++) {
            if (!(flat.steps().get(i) instanceof Step.Plain step) || !WarpSequence.takes(step.instruction().opcode())
                    || step.instruction().guard() != null
                    || first != null && (step.slotBase() != first.slotBase() || step.frameBase() != first.frameBase())) {
                break;
            }
            first = step;
            sequence.add(step.instruction());
        }
        return begin + WarpSequence.length(sequence);
    }

    /** A stop with a result, for the steps from {@code place} to before {@code end}: asks, saves, leaves; the code after it takes the result. */
    private void stop(int place, int end) {
        LoweredInstruction instruction = ((Step.Plain) flat.steps().get(place)).instruction();
        WarpSequence sequence = !WarpSequence.takes(instruction.opcode()) ? null : WarpSequence.of(
                flat.steps().subList(place, end).stream().map(step -> ((Step.Plain) step).instruction()).toList());
        StopReason stop = StopReason.WARP;
        if (sequence == null) {
            stop = stops.ask(instruction, resumePoints.size() + 1);
        } else {
            stops.ask(sequence);
        }
        BitSet live = flow.liveAfter(end - 1);
        if (instruction.guard() == null) {
            BitSet written = new BitSet();
            flat.steps().subList(place, end).forEach(step -> RegisterUse.writes(step, written::set));
            live.andNot(written);
        }
        ResumePoint point = new ResumePoint(code.newLabel(), live, null);
        resumePoints.add(point);
        save(live, resumePoints.size());
        leave(stop);
        code.labelBinding(point.label());
        restore(live);
        if (sequence == null) {
            stops.takeResult(instruction);
        } else {
            stops.takeResults(sequence);
        }
    }

    private void save(BitSet live, int resumePoint) {
        int count = live.cardinality() + (usesCarry ? 1 : 0);
        code.aload(ReservedLocals.THREAD).loadConstant(resumePoint);
        CallEmitter.put(code, ThreadState.class, "resumePoint", int.class);
        if (count == 0) {
            return;
        }
        code.aload(ReservedLocals.THREAD).loadConstant(count);
        CallEmitter.invoke(code, SavedRegisters.class, "room", long[].class, ThreadState.class, int.class);
        code.astore(ReservedLocals.SAVED);
        registers.save(live, ReservedLocals.SAVED);
        if (usesCarry) {
            code.aload(ReservedLocals.SAVED).loadConstant(count - 1).iload(ReservedLocals.CARRY).i2l().lastore();
        }
    }

    private void restore(BitSet live) {
        int count = live.cardinality() + (usesCarry ? 1 : 0);
        if (count == 0) {
            return;
        }
        code.aload(ReservedLocals.THREAD);
        CallEmitter.get(code, ThreadState.class, "saved", long[].class);
        code.astore(ReservedLocals.SAVED);
        registers.restore(live, ReservedLocals.SAVED);
        if (usesCarry) {
            code.aload(ReservedLocals.SAVED).loadConstant(count - 1).laload().l2i().istore(ReservedLocals.CARRY);
        }
    }
}
