package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Operand;

/**
 * Bytes that a {@link BarrierWord} awaits. While they are not 0 they hold one arrival of the phase. A thread that changes the bytes holds an arrival
 * of its own meanwhile, so that the phase cannot end between two additions. Afterwards it makes its own arrival, unless the bytes went from 0 to
 * another value (then the bytes take over that arrival). If the bytes became 0, it also makes the arrival of the bytes. A thread that subtracts no
 * more bytes than there are needs no arrival of its own: the bytes hold one until they are 0, and the thread that subtracts the last byte makes that
 * arrival. Not thread-safe.
 */
final class BarrierBytes {
    private static final Operand ONE = Code.number(1L << BarrierWord.COUNT_SHIFT);

    private final Code code;
    private final BarrierArrival arrivals;

    BarrierBytes(Code code, BarrierArrival arrivals) {
        this.code = code;
        this.arrivals = arrivals;
    }

    /** Writes {@code expect_tx}. */
    void expect(BarrierWord.Place place, Operand bytes) {
        Operand change = change(bytes, false);
        arrivals.hold(place);
        arrive(place, held(place, change), null);
    }

    /** Writes {@code complete_tx}: bytes have arrived. */
    void complete(BarrierWord.Place place, Operand bytes) {
        Operand change = change(bytes, true);
        Operand.Register old = code.word();
        Operand.Register now = code.word();
        Operand.Register found = code.word();
        Operand.Register held = code.word();
        Operand.Register some = code.truth();
        Operand.Register less = code.truth();
        Operand.Register none = code.truth();
        String early = code.newLabel("early");
        String changed = code.newLabel("changed");
        code.emit(place.load("relaxed"), old, place.lower());
        code.emit("add.s32", now, old, change);
        // Neither number is negative, and the new one is smaller.
        code.emit("setp.ge.s32", some, now, Code.number(0));
        code.emit("setp.lt.and.s32", less, now, old, some);
        code.branch(less, true, early);
        code.emit("atom.acq_rel." + place.scope() + "." + place.space() + ".cas.b32", found, place.lower(), old, now);
        code.emit("setp.ne.u32", some, found, old);
        code.branch(some, false, early);
        code.emit("setp.lt.u32", none, now, Code.number(1L << BarrierWord.BYTES_SHIFT));
        code.emit("selp.b32", held, ONE, Code.number(0), none);
        code.emit("bra", new Operand.Symbol(changed, 0));
        code.label(early);
        arrivals.hold(place);
        code.emit("mov.b32", held, held(place, change));
        code.label(changed);
        arrive(place, held, null);
    }

    /**
     * Emits {@code arrive.expect_tx}: the thread holds the arrival for which the phase waits.
     *
     * @param wanted whether the program uses its state
     * @return the upper word of the state, or null
     */
    Operand.Register arrive(BarrierWord.Place place, Operand bytes, boolean wanted) {
        Operand.Register state = wanted ? arrivals.awaitPhase(place) : null;
        arrive(place, held(place, change(bytes, false)), state);
        return state;
    }

    /** Changes the bytes for a thread that holds an arrival; returns the arrivals that the thread must make afterwards. */
    private Operand.Register held(BarrierWord.Place place, Operand change) {
        Operand.Register old = code.word();
        Operand.Register now = code.word();
        Operand.Register held = code.word();
        Operand.Register some = code.truth();
        Operand.Register none = code.truth();
        // The thread that ends the phase must see the writes of the threads that changed the bytes.
        code.emit("atom.acq_rel." + place.scope() + "." + place.space() + ".add.u32", old, place.lower(), change);
        code.emit("add.u32", now, old, change);
        Operand field = Code.number((int) (-1L << BarrierWord.BYTES_SHIFT));
        code.emit("and.b32", old, old, field);
        code.emit("and.b32", now, now, field);
        code.emit("setp.ne.u32", some, old, Code.number(0));
        code.emit("setp.eq.u32", none, now, Code.number(0));
        code.emit("selp.b32", old, ONE, Code.number(0), some);
        code.emit("selp.b32", now, ONE, Code.number(0), none);
        code.emit("add.u32", held, old, now);
        return held;
    }

    private void arrive(BarrierWord.Place place, Operand.Register held, Operand.Register state) {
        Operand.Register kept = code.truth();
        String past = code.newLabel("kept");
        code.emit("setp.eq.u32", kept, held, Code.number(0));
        code.branch(kept, false, past);
        BarrierWord.Place ended = new BarrierWord.Place(place.at(), place.space(), place.scope(), "release", place.single());
        Operand.Register found = arrivals.write(ended, held, state != null);
        if (state != null) {
            code.emit("mov.b32", state, found);
        }
        code.label(past);
    }

    private Operand change(Operand bytes, boolean complete) {
        if (bytes instanceof Operand.Immediate(long value, boolean _)) {
            return Code.number((int) ((complete ? -value : value) << BarrierWord.BYTES_SHIFT));
        }
        Operand.Register change = code.word();
        code.emit("shl.b32", change, bytes, Code.number(BarrierWord.BYTES_SHIFT));
        if (complete) {
            code.emit("neg.s32", change, change);
        }
        return change;
    }
}
