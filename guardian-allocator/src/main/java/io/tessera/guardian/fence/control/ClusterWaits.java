package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.plan.Prologue;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has each block of a cluster stay until all threads of its cluster have ended: an access to the shared memory of a block that has ended ends the context
 * (seen on an H200: error 719). For modules whose accesses may be of other blocks ({@code ModulePlan.reachesBlocks}). Not thread-safe.
 *
 * <p>The last {@link FencedModule#CLUSTER_BYTES} of a block's shared memory, which no access of the program reaches, hold two words: how many threads of
 * the block have ended, and how many blocks of the cluster have no other threads. They are cleared at a kernel's start, before the cluster's barrier. Each
 * end of a thread goes to the function's last instructions. They make the thread's accesses complete and count it; all but the block's last thread end
 * then, so barriers of the block and exchanges in warps wait for none of them. The last one counts its block in every block of the cluster, and ends when
 * all blocks are counted in its own.
 *
 * <p>No access comes to a block that has ended: a block ends when it has been counted in by all blocks, and by then each of them has made all its accesses
 * but its counts in other blocks. Those blocks have not ended, since they have that count still to come. A thread's own count is one of those that it waits
 * for. No wait lasts for ever that does not without fences: other threads at the cluster's barrier wait for all that have not ended, so the last thread
 * arrives there and waits, again and again, and looks only between two rounds. Once all threads left in a cluster are such ones, every round ends, and the
 * next look sees all counts.
 *
 * <p>A predicate says whether a thread has arrived and not waited, since two arrivals without a wait are undefined, as is a wait without an arrival. A
 * thread that has, waits first where it arrives again, where it calls a function, which is not told of it, and where it is the last one of its block. It
 * waits at no place where it has not arrived.
 */
public final class ClusterWaits {
    private static final String PREFIX = WindowConstants.PREFIX + "end_";
    private static final String PENDING = "%" + PREFIX + "pending";
    private static final String END = PREFIX + "all";
    private static final int WORD_BYTES = Integer.BYTES;
    private static final int BOTH_BYTES = 2 * WORD_BYTES;

    private final PtxFunction function;
    private final boolean kernel;
    private final Code code = new Code(PREFIX);
    private final Operand.Register pending = new Operand.Register(PENDING + "0");
    private final Operand.Register words = code.word();
    private final Operand.Register blocks = code.word();
    private final Operand.Register number = code.word();
    private final Operand.Register other = code.word();
    private final Operand.Register truth = code.truth();

    private ClusterWaits(PtxFunction function) {
        this.function = function;
        this.kernel = function.kind() == PtxFunction.Kind.ENTRY;
    }

    /**
     * Refuses a device function that has to do with the cluster's barrier: it is not told whether its caller has arrived there.
     *
     * @throws FenceRefusedException if it is one
     */
    public static void check(PtxFunction function) throws FenceRefusedException {
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Instruction i && isBarrier(i) && function.kind() != PtxFunction.Kind.ENTRY) {
                throw new FenceRefusedException(i.mnemonic(), i.line(), "a function that is called is not told whether its caller has arrived at the "
                        + "cluster's barrier, and the module reaches into other blocks' shared memory");
            }
        }
    }

    /** The function whose ends wait; one that is fenced and has a body. */
    public static PtxFunction waiting(PtxFunction function) {
        return new ClusterWaits(function).written();
    }

    private PtxFunction written() {
        Block body = function.body().orElseThrow();
        if (!kernel && body.statements().stream().noneMatch(each -> each instanceof Instruction i && i.opcode().equals("exit"))) {
            return function;
        }
        boolean begun = !kernel;
        for (Statement statement : body.statements()) {
            if (!begun && (statement instanceof Instruction || statement instanceof Label)) {
                begin();
                begun = true;
            }
            if (!(statement instanceof Instruction i)) {
                code.add(statement);
            } else if (i.opcode().equals("exit") || kernel && i.opcode().equals("ret")) {
                code.emit(i.guard(), "bra", new Operand.Symbol(END, 0));
            } else if (kernel && (isBarrier(i) || i.opcode().equals("call"))) {
                follows(i);
            } else {
                code.add(i);
            }
        }
        end();
        List<Statement> statements = new ArrayList<>(code.declarations());
        if (kernel) {
            statements.add(new RegisterDeclaration(ScalarType.PRED, PENDING, 1, 0));
        }
        statements.addAll(code.leave(List.of()));
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, body.line())), function.line());
    }

    private static boolean isBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    private static Optional<Guard> when(Operand.Register predicate) {
        return Optional.of(new Guard(predicate, false));
    }

    /** Clears the words, and has all blocks of the cluster wait until all have done so. */
    private void begin() {
        String begun = code.newLabel("begun");
        Operand.SpecialRegister[] axes = {new Operand.SpecialRegister("%tid", "x"), new Operand.SpecialRegister("%tid", "y"),
                new Operand.SpecialRegister("%tid", "z")};
        code.emit("mov.pred", pending, Code.number(0));
        isAlone();
        code.branch(truth, false, begun);
        code.emit("mov.u32", number, axes[0]);
        for (int axis = 1; axis < axes.length; axis++) {
            code.emit("mov.u32", other, axes[axis]);
            code.emit("or.b32", number, number, other);
        }
        place();
        code.emit("setp.eq.u32", truth, number, Code.number(0));
        code.emit(when(truth), "st.shared.u64", Code.at(words, 0), Code.number(0));
        code.emit("barrier.cluster.arrive");
        code.emit("barrier.cluster.wait");
        code.label(begun);
    }

    private void isAlone() {
        code.emit("mov.u32", blocks, new Operand.SpecialRegister("%cluster_nctarank", ""));
        code.emit("setp.eq.u32", truth, blocks, Code.number(1));
    }

    /** The address of the words: they are aligned, also where the size of dynamic memory is not. */
    private void place() {
        code.emit("mov.u32", words, new Operand.Symbol(Prologue.DYNAMIC_SHARED, 0));
        code.emit("mov.u32", other, new Operand.SpecialRegister("%dynamic_smem_size", ""));
        code.emit("sub.u32", other, other, Code.number(BOTH_BYTES));
        code.emit("and.b32", other, other, Code.number(-BOTH_BYTES));
        code.emit("add.u32", words, words, other);
    }

    /** A barrier of the cluster, or a call, by a thread that waits first if it has arrived. */
    private void follows(Instruction i) {
        String skipped = i.guard().isPresent() ? code.newLabel("skipped") : null;
        i.guard().ifPresent(guard -> code.branch(guard.register(), !guard.negated(), skipped));
        boolean wait = isBarrier(i) && !i.has("arrive");
        code.add(new Instruction(when(pending), "barrier", wait ? i.modifiers() : List.of("cluster", "wait"), List.of(), i.line()));
        code.emit("mov.pred", pending, Code.number(0));
        if (!wait) {
            code.add(new Instruction(Optional.empty(), i.opcode(), i.modifiers(), i.operands(), i.line()));
        }
        if (isBarrier(i) && !wait) {
            code.emit("mov.pred", pending, Code.number(1));
        }
        if (skipped != null) {
            code.label(skipped);
        }
    }

    private void end() {
        String count = code.newLabel("count");
        String round = code.newLabel("round");
        code.label(END);
        isAlone();
        code.emit(when(truth), "exit"); // here and below: threads that have ended must not wait where their warp comes together again
        code.emit("fence.acq_rel.cluster");
        place();
        code.emit("mov.u32", number, new Operand.SpecialRegister("%ntid", "x"));
        for (String axis : new String[] {"y", "z"}) {
            code.emit("mov.u32", other, new Operand.SpecialRegister("%ntid", axis));
            code.emit("mul.lo.u32", number, number, other);
        }
        code.emit("atom.acq_rel.cluster.shared.add.u32", other, Code.at(words, 0), Code.number(1));
        code.emit("add.u32", other, other, Code.number(1));
        code.emit("setp.ne.u32", truth, other, number);
        code.emit(when(truth), "exit");
        if (kernel) {
            code.emit(when(pending), "barrier.cluster.wait");
        }
        code.emit("mov.u32", number, blocks);
        code.label(count);
        code.emit("sub.u32", number, number, Code.number(1));
        code.emit("mapa.shared::cluster.u32", other, words, number);
        code.emit("red.release.cluster.shared::cluster.add.u32", Code.at(other, WORD_BYTES), Code.number(1));
        code.emit("setp.ne.u32", truth, number, Code.number(0));
        code.branch(truth, false, count);
        code.label(round);
        code.emit("ld.acquire.cluster.shared.u32", other, Code.at(words, WORD_BYTES));
        code.emit("setp.eq.u32", truth, other, blocks);
        code.emit(when(truth), "exit");
        code.emit("barrier.cluster.arrive");
        code.emit("barrier.cluster.wait");
        code.emit("bra", new Operand.Symbol(round, 0));
    }
}
