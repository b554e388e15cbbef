package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Operand;
import java.util.Optional;

/**
 * Emits arrivals at a {@link BarrierWord}: one atomic addition each, or one for a whole warp that arrives at one barrier. Not thread-safe.
 */
final class BarrierArrival {
    private static final int LANES = 32;
    /** Bound of the polls for the next phase, which take 50 microseconds in all: longer than any legal program waits for it. */
    private static final int LOOKS = 1 << 10;

    private final Code code;
    private final boolean drops;

    /**
     * Creates the code for one function.
     *
     * @param drops whether threads may drop out; then the number of expected arrivals changes
     */
    BarrierArrival(Code code, boolean drops) {
        this.code = code;
        this.drops = drops;
    }

    /** Returns the amount that a number of arrivals adds to the word. Numbers beyond the range of PTX are cut. */
    Operand amount(Operand count) {
        if (count instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number((value & BarrierWord.MOST) << BarrierWord.COUNT_SHIFT);
        }
        Operand.Register amount = code.word();
        code.emit("and.b32", amount, count, Code.number(BarrierWord.MOST));
        code.emit("shl.b32", amount, amount, Code.number(BarrierWord.COUNT_SHIFT));
        return amount;
    }

    /**
     * Emits arrivals.
     *
     * @param wanted whether the program uses their state
     * @return the upper word of the state, or null
     */
    Operand.Register write(BarrierWord.Place place, Operand amount, boolean wanted) {
        Operand.Register before = code.word();
        Operand.Register lower = drops ? lower(place) : null;
        add(place, before, amount);
        return end(place, lower, before, amount, wanted);
    }

    /**
     * As above, for one arrival of a thread. If the whole warp arrives at one barrier, its first lane arrives for all lanes. Otherwise 32 additions
     * to one word take 32 steps; the assembler joins them only if it can see that the word is the same.
     */
    Operand.Register one(BarrierWord.Place place, boolean wanted) {
        Operand amount = amount(Code.number(1));
        if (place.single()) {
            return write(place, amount, wanted);
        }
        Operand.Register lower = drops ? lower(place) : null;
        Operand all = Code.number(-1);
        Operand.Register before = code.word();
        Operand.Register lanes = code.word();
        Operand.Register lane = code.word();
        Operand.Register some = code.truth();
        Operand.Register same = code.truth();
        Operand.Register first = code.truth();
        String apart = code.newLabel("apart");
        String came = code.newLabel("came");
        code.emit("activemask.b32", lanes);
        code.emit("setp.ne.u32", some, lanes, all);
        code.branch(some, false, apart);
        // All 32 lanes are active, so all of them execute this.
        code.emit("match.all.sync.b32", new Operand.Pair(lanes, same), place.at(), all);
        code.branch(same, true, apart);
        code.emit("mov.u32", lane, new Operand.SpecialRegister("%laneid", ""));
        code.emit("setp.eq.u32", first, lane, Code.number(0));
        code.emit("mov.u32", before, Code.number(0));
        // All lanes' writes are visible before the first lane arrives.
        code.emit("bar.warp.sync", all);
        code.emit(Optional.of(new Guard(first, false)), addition(place), before, place.upper(),
                Code.number(-(1L << BarrierWord.COUNT_SHIFT) * LANES));
        code.emit("shfl.sync.idx.b32", before, before, Code.number(0), Code.number(LANES - 1), all);
        code.emit("mad.lo.u32", before, lane, Code.number(-(1L << BarrierWord.COUNT_SHIFT)), before);
        code.emit("bra", new Operand.Symbol(came, 0));
        code.label(apart);
        add(place, before, amount);
        code.label(came);
        return end(place, lower, before, amount, wanted);
    }

    /** If threads may drop out, a release also acquires, because this thread may read counts that others changed. Within a block that costs only a wait. */
    private String addition(BarrierWord.Place place) {
        return place.addition(drops && place.order().equals("release") && place.scope().equals("cta") ? "acq_rel" : place.order());
    }

    private void add(BarrierWord.Place place, Operand.Register before, Operand amount) {
        Operand less;
        if (amount instanceof Operand.Immediate(long value, boolean _)) {
            less = Code.number(-value);
        } else {
            Operand.Register negative = code.word();
            code.emit("neg.s32", negative, amount);
            less = negative;
        }
        code.emit(addition(place), before, place.upper(), less);
    }

    private Operand.Register lower(BarrierWord.Place place) {
        Operand.Register lower = code.word();
        code.emit(place.load("relaxed"), lower, place.lower());
        return lower;
    }

    /**
     * The thread whose arrival completes the phase starts the next one: it adds the number of arrivals that the next phase expects. Threads
     * that do not wait may arrive in between. If their arrivals complete one or two further phases, the thread that completes each adds the
     * same number. The order of these additions does not matter; a phase is visible only after the last of them.
     *
     * @param lower the lower word before the arrival, if threads may drop out; otherwise null. The thread that ends a phase reads the word
     *         again, because it needs the number of threads that dropped out in that phase. A thread that arrives before the next phase begins
     *         uses this value, because it must not see drops of that next phase
     */
    private Operand.Register end(BarrierWord.Place place, Operand.Register lower, Operand.Register before, Operand amount, boolean wanted) {
        Operand.Register awaited = code.word();
        Operand.Register going = code.truth();
        Operand.Register early = code.truth();
        String past = code.newLabel("arrived");
        String next = code.newLabel("next");
        Operand.Register state = wanted ? code.word() : null;
        if (wanted) {
            code.emit("mov.b32", state, before);
        }
        // Without drops, the expected count does not change, so it is read while the addition is in flight, except from another block.
        Operand.Register known = drops || place.scope().equals("cluster") ? null : lower(place);
        code.emit("and.b32", awaited, before, Code.number(BarrierWord.COUNT_FIELD));
        code.emit("setp.ge.u32", going, awaited, plus(amount, BarrierWord.THERE));
        code.branch(going, false, past);
        Operand.Register change = code.word();
        code.emit("setp.lt.u32", early, awaited, Code.number(BarrierWord.THERE));
        change(change, before, known != null ? known : late(place, lower, early));
        code.branch(early, true, next);
        early(before, change, amount, state, past);
        code.label(next);
        code.emit("red.relaxed." + place.scope() + "." + place.space() + ".add.u32", place.upper(), change);
        code.label(past);
        return state;
    }

    /** Emits the choice of the lower word: read again by the thread that ended the phase; the earlier value for a thread that came early. */
    private Operand.Register late(BarrierWord.Place place, Operand.Register lower, Operand.Register early) {
        Operand.Register late = code.word();
        String known = code.newLabel("known");
        if (lower != null) {
            code.emit("mov.b32", late, lower);
            code.branch(early, false, known);
        }
        if (place.scope().equals("cluster")) {
            code.emit("fence.acq_rel.cluster");
        }
        code.emit(place.load("relaxed"), late, place.lower());
        code.label(known);
        return late;
    }

    private Operand plus(Operand amount, long number) {
        if (amount instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number(value + number);
        }
        Operand.Register sum = code.word();
        code.emit("add.u32", sum, amount, Code.number(number));
        return sum;
    }

    /** Emits the addition that starts the next phase: its expected arrivals and the flip of the parity. If all threads dropped out, one is expected. */
    private void change(Operand.Register change, Operand.Register before, Operand.Register lower) {
        Operand.Register low = code.word();
        int high = BarrierWord.COUNT_SHIFT + BarrierWord.BYTES_SHIFT;
        code.emit("bfi.b32", low, lower, Code.number((int) BarrierWord.PARITY), Code.number(BarrierWord.COUNT_SHIFT),
                Code.number(BarrierWord.BYTES_SHIFT));
        code.emit("bfi.b32", change, before, low, Code.number(high), Code.number(BarrierWord.COUNT_SHIFT));
        if (drops) {
            code.emit("max.u32", change, change, Code.number((int) (BarrierWord.PARITY + (1L << BarrierWord.COUNT_SHIFT))));
        }
    }

    /** Handles a thread that arrived before the next phase was set up: each full number of expected arrivals is one phase. */
    private void early(Operand.Register before, Operand.Register change, Operand amount, Operand.Register state, String past) {
        Operand.Register came = code.word();
        Operand.Register expected = code.word();
        Operand.Register phases = code.word();
        Operand.Register others = code.word();
        Operand.Register going = code.truth();
        Operand count = Code.number(BarrierWord.COUNT_SHIFT);
        Operand bits = Code.number(BarrierWord.COUNT_BITS);
        code.emit("not.b32", came, before);
        code.emit("bfe.u32", came, came, count, bits);
        code.emit("bfe.u32", expected, change, count, bits);
        code.emit("max.u32", expected, expected, Code.number(1));
        code.emit("div.u32", phases, came, expected);
        code.emit("mul.lo.u32", others, phases, expected);
        code.emit("sub.u32", came, came, others);
        if (state != null) {
            // The state: the awaited arrivals less one, then the parity.
            code.emit("sub.u32", others, expected, came);
            code.emit("sub.u32", others, others, Code.number(1));
            code.emit("bfi.b32", state, others, before, count, bits);
            code.emit("not.b32", phases, phases);
            code.emit("shl.b32", phases, phases, Code.number(Integer.SIZE - 1));
            code.emit("xor.b32", state, state, phases);
        }
        code.emit("shl.b32", came, came, count);
        code.emit("add.u32", came, came, amount);
        code.emit("shl.b32", expected, expected, count);
        code.emit("setp.lt.u32", going, came, expected);
        code.branch(going, false, past);
    }

    /**
     * Emits one more expected arrival for the present phase, so that the phase cannot end before this thread has made that arrival. The code first
     * waits until the phase has begun: before that, the addition would make it look begun, and the next arrival would end it.
     */
    void hold(BarrierWord.Place place) {
        awaitPhase(place);
        code.emit("red.relaxed." + place.scope() + "." + place.space() + ".add.u32", place.upper(), Code.number(1L << BarrierWord.COUNT_SHIFT));
    }

    /**
     * Emits a bounded wait until the thread that ended the last phase has started the present one: a few instructions, in a legal program. Returns
     * the upper word after that.
     */
    Operand.Register awaitPhase(BarrierWord.Place place) {
        Operand.Register now = code.word();
        Operand.Register there = code.word();
        Operand.Register looks = code.word();
        Operand.Register open = code.truth();
        Operand.Register left = code.truth();
        String look = code.newLabel("open");
        String ready = code.newLabel("ready");
        code.emit("mov.u32", looks, Code.number(LOOKS));
        code.label(look);
        code.emit(place.load("acquire"), now, place.upper());
        code.emit("and.b32", there, now, Code.number(BarrierWord.THERE));
        code.emit("setp.ne.u32", open, there, Code.number(0));
        code.branch(open, false, ready);
        code.emit("nanosleep.u32", Code.number(BarrierWord.PAUSE_NS));
        code.emit("sub.u32", looks, looks, Code.number(1));
        code.emit("setp.ne.u32", left, looks, Code.number(0));
        code.branch(left, false, look);
        code.label(ready);
        return now;
    }

    /**
     * Reduces the number of expected arrivals from the next phase on. The code precedes an arrival of the thread, for which the present phase waits.
     * No thread reads the number then, since the thread that ended the last phase has already set up the present one.
     */
    void drop(BarrierWord.Place place, Operand count) {
        awaitPhase(place);
        Operand.Register less = code.word();
        Operand.Register old = code.word();
        code.emit("and.b32", less, count instanceof Operand.Immediate ? moved(count) : count, Code.number(BarrierWord.MOST));
        Operand.Register upper = lower(place, less, old);
        code.emit("neg.s32", upper, upper);
        code.emit(place.addition("relaxed"), old, place.upper(), upper);
    }

    private Operand.Register moved(Operand number) {
        Operand.Register register = code.word();
        code.emit("mov.u32", register, number);
        return register;
    }

    /** Emits the subtraction of a number from the expected count's low bits, in the lower word. Returns the borrow for the upper word. */
    private Operand.Register lower(BarrierWord.Place place, Operand.Register less, Operand.Register old) {
        Operand.Register changed = code.word();
        Operand.Register field = code.word();
        Operand.Register found = code.word();
        Operand.Register borrow = code.word();
        Operand.Register other = code.truth();
        Operand bits = Code.number(BarrierWord.BYTES_SHIFT);
        String again = code.newLabel("again");
        code.emit(place.load("relaxed"), old, place.lower());
        code.label(again);
        code.emit("bfe.u32", field, old, Code.number(0), bits);
        code.emit("sub.u32", field, field, less);
        code.emit("bfi.b32", changed, field, old, Code.number(0), bits);
        code.emit("atom.relaxed." + place.scope() + "." + place.space() + ".cas.b32", found, place.lower(), old, changed);
        code.emit("setp.ne.u32", other, found, old);
        code.emit("mov.b32", old, found);
        code.branch(other, false, again);
        code.emit("shr.s32", borrow, field, bits);
        code.emit("neg.s32", borrow, borrow);
        return borrow;
    }
}
