package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Operand;

/**
 * Arrival of one thread at a {@link BarrierWord}. Lanes of a warp that come together to one word are added by the first of them, since
 * an exchange for each lane would take as many rounds as there are lanes. Where fewer arrivals are awaited than lanes come, the lanes
 * that are too many arrive one by one, at the next phase. Not thread-safe.
 */
final class WarpArrival {
    private static final int LAST_LANE = 31;

    private final Code code;
    private final BarrierWord word;

    WarpArrival(Code code, BarrierWord word) {
        this.code = code;
        this.word = word;
    }

    /** Writes it, and gives the word as it was when the thread arrived. */
    Operand.Register write(BarrierWord.Place place) {
        Operand.Register lanes = code.word();
        Operand.Register count = code.word();
        Operand.Register rank = code.word();
        Operand.Register first = code.word();
        Operand.Register state = code.wide();
        Operand.Register other = code.truth();
        String told = code.newLabel("told");
        code.emit("activemask.b32", lanes);
        code.emit("match.any.sync.b32", lanes, place.at(), lanes);
        code.emit("popc.b32", count, lanes);
        code.emit("mov.u32", rank, new Operand.SpecialRegister("%lanemask_lt", ""));
        code.emit("and.b32", rank, rank, lanes);
        code.emit("popc.b32", rank, rank);
        code.emit("brev.b32", first, lanes);
        code.emit("clz.b32", first, first);
        // What any of the lanes wrote is there before the first one releases it.
        code.emit("bar.warp.sync", lanes);
        code.emit("mov.b64", state, Code.number(0));
        code.emit("setp.ne.u32", other, rank, Code.number(0));
        code.branch(other, false, told);
        Operand.Register old = word.read(place, "relaxed");
        Operand.Register changed = code.wide();
        String again = code.newLabel("again");
        code.label(again);
        Operand.Register low = code.word();
        code.emit("cvt.u32.u64", low, old);
        code.emit("cvt.u64.u32", changed, taken(low, count));
        code.emit("sub.s64", changed, old, changed);
        word.exchange(place, old, changed, again);
        code.emit("mov.b64", state, old);
        code.label(told);
        tell(place, state, lanes, count, rank, first);
        return state;
    }

    /** How many of the lanes the first adds. */
    private Operand.Register taken(Operand.Register low, Operand.Register count) {
        Operand.Register taken = code.word();
        code.emit("and.b32", taken, low, Code.number(BarrierWord.COUNT_MASK));
        code.emit("max.u32", taken, taken, Code.number(1));
        code.emit("min.u32", taken, taken, count);
        return taken;
    }

    /** All lanes get the word as it was at their turn; those that were not added arrive for themselves. */
    private void tell(BarrierWord.Place place, Operand.Register state, Operand.Register lanes, Operand.Register count,
            Operand.Register rank, Operand.Register first) {
        Operand.Register low = code.word();
        Operand.Register high = code.word();
        Operand.Register added = code.truth();
        String done = code.newLabel("arrived");
        code.emit("mov.b64", Code.pair(low, high), state);
        code.emit("shfl.sync.idx.b32", low, low, first, Code.number(LAST_LANE), lanes);
        code.emit("shfl.sync.idx.b32", high, high, first, Code.number(LAST_LANE), lanes);
        code.emit("setp.lt.u32", added, rank, taken(low, count));
        code.emit("sub.u32", low, low, rank);
        code.emit("mov.b64", state, Code.pair(low, high));
        code.branch(added, false, done);
        code.emit("mov.b64", state, word.change(place, Code.number(BarrierWord.arrivals(1, false))));
        code.label(done);
    }
}
