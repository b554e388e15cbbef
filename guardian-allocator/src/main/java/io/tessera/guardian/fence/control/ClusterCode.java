package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.plan.Prologue;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The instructions of {@link ClusterWaits}, which says what they do. For one function; not thread-safe. */
final class ClusterCode {
    private static final String PREFIX = WindowConstants.PREFIX + "end_";
    private static final String PENDING = "%" + PREFIX + "pending";
    private static final String LAST = PREFIX + "last";
    /** The words: threads of the block that have ended, blocks whose threads have, state of the block at the barrier, and of the cluster. */
    private static final int ENDED = 0;
    private static final int DONE = 4;
    private static final int BLOCK = 8;
    private static final int CLUSTER = 12;
    private static final int WORD_BYTES = 16;
    private static final int ALIGNMENT = 8;
    /**
     * Fields of a block's state: the lowest 12 bits count threads that have arrived or ended, the next 12 threads that have ended, and the
     * highest 8 the phases.
     */
    private static final int COUNT_BITS = 12;
    private static final int COUNT = (1 << COUNT_BITS) - 1;
    private static final int ONE_ENDED = 1 << COUNT_BITS;
    private static final int PHASE = 1 << 2 * COUNT_BITS;
    /** Fields of a cluster's state: blocks whose threads have all ended; the sum of the other blocks' phases is in the highest 8 bits. */
    private static final int BLOCKS = 255;
    private static final int PAUSE_NS = 20;

    private final Code code = new Code(PREFIX);
    private final Operand.Register pending = new Operand.Register(PENDING + "0");
    private final Operand.Register words = code.word();
    private final Operand.Register threads = code.word();
    private final Operand.Register blocks = code.word();
    private final Operand.Register phase = code.word();
    private final Operand.Register fuel = code.word();
    private final Operand.Register state = code.word();
    private final Operand.Register other = code.word();
    private final Operand.Register third = code.word();
    private final Operand.Register place = code.wide();
    private final Operand.Register truth = code.truth();
    private final Operand.Register again = code.truth();

    /** Takes a statement as it is. */
    void add(Statement statement) {
        code.add(statement);
    }

    /** The statements that were written, with their registers. */
    List<Statement> statements() {
        List<Statement> statements = new ArrayList<>(code.declarations());
        statements.add(new RegisterDeclaration(ScalarType.PRED, PENDING, 1, 0));
        statements.addAll(code.leave(List.of()));
        return statements;
    }

    private static Optional<Guard> when(Operand.Register predicate) {
        return Optional.of(new Guard(predicate, false));
    }

    /** Begins code that threads skip where a guard does not hold; null: no guard. Gives the label for {@link #label}. */
    String unless(Guard guard) {
        if (guard == null) {
            return null;
        }
        String skipped = code.newLabel("skipped");
        code.branch(guard.register(), !guard.negated(), skipped);
        return skipped;
    }

    /** A label, unless it is null. */
    void label(String name) {
        if (name != null) {
            code.label(name);
        }
    }

    /** Clears the words, and has all blocks of the cluster wait until all have done so. A block that is alone needs it only for the barrier. */
    void start(boolean meets) {
        String begun = code.newLabel("begun");
        if (!meets) {
            isAlone();
            code.branch(truth, false, begun);
        }
        code.emit("mov.u32", state, new Operand.SpecialRegister("%tid", "x"));
        for (String axis : new String[] {"y", "z"}) {
            code.emit("mov.u32", other, new Operand.SpecialRegister("%tid", axis));
            code.emit("or.b32", state, state, other);
        }
        words();
        code.emit("setp.eq.u32", truth, state, Code.number(0));
        code.emit(when(truth), "st.shared.u64", Code.at(words, ENDED), Code.number(0));
        code.emit(when(truth), "st.shared.u64", Code.at(words, BLOCK), Code.number(0));
        code.emit("barrier.cluster.arrive");
        code.emit("barrier.cluster.wait");
        code.label(begun);
    }

    /** Writes that the thread has not arrived. */
    void reset() {
        code.emit("mov.pred", pending, Code.number(0));
    }

    private void isAlone() {
        code.emit("mov.u32", blocks, new Operand.SpecialRegister("%cluster_nctarank", ""));
        code.emit("setp.eq.u32", truth, blocks, Code.number(1));
    }

    /** The address of the words: they are aligned, also where the size of dynamic memory is not. */
    private void words() {
        code.emit("mov.u32", words, new Operand.Symbol(Prologue.DYNAMIC_SHARED, 0));
        code.emit("mov.u32", other, new Operand.SpecialRegister("%dynamic_smem_size", ""));
        code.emit("sub.u32", other, other, Code.number(WORD_BYTES));
        code.emit("and.b32", other, other, Code.number(-ALIGNMENT));
        code.emit("add.u32", words, words, other);
    }

    /** Loads the address of the words, and the number of threads of a block. */
    private void wordsAndThreads() {
        words();
        code.emit("mov.u32", threads, new Operand.SpecialRegister("%ntid", "x"));
        for (String axis : new String[] {"y", "z"}) {
            code.emit("mov.u32", other, new Operand.SpecialRegister("%ntid", axis));
            code.emit("mul.lo.u32", threads, threads, other);
        }
    }

    /** A thread arrives at the barrier, unless it has. */
    void arrive() {
        String arrived = code.newLabel("arrived");
        code.branch(pending, false, arrived);
        code.emit("fence.acq_rel.cluster");
        wordsAndThreads();
        code.emit("atom.relaxed.cluster.shared.add.u32", phase, Code.at(words, BLOCK), Code.number(1));
        code.emit("mov.pred", pending, Code.number(1));
        code.emit("add.u32", state, phase, Code.number(1));
        complete();
        code.label(arrived);
    }

    /** Goes on with the next phase, if the block's state as the thread has made it says that all threads have arrived or ended, and not all have ended. */
    private void complete() {
        String not = code.newLabel("not");
        String each = code.newLabel("each");
        code.emit("bfe.u32", third, state, Code.number(COUNT_BITS), Code.number(COUNT_BITS));
        code.emit("and.b32", other, state, Code.number(COUNT));
        code.emit("setp.eq.u32", truth, other, threads);
        code.emit("setp.ne.and.u32", truth, third, threads, truth);
        code.branch(truth, true, not);
        code.emit("sub.u32", other, state, threads);
        code.emit("add.u32", other, other, third);
        code.emit("add.u32", other, other, Code.number(PHASE));
        code.emit("atom.relaxed.cluster.shared.cas.b32", other, Code.at(words, BLOCK), state, other);
        code.emit("setp.ne.u32", truth, other, state);
        code.branch(truth, false, not);
        code.emit("fence.acq_rel.cluster");
        code.emit("mov.u32", blocks, new Operand.SpecialRegister("%cluster_nctarank", ""));
        code.label(each);
        code.add(new Pragma(List.of("nounroll"), 0));
        code.emit("sub.u32", blocks, blocks, Code.number(1));
        code.emit("mapa.shared::cluster.u32", other, words, blocks);
        code.emit("red.relaxed.cluster.shared::cluster.add.u32", Code.at(other, CLUSTER), Code.number(PHASE));
        code.emit("setp.ne.u32", truth, blocks, Code.number(0));
        code.branch(truth, false, each);
        code.label(not);
    }

    /** A thread that has arrived waits until its phase is over, or ends once the stop word says so. */
    void await() {
        String look = code.newLabel("look");
        String over = code.newLabel("over");
        String waited = code.newLabel("waited");
        code.branch(pending, true, waited);
        words();
        code.emit("and.b32", phase, phase, Code.number(-PHASE));
        code.emit("add.u32", phase, phase, Code.number(PHASE));
        code.emit("mov.u32", blocks, new Operand.SpecialRegister("%cluster_nctarank", ""));
        code.emit("mov.u32", fuel, Code.number(1)); // The loop looks at the stop word as soon as it has to wait, so the work here is not counted.
        code.label(look);
        code.add(new Pragma(List.of("nounroll"), 0));
        code.emit("ld.relaxed.cluster.shared.u32", state, Code.at(words, CLUSTER));
        code.emit("and.b32", other, state, Code.number(BLOCKS));
        code.emit("sub.u32", other, other, blocks);
        code.emit("mad.lo.u32", other, other, phase, state);
        code.emit("setp.lt.s32", truth, other, Code.number(0));
        code.emit("sub.u32", fuel, fuel, Code.number(1));
        code.emit("setp.lt.and.s32", again, fuel, Code.number(1), truth);
        code.emit(when(again), "ld.const.u64", place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD));
        code.emit(when(again), "ld.volatile.global.u32", fuel, Code.at(place, 0));
        code.emit("setp.gt.and.s32", again, fuel, Code.number(0), truth);
        code.emit(when(again), "nanosleep.u32", Code.number(PAUSE_NS));
        code.branch(again, false, look);
        code.branch(truth, true, over);
        end(false);
        code.label(over);
        code.emit("fence.acq_rel.cluster");
        reset();
        code.label(waited);
    }

    /** The end of a thread, which counts at the barrier, or not. */
    void end(boolean meets) {
        if (meets) {
            code.emit("fence.acq_rel.cluster");
            wordsAndThreads();
            code.emit("selp.b32", state, Code.number(ONE_ENDED), Code.number(ONE_ENDED + 1), pending);
            code.emit("atom.relaxed.cluster.shared.add.u32", other, Code.at(words, BLOCK), state);
            code.emit("add.u32", state, state, other);
            code.emit("xor.b32", other, other, phase);
            code.emit("setp.ge.u32", truth, other, Code.number(PHASE));
            code.emit("and.pred", truth, truth, pending);
            code.emit(when(truth), "atom.relaxed.cluster.shared.add.u32", state, Code.at(words, BLOCK), Code.number(1));
            code.emit(when(truth), "add.u32", state, state, Code.number(1));
            complete();
        }
        isAlone();
        code.emit(when(truth), "exit");
        if (!meets) {
            code.emit("fence.acq_rel.cluster");
            wordsAndThreads();
        }
        code.emit("atom.acq_rel.cluster.shared.add.u32", other, Code.at(words, ENDED), Code.number(1));
        code.emit("add.u32", other, other, Code.number(1));
        code.emit("setp.ne.u32", truth, other, threads);
        code.emit(when(truth), "exit");
        code.emit("bra", new Operand.Symbol(LAST, 0));
    }

    /** The last thread of a block counts its block in all blocks, and ends when all are counted in its own. */
    void last(boolean meets) {
        String each = code.newLabel("each");
        String look = code.newLabel("look");
        code.label(LAST);
        if (meets) {
            code.emit("ld.relaxed.cluster.shared.u32", state, Code.at(words, BLOCK));
            code.emit("and.b32", state, state, Code.number(-PHASE));
            code.emit("sub.u32", state, Code.number(1), state);
        }
        code.emit("mov.u32", threads, blocks);
        code.label(each);
        code.add(new Pragma(List.of("nounroll"), 0));
        code.emit("sub.u32", threads, threads, Code.number(1));
        code.emit("mapa.shared::cluster.u32", other, words, threads);
        if (meets) {
            code.emit("red.relaxed.cluster.shared::cluster.add.u32", Code.at(other, CLUSTER), state);
        }
        code.emit("red.release.cluster.shared::cluster.add.u32", Code.at(other, DONE), Code.number(1));
        code.emit("setp.ne.u32", truth, threads, Code.number(0));
        code.branch(truth, false, each);
        code.label(look);
        code.add(new Pragma(List.of("nounroll"), 0));
        code.emit("ld.acquire.cluster.shared.u32", other, Code.at(words, DONE));
        code.emit("setp.eq.u32", truth, other, blocks);
        code.emit(when(truth), "exit");
        code.emit("nanosleep.u32", Code.number(PAUSE_NS));
        code.emit("bra", new Operand.Symbol(look, 0));
    }
}
