package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Operand;

/**
 * An mbarrier as 64 bits of the program's own shared memory, which nothing but atomic operations and loads ever touch: bits 0 to 19
 * are the arrivals that are still awaited, 20 to 39 those that a phase expects, 40 is the parity of the phase, 43 to 63 are the bytes
 * that are still awaited, modulo 2^21 (PTX ISA 9.0, "Tracking asynchronous operations by the mbarrier object": counts of 20 bits, bytes
 * from -(2^20 - 1) to 2^20 - 1). A phase ends when nothing is awaited. Fields are added to and subtracted from at once; what a legal
 * program cannot do to them may run over into the others, and then whoever waits may wait until the stop word ends it. Not thread-safe.
 */
final class BarrierWord {
    static final int COUNT_BITS = 20;
    static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
    private static final int PARITY_BIT = 40;
    private static final int BYTES_BIT = 43;
    private static final long AWAITED = COUNT_MASK | -1L << BYTES_BIT;
    private static final int PAUSE_NS = 20;
    /** Looks of one {@code try_wait}, which take one or two microseconds. */
    private static final int LOOKS = 32;

    /**
     * Where a word is, and how its accesses are ordered.
     *
     * @param at    address in a register of 32 bits
     * @param space {@code shared} or {@code shared::cluster}
     * @param scope {@code cta} or {@code cluster}
     * @param order {@code release}, {@code acquire} or {@code relaxed}
     */
    record Place(Operand.Register at, String space, String scope, String order) {
        Operand.Address address() {
            return Code.at(at, 0);
        }
    }

    private final Code code;

    BarrierWord(Code code) {
        this.code = code;
    }

    /** What arrivals subtract, for a number that is known: their own phase's, and with {@code drop} that of all that follow. */
    static long arrivals(long count, boolean drop) {
        return -(count & COUNT_MASK) * (drop ? 1 + (1L << COUNT_BITS) : 1);
    }

    /** The same for any number. */
    Operand arrivals(Operand count, boolean drop) {
        if (count instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number(arrivals(value, drop));
        }
        Operand.Register change = count(count);
        if (drop) {
            code.emit("mul.lo.s64", change, change, Code.number(1 + (1L << COUNT_BITS)));
        }
        code.emit("neg.s64", change, change);
        return change;
    }

    private Operand.Register count(Operand count) {
        Operand.Register wide = code.wide();
        code.emit("cvt.u64.u32", wide, count);
        code.emit("and.b64", wide, wide, Code.number(COUNT_MASK));
        return wide;
    }

    /** What bytes change that are expected from now on, or that are there if {@code complete}. */
    Operand bytes(Operand bytes, boolean complete) {
        if (bytes instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number((complete ? -value : value) << BYTES_BIT);
        }
        Operand.Register change = code.wide();
        code.emit("cvt.u64.u32", change, bytes);
        code.emit("shl.b64", change, change, Code.number(BYTES_BIT));
        if (complete) {
            code.emit("neg.s64", change, change);
        }
        return change;
    }

    /** The sum of two changes. */
    Operand sum(Operand one, Operand other) {
        if (one instanceof Operand.Immediate(long a, boolean _) && other instanceof Operand.Immediate(long b, boolean _)) {
            return Code.number(a + b);
        }
        Operand.Register sum = code.wide();
        boolean swapped = one instanceof Operand.Immediate;
        code.emit("add.s64", sum, swapped ? other : one, swapped ? one : other);
        return sum;
    }

    /** Writes {@code mbarrier.init}. */
    void init(Place place, Operand count) {
        Operand word = count instanceof Operand.Immediate(long value, boolean _)
                ? Code.number((value & COUNT_MASK) * (1 + (1L << COUNT_BITS))) : null;
        if (word == null) {
            Operand.Register both = count(count);
            code.emit("mul.lo.s64", both, both, Code.number(1 + (1L << COUNT_BITS)));
            word = both;
        }
        code.emit("st." + place.space() + ".b64", place.address(), word);
    }

    /** Writes a change of the word, and gives the word as it was before. */
    Operand.Register change(Place place, Operand change) {
        Operand.Register old = read(place, "relaxed");
        Operand.Register changed = code.wide();
        String again = code.newLabel("again");
        code.label(again);
        code.emit("add.s64", changed, old, change);
        exchange(place, old, changed, again);
        return old;
    }

    /** Writes the end of a loop from a label on: ends the phase if nothing is awaited, and tries to put the new word for the old. */
    void exchange(Place place, Operand.Register old, Operand.Register changed, String again) {
        Operand.Register awaited = code.wide();
        Operand.Register next = code.wide();
        Operand.Register expected = code.wide();
        Operand.Register found = code.wide();
        Operand.Register over = code.truth();
        Operand.Register other = code.truth();
        code.emit("and.b64", awaited, changed, Code.number(AWAITED));
        code.emit("setp.eq.s64", over, awaited, Code.number(0));
        code.emit("shr.u64", expected, changed, Code.number(COUNT_BITS));
        code.emit("and.b64", expected, expected, Code.number(COUNT_MASK));
        code.emit("xor.b64", next, changed, Code.number(1L << PARITY_BIT));
        code.emit("add.s64", next, next, expected);
        code.emit("selp.b64", next, next, changed, over);
        code.emit("atom." + place.order() + "." + place.scope() + "." + place.space() + ".cas.b64", found, place.address(), old, next);
        code.emit("setp.ne.s64", other, found, old);
        code.emit("mov.b64", old, found);
        code.branch(other, false, again);
    }

    /** Writes a read of the word. */
    Operand.Register read(Place place, String order) {
        Operand.Register word = code.wide();
        code.emit("ld." + order + "." + place.scope() + "." + place.space() + ".b64", word, place.address());
        return word;
    }

    /**
     * Writes a look at whether a phase is over.
     *
     * @param into   predicate that says so
     * @param phase  a state, or a parity
     * @param parity whether it is a parity
     * @param again  whether to look for a little while, as {@code try_wait} may: a loop of the program that waits looks at the stop word
     *               far too often for one look at the word
     */
    void test(Place place, Operand into, Operand phase, boolean parity, boolean again) {
        Operand.Register asked = phase(phase, parity);
        Operand.Register looks = code.word();
        Operand.Register over = code.truth();
        String look = code.newLabel("look");
        String done = code.newLabel("done");
        if (again) {
            code.emit("mov.u32", looks, Code.number(LOOKS));
            code.label(look);
        }
        Operand.Register word = read(place, place.order());
        code.emit("xor.b64", word, word, asked);
        code.emit("and.b64", word, word, Code.number(1L << PARITY_BIT));
        code.emit("setp.ne.s64", over, word, Code.number(0));
        if (again) {
            Operand.Register left = code.truth();
            code.branch(over, false, done);
            code.emit("nanosleep.u32", Code.number(PAUSE_NS));
            code.emit("sub.u32", looks, looks, Code.number(1));
            code.emit("setp.ne.u32", left, looks, Code.number(0));
            code.branch(left, false, look);
            code.label(done);
        }
        code.emit("mov.pred", into, over);
    }

    /** A state, or a parity in the place that it has in one. */
    private Operand.Register phase(Operand phase, boolean parity) {
        Operand.Register asked = code.wide();
        if (!parity) {
            code.emit("mov.b64", asked, phase);
        } else if (phase instanceof Operand.Immediate(long value, boolean _)) {
            code.emit("mov.u64", asked, Code.number((value & 1) << PARITY_BIT));
        } else {
            code.emit("cvt.u64.u32", asked, phase);
            code.emit("shl.b64", asked, asked, Code.number(PARITY_BIT));
        }
        return asked;
    }

    /** Writes {@code mbarrier.pending_count}. */
    void pending(Operand into, Operand state) {
        Operand.Register low = code.word();
        code.emit("cvt.u32.u64", low, state);
        code.emit("and.b32", into, low, Code.number(COUNT_MASK));
    }
}
