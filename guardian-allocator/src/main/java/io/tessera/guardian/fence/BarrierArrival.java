package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Operand;
import java.util.Optional;

/**
 * Arrivals at a {@link BarrierWord}: one addition each, or one for all lanes of a warp that come together to one barrier. Not thread-safe.
 */
final class BarrierArrival {
    private static final int LANES = 32;
    /** After so many the word is none of a legal program. They take half a millisecond. */
    private static final int LOOKS = 1 << 14;

    private final Code code;
    private final BarrierWord word;

    BarrierArrival(Code code, BarrierWord word) {
        this.code = code;
        this.word = word;
    }

    /** How much so many arrivals are in the word; too many are cut to what PTX can count. */
    Operand amount(Operand count) {
        if (count instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number((value & BarrierWord.MOST) << BarrierWord.COUNT_SHIFT);
        }
        Operand.Register amount = code.word();
        code.emit("and.b32", amount, count, Code.number(BarrierWord.MOST));
        code.emit("shl.b32", amount, amount, Code.number(BarrierWord.COUNT_SHIFT));
        return amount;
    }

    /** Writes arrivals, and gives the upper word as it was before. */
    Operand.Register write(BarrierWord.Place place, Operand amount) {
        Operand.Register before = code.word();
        add(place, before, amount);
        end(place, before, amount);
        return before;
    }

    /**
     * The same for one arrival of a thread. Where the whole warp comes to one barrier, its first lane arrives for all: 32 additions to one
     * word take as many steps, and the assembler joins them only where it sees by itself that the word is one.
     */
    Operand.Register one(BarrierWord.Place place) {
        Operand amount = amount(Code.number(1));
        if (place.single()) {
            return write(place, amount);
        }
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
        // All lanes of the warp saw that all are here: all of them come here.
        code.emit("match.all.sync.b32", new Operand.Pair(lanes, same), place.at(), all);
        code.branch(same, true, apart);
        code.emit("mov.u32", lane, new Operand.SpecialRegister("%laneid", ""));
        code.emit("setp.eq.u32", first, lane, Code.number(0));
        code.emit("mov.u32", before, Code.number(0));
        // What any lane wrote is there before the first one says so.
        code.emit("bar.warp.sync", all);
        code.emit(Optional.of(new Guard(first, false)), place.addition(), before, place.upper(), Code.number(-(1L << BarrierWord.COUNT_SHIFT) * LANES));
        code.emit("shfl.sync.idx.b32", before, before, Code.number(0), Code.number(LANES - 1), all);
        code.emit("mad.lo.u32", before, lane, Code.number(-(1L << BarrierWord.COUNT_SHIFT)), before);
        code.emit("bra", new Operand.Symbol(came, 0));
        code.label(apart);
        add(place, before, amount);
        code.label(came);
        end(place, before, amount);
        return before;
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
        code.emit(place.addition(), before, place.upper(), less);
    }

    /** Whoever took the count below 0 has ended the phase. */
    private void end(BarrierWord.Place place, Operand.Register before, Operand amount) {
        Operand.Register awaited = code.word();
        Operand.Register last = code.truth();
        String past = code.newLabel("arrived");
        code.emit("and.b32", awaited, before, Code.number(BarrierWord.COUNT_FIELD));
        code.emit("setp.lt.u32", last, awaited, amount);
        code.branch(last, true, past);
        nextPhase(place, before);
        code.label(past);
    }

    /**
     * Adds what the next phase expects. As long as more have arrived than it expects, in between, it is over as well: then the addition
     * does not bring the count above 0 again, and it is the one that flips the parity.
     */
    private void nextPhase(BarrierWord.Place place, Operand.Register before) {
        Operand.Register more = code.word();
        Operand.Register change = code.word();
        Operand.Register now = code.word();
        Operand.Register behind = code.truth();
        Operand.Register any = code.truth();
        String again = code.newLabel("next");
        if (place.scope().equals("cluster")) {
            code.emit("fence.acq_rel.cluster");
        }
        Operand.Register expected = word.expected(place, before);
        code.emit("shl.b32", more, expected, Code.number(BarrierWord.COUNT_SHIFT));
        code.emit("xor.b32", change, more, Code.number((int) BarrierWord.PARITY));
        // Where nobody is expected any more the phase stays over.
        code.emit("setp.ne.u32", any, more, Code.number(0));
        code.emit("selp.b32", change, change, Code.number(0), any);
        code.label(again);
        code.emit(place.addition("relaxed"), now, place.upper(), change);
        code.emit("and.b32", now, now, Code.number(BarrierWord.COUNT_FIELD));
        code.emit("add.u32", now, now, more);
        code.emit("setp.ge.and.s32", behind, now, Code.number(0), any);
        code.branch(behind, false, again);
    }

    /** The state of a phase, of which the upper word before an arrival tells. */
    Operand.Register state(BarrierWord.Place place, Operand.Register before) {
        Operand.Register ahead = code.word();
        Operand.Register upper = code.word();
        Operand.Register there = code.truth();
        Operand.Register state = code.wide();
        String present = code.newLabel("present");
        code.emit("mov.b32", upper, before);
        code.emit("and.b32", ahead, before, Code.number(BarrierWord.AHEAD));
        code.emit("setp.eq.u32", there, ahead, Code.number(0));
        code.branch(there, false, present);
        // Arrived before the next phase was there: so many times what a phase expects are as many phases.
        Operand.Register early = code.word();
        Operand.Register phases = code.word();
        Operand.Register expected = word.expected(place, before);
        code.emit("max.u32", expected, expected, Code.number(1));
        code.emit("not.b32", early, before);
        code.emit("bfe.u32", early, early, Code.number(BarrierWord.COUNT_SHIFT), Code.number(BarrierWord.COUNT_BITS));
        code.emit("div.u32", phases, early, expected);
        code.emit("mul.lo.u32", upper, phases, expected);
        code.emit("sub.u32", early, early, upper);
        code.emit("sub.u32", early, expected, early);
        code.emit("sub.u32", early, early, Code.number(1));
        code.emit("shl.b32", phases, phases, Code.number(Integer.SIZE - 1));
        code.emit("xor.b32", upper, before, phases);
        code.emit("bfi.b32", upper, early, upper, Code.number(BarrierWord.COUNT_SHIFT), Code.number(BarrierWord.COUNT_BITS));
        code.label(present);
        code.emit("mov.b64", state, Code.pair(upper, upper));
        return state;
    }

    /**
     * Writes that the present phase awaits one arrival more, which it awaits anyway until the thread has made it: so it cannot end
     * meanwhile. While the phase is not there yet, the addition would look as if the last one were not over, and then as if this one were.
     */
    void hold(BarrierWord.Place place) {
        awaitPhase(place);
        code.emit("red.relaxed." + place.scope() + "." + place.space() + ".add.u32", place.upper(), Code.number(1L << BarrierWord.COUNT_SHIFT));
    }

    /** Writes that who has ended the last phase makes the present one first: a few instructions, in a legal program. */
    private void awaitPhase(BarrierWord.Place place) {
        Operand.Register now = code.word();
        Operand.Register looks = code.word();
        Operand.Register open = code.truth();
        Operand.Register left = code.truth();
        String look = code.newLabel("open");
        String ready = code.newLabel("ready");
        code.emit("mov.u32", looks, Code.number(LOOKS));
        code.label(look);
        code.emit(place.load("acquire"), now, place.upper());
        code.emit("and.b32", now, now, Code.number(BarrierWord.AHEAD));
        code.emit("setp.eq.u32", open, now, Code.number(0));
        code.branch(open, false, ready);
        code.emit("nanosleep.u32", Code.number(BarrierWord.PAUSE_NS));
        code.emit("sub.u32", looks, looks, Code.number(1));
        code.emit("setp.ne.u32", left, looks, Code.number(0));
        code.branch(left, false, look);
        code.label(ready);
    }

    /**
     * Writes that phases from the next one on expect so many less; before an arrival of the thread, which the present phase awaits. Nobody
     * reads the number then: who has ended the last phase has made the present one.
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

    /** Takes the low bits of a number from those in the lower word; gives what is to be taken from the upper one. */
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
