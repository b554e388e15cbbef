package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Operand;

/**
 * Bytes that a {@link BarrierWord} awaits. While they are not 0 they hold one arrival of the phase. Who changes them holds one of his
 * own meanwhile: the phase cannot end between two additions. Then he arrives for himself, unless the bytes have become something, and
 * for the bytes, if they have become nothing. Not thread-safe.
 */
final class BarrierBytes {
    private static final Operand ONE = Code.number(1L << BarrierWord.COUNT_SHIFT);

    private final Code code;
    private final BarrierArrival arrivals;

    BarrierBytes(Code code, BarrierArrival arrivals) {
        this.code = code;
        this.arrivals = arrivals;
    }

    /** Writes {@code expect_tx}, or {@code complete_tx} for bytes that are there. */
    void write(BarrierWord.Place place, Operand bytes, boolean complete) {
        code.emit("red.relaxed." + place.scope() + "." + place.space() + ".add.u32", place.upper(), ONE);
        change(place, bytes, complete, null);
    }

    /**
     * Writes {@code arrive.expect_tx}: the arrival that the phase awaits is what is held.
     *
     * @param wanted whether to give the upper word as it was before
     */
    Operand.Register arrive(BarrierWord.Place place, Operand bytes, boolean wanted) {
        Operand.Register before = wanted ? code.word() : null;
        if (wanted) {
            code.emit(place.load("relaxed"), before, place.upper());
        }
        change(place, bytes, false, before);
        return before;
    }

    private void change(BarrierWord.Place place, Operand bytes, boolean complete, Operand.Register before) {
        Operand change = change(bytes, complete);
        Operand.Register old = code.word();
        Operand.Register now = code.word();
        Operand.Register held = code.word();
        Operand.Register some = code.truth();
        Operand.Register none = code.truth();
        Operand.Register kept = code.truth();
        String past = code.newLabel("kept");
        // Whoever ends the phase has seen what the others wrote who changed the bytes.
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
        code.emit("setp.eq.u32", kept, held, Code.number(0));
        code.branch(kept, false, past);
        BarrierWord.Place ended = new BarrierWord.Place(place.at(), place.space(), place.scope(), "release", place.single());
        Operand.Register found = arrivals.write(ended, held);
        if (before != null) {
            code.emit("mov.b32", before, found);
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
