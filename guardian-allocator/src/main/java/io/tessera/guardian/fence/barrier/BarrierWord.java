package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import java.util.List;

/**
 * An mbarrier as two words of 32 bits in the program's own shared memory. Arrivals and waits only add to them and load them: a GPU adds 32 bits in
 * shared memory by one instruction, and 64 bits by a compare-and-swap loop.
 *
 * <p>Threads arrive and wait at the upper word. Bit 31 is the parity of the phase. Bit 30 is set while the phase exists. Bits 9 to 29 are the
 * number of awaited arrivals, less one. The last arrival borrows from bit 30, so the same addition shows that the phase is over. The thread
 * that made it adds the arrivals of the next phase, which sets bit 30 again and flips the parity ({@link BarrierArrival}). Nothing is
 * written for the old phase afterwards, so a thread that sees the new parity may reuse the memory. Awaited bytes hold one arrival until
 * they are 0 ({@link BarrierBytes}).
 *
 * <p>Bits 11 to 31 of the lower word are the awaited bytes, modulo 2^21. The number of arrivals that a phase expects has 20 bits. They are in the
 * remaining bits: the low ones in bits 0 to 10 of the lower word, the others in bits 0 to 8 of the upper word (PTX ISA 9.0, "Tracking
 * asynchronous operations by the mbarrier object": counts of 20 bits, bytes from -(2^20 - 1) to 2^20 - 1). In an illegal program a field
 * may overflow into another one; a thread that waits may then wait until the stop word ends it. Not thread-safe.
 */
final class BarrierWord {
    static final int UPPER = 4;
    /** Lowest bit of the arrivals that are awaited. */
    static final int COUNT_SHIFT = 9;
    static final int COUNT_BITS = 21;
    /** Set while the phase exists: from its start until all awaited arrivals have come. */
    static final long THERE = 1L << COUNT_SHIFT + COUNT_BITS;
    /** The field of the awaited arrivals, together with the bit {@link #THERE}. */
    static final long COUNT_FIELD = 2 * THERE - (1L << COUNT_SHIFT);
    static final long PARITY = 1L << 31;
    /** Lowest bit of the awaited bytes, which is also the number of bits of the expected arrivals below them. */
    static final int BYTES_SHIFT = 11;
    static final long MOST = (1L << 20) - 1;
    static final int PAUSE_NS = 20;
    /** Polls of one {@code try_wait}, which take one or two microseconds in all. */
    private static final int LOOKS = 32;
    /**
     * The first polls follow each other without a sleep, for a quarter of a microsecond. Most threads reach a barrier together, and a thread
     * that sleeps would be the last to continue.
     */
    private static final int EAGER = 8;

    /**
     * Location of a word, and the ordering of its accesses.
     *
     * @param at    address in a register of 32 bits
     * @param space {@code shared} or {@code shared::cluster}
     * @param scope {@code cta} or {@code cluster}
     * @param order {@code release}, {@code acquire} or {@code relaxed}
     * @param single whether the text shows that all threads use the same word: then NVIDIA's assembler adds once for a warp
     */
    record Place(Operand.Register at, String space, String scope, String order, boolean single) {
        Operand.Address lower() {
            return Code.at(at, 0);
        }

        Operand.Address upper() {
            return Code.at(at, UPPER);
        }

        String addition(String ordered) {
            return "atom." + ordered + "." + scope + "." + space + ".add.u32";
        }

        String load(String ordered) {
            return "ld." + ordered + "." + scope + "." + space + ".b32";
        }
    }

    private final Code code;

    BarrierWord(Code code) {
        this.code = code;
    }

    /** Writes {@code mbarrier.init}. */
    void init(Place place, Operand count) {
        Operand low;
        Operand high;
        if (count instanceof Operand.Immediate(long value, boolean _)) {
            long expected = value & MOST;
            low = Code.number(expected & (1L << BYTES_SHIFT) - 1);
            high = Code.number((int) ((expected - 1 << COUNT_SHIFT) + THERE & COUNT_FIELD | expected >> BYTES_SHIFT));
        } else {
            Operand.Register lower = code.word();
            Operand.Register upper = code.word();
            Operand.Register more = code.word();
            code.emit("and.b32", lower, count, Code.number(MOST));
            code.emit("shr.u32", more, lower, Code.number(BYTES_SHIFT));
            code.emit("add.u32", upper, lower, Code.number((1L << COUNT_BITS) - 1));
            code.emit("bfi.b32", upper, upper, more, Code.number(COUNT_SHIFT), Code.number(COUNT_BITS + 1));
            code.emit("and.b32", lower, lower, Code.number((1L << BYTES_SHIFT) - 1));
            low = lower;
            high = upper;
        }
        code.emit("st." + place.space() + ".v2.b32", place.lower(), new Operand.Vector(List.of(low, high)));
    }

    /**
     * Emits a check whether a phase is over.
     *
     * @param into   predicate that receives the result
     * @param phase  a state, or a parity
     * @param parity whether it is a parity
     * @param again  whether to check repeatedly for a short time, as {@code try_wait} may: a waiting loop of the program would otherwise look at the
     *               stop word far too often
     * @param meanwhile emits the work between checks, and after a single check that failed
     */
    void test(Place place, Operand into, Operand phase, boolean parity, boolean again, Runnable meanwhile) {
        Operand asked = phase(phase, parity);
        Operand.Register looks = code.word();
        Operand.Register word = code.word();
        Operand.Register over = code.truth();
        String look = code.newLabel("look");
        String done = code.newLabel("done");
        if (again) {
            code.emit("mov.u32", looks, Code.number(LOOKS));
            code.label(look);
            code.add(new Pragma(List.of("nounroll"), 0));
        }
        code.emit(place.load(place.order()), word, place.upper());
        code.emit("xor.b32", word, word, asked);
        // The parity has changed, and the phase with the new parity has begun.
        code.emit("setp.ge.u32", over, word, Code.number((int) (PARITY + THERE)));
        code.branch(over, false, done);
        meanwhile.run();
        if (again) {
            Operand.Register eager = code.truth();
            Operand.Register left = code.truth();
            String soon = code.newLabel("soon");
            code.emit("setp.gt.s32", eager, looks, Code.number(LOOKS - EAGER));
            code.branch(eager, false, soon);
            code.emit("nanosleep.u32", Code.number(PAUSE_NS));
            code.label(soon);
            code.emit("sub.u32", looks, looks, Code.number(1));
            code.emit("setp.ne.u32", left, looks, Code.number(0));
            code.branch(left, false, look);
        }
        code.label(done);
        code.emit("mov.pred", into, over);
    }

    /** Moves the parity of a state, or the given parity, to its place in the upper word. */
    private Operand phase(Operand phase, boolean parity) {
        if (parity && phase instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number((value & 1) == 0 ? 0 : Integer.MIN_VALUE);
        }
        Operand.Register asked = code.word();
        if (parity) {
            code.emit("shl.b32", asked, phase, Code.number(Integer.SIZE - 1));
        } else {
            Operand.Register wide = code.wide();
            code.emit("mov.b64", wide, phase);
            code.emit("mov.b64", Code.pair(code.word(), asked), wide);
            code.emit("and.b32", asked, asked, Code.number((int) PARITY));
        }
        return asked;
    }

    /** Writes {@code mbarrier.pending_count}. */
    void pending(Operand into, Operand state) {
        Operand.Register wide = code.wide();
        Operand.Register upper = code.word();
        code.emit("mov.b64", wide, state);
        code.emit("mov.b64", Code.pair(code.word(), upper), wide);
        code.emit("bfe.u32", upper, upper, Code.number(COUNT_SHIFT), Code.number(COUNT_BITS));
        code.emit("add.u32", upper, upper, Code.number(1));
        code.emit("and.b32", into, upper, Code.number(MOST));
    }
}
