package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.List;
import java.util.Optional;

/**
 * Where a thread that has to make a bulk copy asks the others of its block for help: those that wait at an mbarrier meanwhile, mostly
 * for that copy. One thread alone has few copies under way; a block's together as many as the GPU's own engine.
 *
 * <p>A few requests can stand in a block's shared memory at once; who finds no place copies alone. Each has a number of units that are
 * left: who subtracts from it has to copy as many as he took, from the end. It has a lock, where the copy begins and goes to, and how many
 * units the helpers have copied. Who asked stays until all are. Program code like the rest of what is written: fenced, and not trusted.
 * Not thread-safe.
 */
final class CopyDesk {
    private static final long BYTES = 48;
    private static final int SLOTS = 2;
    private static final int LOCKS = 8;
    private static final int REQUESTS = 16;
    private static final int REQUEST_BYTES = 16;
    private static final int TO = 8;
    private static final int DONE = 12;
    /** What the thread that asks takes at once; of fewer units than twice as many the others would hardly get any. */
    private static final int CHUNK = 16;
    /** Who asked waits, for longer and longer, for half a second; then it was no legal program that wrote to the desk. */
    private static final int LOOKS = 1 << 12;
    private static final int LONGEST_PAUSE_NS = 100_000;

    /**
     * A copy that was begun.
     *
     * @param slot  where it stands, if it does
     * @param asked 0 if it does not
     * @param units how many there are
     * @param own   how many of them the thread copies itself
     */
    record Request(int slot, Operand.Register asked, Operand.Register units, Operand.Register own) {
    }

    private final Code code;
    private final CopyLoop copies;
    private final String name;

    CopyDesk(Code code, CopyLoop copies, String name) {
        this.code = code;
        this.copies = copies;
        this.name = name;
    }

    /** The variable, for a module. */
    static Variable variable(String name) {
        return new Variable(Linkage.INTERNAL, StateSpace.SHARED, REQUEST_BYTES, ScalarType.B8, 1, name, List.of(BYTES), Optional.empty(),
                Optional.empty(), List.of(), 0);
    }

    private Operand.Address at(int offset) {
        return Code.at(new Operand.Named(name), offset);
    }

    /** Writes, at the start of a kernel, that nobody asks. */
    void clear() {
        Operand.Register first = code.word();
        Operand.Register axis = code.word();
        Operand.Register other = code.truth();
        String cleared = code.newLabel("cleared");
        Operand zero = Code.number(0);
        code.emit("mov.u32", first, new Operand.SpecialRegister("%tid", "x"));
        for (String component : List.of("y", "z")) {
            code.emit("mov.u32", axis, new Operand.SpecialRegister("%tid", component));
            code.emit("or.b32", first, first, axis);
        }
        code.emit("setp.ne.u32", other, first, zero);
        code.branch(other, false, cleared);
        code.emit("st.shared.v4.b32", at(0), new Operand.Vector(List.of(zero, zero, zero, zero)));
        code.label(cleared);
        code.emit("bar.sync", zero);
    }

    /** Whether a copy that is so many units long, if that is known, after so many others, may be asked for. */
    static boolean takes(Operand length, int others) {
        return others < SLOTS && !(length instanceof Operand.Immediate(long bytes, boolean _) && bytes < 2L * CHUNK * CopyLoop.UNIT);
    }

    /** Writes a copy of so many bytes from global memory, with the help of others if there is place. */
    Request write(CopyLoop.Ends ends, Operand length, int slot) {
        Request request = new Request(slot, code.word(), code.word(), code.word());
        Operand.Register found = code.word();
        Operand.Register few = code.truth();
        Operand.Register busy = code.truth();
        String alone = code.newLabel("alone");
        String begun = code.newLabel("begun");
        int place = REQUESTS + slot * REQUEST_BYTES;
        code.emit("mov.u32", request.asked(), Code.number(0));
        code.emit("mov.u32", request.units(), length);
        code.emit("shr.u32", request.units(), request.units(), Code.number(Integer.numberOfTrailingZeros(CopyLoop.UNIT)));
        code.emit("mov.u32", request.own(), request.units());
        code.emit("setp.lt.u32", few, request.units(), Code.number(2L * CHUNK));
        code.branch(few, false, alone);
        code.emit("atom.acquire.cta.shared.cas.b32", found, at(LOCKS + 4 * slot), Code.number(0), Code.number(1));
        code.emit("setp.ne.u32", busy, found, Code.number(0));
        code.branch(busy, false, alone);
        code.emit("st.shared.b64", at(place), ends.from());
        code.emit("st.shared.v2.b32", at(place + TO), new Operand.Vector(List.of(ends.to(), Code.number(0))));
        code.emit("st.release.cta.shared.b32", at(4 * slot), request.units());
        code.emit("mov.u32", request.asked(), Code.number(1));
        code.emit("mov.u32", request.own(), Code.number(0));
        own(ends, request);
        code.emit("bra", new Operand.Symbol(begun, 0));
        code.label(alone);
        copies.write(ends, length);
        code.label(begun);
        return request;
    }

    /** What the thread that asks copies itself, until all is taken. */
    private void own(CopyLoop.Ends ends, Request request) {
        Operand.Register left = code.word();
        Operand.Register few = code.truth();
        Operand.Register none = code.truth();
        Operand.Register more = code.truth();
        String take = code.newLabel("take");
        String rest = code.newLabel("rest");
        String single = code.newLabel("single");
        String taken = code.newLabel("taken");
        code.label(take);
        code.emit("atom.relaxed.cta.shared.add.u32", left, at(4 * request.slot()), Code.number(-CHUNK));
        code.emit("setp.lt.s32", few, left, Code.number(CHUNK));
        code.branch(few, false, rest);
        code.emit("add.u32", request.own(), request.own(), Code.number(CHUNK));
        code.emit("setp.gt.u32", none, request.own(), request.units());
        code.branch(none, false, taken);
        code.emit("sub.u32", left, left, Code.number(CHUNK));
        copies.units(moved(ends, left), CHUNK);
        code.emit("bra", new Operand.Symbol(take, 0));
        code.label(rest);
        code.emit("setp.lt.s32", none, left, Code.number(1));
        code.branch(none, false, taken);
        code.emit("add.u32", request.own(), request.own(), left);
        code.label(single);
        code.emit("sub.u32", left, left, Code.number(1));
        copies.units(moved(ends, left), 1);
        code.emit("setp.ne.u32", more, left, Code.number(0));
        code.branch(more, false, single);
        code.label(taken);
    }

    /** The ends so many units on. */
    private CopyLoop.Ends moved(CopyLoop.Ends ends, Operand.Register units) {
        Operand.Register bytes = code.word();
        Operand.Register wide = code.wide();
        Operand.Register to = code.word();
        Operand.Register from = code.wide();
        code.emit("shl.b32", bytes, units, Code.number(Integer.numberOfTrailingZeros(CopyLoop.UNIT)));
        code.emit("add.u32", to, ends.to(), bytes);
        code.emit("cvt.u64.u32", wide, bytes);
        code.emit("add.s64", from, ends.from(), wide);
        return new CopyLoop.Ends(to, from, false, false);
    }

    /** Writes that what others copy of it is awaited; what the thread itself copies is there already. */
    void await(Request request) {
        Operand.Register done = code.word();
        Operand.Register none = code.truth();
        Operand.Register all = code.truth();
        Operand.Register more = code.truth();
        Operand.Register looks = code.word();
        Operand.Register pause = code.word();
        String again = code.newLabel("help");
        String free = code.newLabel("free");
        String told = code.newLabel("told");
        code.emit("setp.eq.u32", none, request.asked(), Code.number(0));
        code.branch(none, false, told);
        code.emit("mov.u32", looks, Code.number(LOOKS));
        code.emit("mov.u32", pause, Code.number(BarrierWord.PAUSE_NS));
        code.label(again);
        code.emit("ld.acquire.cta.shared.b32", done, at(REQUESTS + request.slot() * REQUEST_BYTES + DONE));
        code.emit("add.u32", done, done, request.own());
        code.emit("setp.eq.u32", all, done, request.units());
        code.branch(all, false, free);
        code.emit("nanosleep.u32", pause);
        code.emit("add.u32", pause, pause, pause);
        code.emit("min.u32", pause, pause, Code.number(LONGEST_PAUSE_NS));
        code.emit("sub.u32", looks, looks, Code.number(1));
        code.emit("setp.ne.u32", more, looks, Code.number(0));
        code.branch(more, false, again);
        code.label(free);
        code.emit("st.release.cta.shared.b32", at(LOCKS + 4 * request.slot()), Code.number(0));
        code.label(told);
    }

    /** Writes, for who waits, that he copies what is left of all requests. */
    void help() {
        Operand.Register[] left = new Operand.Register[SLOTS];
        for (int slot = 0; slot < SLOTS; slot++) {
            left[slot] = code.word();
        }
        Operand.Register most = code.word();
        Operand.Register idle = code.truth();
        String helped = code.newLabel("helped");
        code.emit("ld.volatile.shared.v2.b32", new Operand.Vector(List.of(left)), at(0));
        code.emit("max.s32", most, left[0], left[1]);
        code.emit("setp.lt.s32", idle, most, Code.number(1));
        code.branch(idle, false, helped);
        for (int slot = 0; slot < SLOTS; slot++) {
            help(slot, left[slot]);
        }
        code.label(helped);
    }

    private void help(int slot, Operand.Register left) {
        int place = REQUESTS + slot * REQUEST_BYTES;
        Operand.Register count = code.word();
        Operand.Register to = code.word();
        Operand.Register from = code.wide();
        Operand.Register none = code.truth();
        Operand.Register more = code.truth();
        String take = code.newLabel("take");
        String taken = code.newLabel("taken");
        String next = code.newLabel("next");
        code.emit("setp.lt.s32", none, left, Code.number(1));
        code.branch(none, false, next);
        code.emit("mov.u32", count, Code.number(0));
        code.label(take);
        code.emit("atom.acquire.cta.shared.add.u32", left, at(4 * slot), Code.number(-1));
        code.emit("setp.lt.s32", none, left, Code.number(1));
        code.branch(none, false, taken);
        code.emit("ld.shared.b64", from, at(place));
        code.emit("ld.shared.b32", to, at(place + TO));
        code.emit("sub.u32", left, left, Code.number(1));
        copies.units(moved(new CopyLoop.Ends(to, from, false, false), left), 1);
        code.emit("add.u32", count, count, Code.number(1));
        code.emit("setp.lt.u32", more, count, Code.number(CopyLoop.MOST_BYTES / CopyLoop.UNIT));
        code.branch(more, false, take);
        code.label(taken);
        code.emit("setp.eq.u32", none, count, Code.number(0));
        code.branch(none, false, next);
        code.emit("cp.async.wait_all");
        code.emit("red.release.cta.shared.add.u32", at(place + DONE), count);
        code.label(next);
    }
}
