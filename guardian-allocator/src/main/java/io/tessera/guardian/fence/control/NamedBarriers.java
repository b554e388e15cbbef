package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.plan.FunctionContext;
import io.tessera.guardian.fence.plan.Prologue;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxVersion;
import java.util.List;

/**
 * Barriers of a block in its shared memory, for those at which a device would wait forever: a device's barrier with a number of its own or a count of
 * threads waits for threads that may never come, looks at no stop word, and nothing but the end of the context ends it. Here warps arrive by an
 * atomic addition, and a waiting thread looks at the stop word now and then. {@code bar.sync 0} of the whole block stays the device's: threads that
 * ended count as there, so it ends with the last that waits elsewhere.
 *
 * <p>Four words of 32 bits for each barrier: threads that have come; number of the phase; votes of the phase; votes of the last phase. As on a
 * device, the threads of a phase are in whole warps. A program must prevent, on a device too, that other threads go on before those of a phase have
 * read its votes. Not thread-safe.
 */
public final class NamedBarriers {
    /** The words of all barriers, in shared memory of modules that need them. */
    public static final String NAME = WindowConstants.PREFIX + "barriers";
    public static final int BARRIERS = 16;
    public static final int BARRIER_BYTES = 16;

    private static final int PHASE = 4;
    private static final int VOTES = 8;
    private static final int RESULT = 12;
    /** Looks at a barrier between two looks at the stop word. */
    private static final int LOOKS = 256;
    private static final int PAUSE_NS = 20;
    /** First capability with {@code nanosleep}, and the first PTX. */
    private static final int VOLTA = 70;
    private static final PtxVersion SLEEPS_SINCE = new PtxVersion(6, 3);

    private final FunctionContext context;
    private final Code code;

    NamedBarriers(FunctionContext context) {
        this.context = context;
        this.code = context.code;
    }

    /** Emits, at the start of a kernel, code that sets all barriers to no arrivals. */
    void clear() {
        context.prologue.write(() -> {
            Operand.Register first = code.word();
            Operand.Register axis = code.word();
            Operand.Register words = code.word();
            Operand.Register other = code.truth();
            String cleared = code.newLabel("cleared");
            code.emit("mov.u32", first, new Operand.SpecialRegister("%tid", "x"));
            for (String name : new String[] {"y", "z"}) {
                code.emit("mov.u32", axis, new Operand.SpecialRegister("%tid", name));
                code.emit("or.b32", first, first, axis);
            }
            code.emit("setp.ne.u32", other, first, Code.number(0));
            code.branch(other, false, cleared);
            code.emit("mov.u32", words, new Operand.Symbol(NAME, 0));
            Operand zero = Code.number(0);
            for (int i = 0; i < BARRIERS; i++) {
                code.emit("st.shared.v4.u32", Code.at(words, (long) i * BARRIER_BYTES), new Operand.Vector(List.of(zero, zero, zero, zero)));
            }
            code.label(cleared);
            code.emit("bar.sync", zero);
        });
    }

    /**
     * Emits a barrier at which the whole warp has arrived.
     *
     * @param number number of the barrier, below 16
     * @param threads number of threads for which it waits, in whole warps
     */
    void write(Instruction i, Operand number, Operand threads) {
        context.counts.fence(Fence.NAMED_BARRIER);
        String past = code.newLabel("past");
        i.guard().ifPresent(guard -> code.branch(guard.register(), !guard.negated(), past));
        Operand.Register lanes = context.prologue.warpLanes();
        Operand.Register words = code.word();
        Operand.Register phase = code.word();
        code.emit("mov.u32", words, new Operand.Symbol(NAME, 0));
        code.emit("mad.lo.u32", words, number, Code.number(BARRIER_BYTES), words);
        // All lanes' writes are visible before the warp counts as come.
        code.emit("membar.cta");
        code.emit("bar.warp.sync", lanes);
        arrive(i, words, phase, threads, lanes);
        if (!i.has("arrive")) {
            code.emit("shfl.sync.idx.b32", phase, phase, Code.number(0), Code.number(Prologue.WARP - 1), lanes);
            await(words, phase);
            code.emit("membar.cta");
        }
        if (i.has("red")) {
            result(i, words);
        }
        code.label(past);
    }

    /** The first lane adds the warp; the lane that completes the phase releases all threads. */
    private void arrive(Instruction i, Operand.Register words, Operand.Register phase, Operand threads, Operand.Register lanes) {
        Operand.Register votes = i.has("red") ? votes(i, lanes) : null;
        Operand.Register came = code.word();
        Operand.Register waits = code.truth();
        Operand.Register first = code.truth();
        String arrived = code.newLabel("arrived");
        code.emit("setp.eq.u32", first, context.prologue.ownLane(), Code.number(1));
        code.branch(first, true, arrived);
        code.emit("ld.volatile.shared.u32", phase, Code.at(words, PHASE));
        if (votes != null) {
            code.emit("atom.shared.add.u32", came, Code.at(words, VOTES), votes);
        }
        code.emit("membar.cta");
        code.emit("atom.shared.add.u32", came, Code.at(words, 0), Code.number(Prologue.WARP));
        code.emit("add.u32", came, came, Code.number(Prologue.WARP));
        code.emit("setp.lt.u32", waits, came, threads);
        code.branch(waits, false, arrived);
        code.emit("membar.cta");
        code.emit("atom.shared.exch.b32", came, Code.at(words, VOTES), Code.number(0));
        code.emit("st.volatile.shared.u32", Code.at(words, RESULT), came);
        code.emit("st.volatile.shared.u32", Code.at(words, 0), Code.number(0));
        code.emit("membar.cta");
        code.emit("add.u32", came, phase, Code.number(1));
        code.emit("st.volatile.shared.u32", Code.at(words, PHASE), came);
        code.label(arrived);
    }

    /** Returns how many lanes vote yes; for a conjunction, how many vote no. */
    private Operand.Register votes(Instruction i, Operand.Register lanes) {
        Operand said = i.operands().getLast();
        Operand.Register votes = code.word();
        Operand.Register yes = code.truth();
        boolean negated = said instanceof Operand.Not;
        code.emit(negated == i.has("and") ? "mov.pred" : "not.pred", yes, said instanceof Operand.Not(Operand inner) ? inner : said);
        code.emit("vote.sync.ballot.b32", votes, yes, lanes);
        code.emit("popc.b32", votes, votes);
        return votes;
    }

    private boolean sleeps() {
        return context.plan.module().version().compareTo(SLEEPS_SINCE) >= 0 && context.plan.module().targets().stream()
                .anyMatch(target -> target.matches("sm_\\d+[a-z]?") && Integer.parseInt(target.replaceAll("\\D", "")) >= VOLTA);
    }

    private void await(Operand.Register words, Operand.Register phase) {
        Operand.Register looks = code.word();
        Operand.Register now = code.word();
        Operand.Register place = code.wide();
        Operand.Register over = code.truth();
        Operand.Register again = code.truth();
        Operand.Register ended = code.truth();
        String look = code.newLabel("look");
        String gone = code.newLabel("gone");
        code.emit("mov.u32", looks, Code.number(LOOKS));
        code.label(look);
        code.emit("ld.volatile.shared.u32", now, Code.at(words, PHASE));
        code.emit("setp.ne.u32", over, now, phase);
        code.branch(over, false, gone);
        if (sleeps()) {
            code.emit("nanosleep.u32", Code.number(PAUSE_NS));
        }
        code.emit("sub.u32", looks, looks, Code.number(1));
        code.emit("setp.ne.u32", again, looks, Code.number(0));
        code.branch(again, false, look);
        code.emit("ld.const.u64", place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD));
        code.emit("ld.volatile.global.u32", now, Code.at(place, 0));
        code.emit("mov.u32", looks, Code.number(LOOKS));
        code.emit("setp.eq.u32", ended, now, Code.number(0));
        code.branch(ended, true, look);
        code.emit("exit");
        code.label(gone);
    }

    private void result(Instruction i, Operand.Register words) {
        Operand.Register votes = code.word();
        code.emit("ld.volatile.shared.u32", votes, Code.at(words, RESULT));
        Operand into = i.operands().getFirst();
        if (i.has("popc")) {
            code.emit("mov.b32", into, votes);
        } else {
            code.emit(i.has("and") ? "setp.eq.u32" : "setp.ne.u32", into, votes, Code.number(0));
        }
    }
}
