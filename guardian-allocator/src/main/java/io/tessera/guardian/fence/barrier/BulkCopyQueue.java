package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.List;
import java.util.Optional;

/**
 * A queue of requested bulk copies. Threads that wait at an mbarrier whose phase is not over make the copies. Nobody can observe a copy
 * before that wait. Usually a whole block waits, so as many copies are in flight as with the GPU's own engine; one thread alone would have
 * few in flight.
 *
 * <p>A block's shared memory has slots for a few requests; if no slot is free, the requesting thread makes the copy itself. Each slot has a
 * lock, the number of units that are left, and 32 bytes: the source (8), the destination, the mbarrier, the number of units, and the number
 * of units made. A thread subtracts the units that it is going to copy from the number that is left. The thread that makes the last unit
 * completes the copy on the mbarrier and frees the slot.
 *
 * <p>The program can overwrite all of it at any time, so nothing that is read here is trusted. The emitted code is fenced like the
 * program's own: the fences keep the source in the window, and the destination and the mbarrier in the block's shared memory. The number of
 * units is bounded by the largest copy. If the program keeps adding requests, a thread that copies them is in a wait loop of the program,
 * which looks at the stop word. Not thread-safe.
 */
final class BulkCopyQueue {
    private static final int SLOTS = 4;
    private static final int LOCKS = 4 * SLOTS;
    private static final int REQUESTS = 8 * SLOTS;
    private static final int REQUEST_BYTES = 32;
    static final long BYTES = REQUESTS + SLOTS * REQUEST_BYTES;
    private static final int TO = 8;
    private static final int BARRIER = 12;
    private static final int UNITS = 16;
    private static final int DONE = 20;
    private static final int UNIT_SHIFT = Integer.numberOfTrailingZeros(CopyLoop.UNIT);
    /** Bits of the number of units that a thread took, for each request. */
    private static final int COUNT_BITS = Long.SIZE / SLOTS;
    /** For a copy of fewer units, one thread is as fast as the queue. */
    private static final int FEW = 16;

    private final Code code;
    private final CopyLoop copies;
    private final BarrierBytes bytes;
    private final String name;

    /**
     * Creates the queue for one function.
     *
     * @param name of the variable
     */
    BulkCopyQueue(Code code, CopyLoop copies, BarrierBytes bytes, String name) {
        this.code = code;
        this.copies = copies;
        this.bytes = bytes;
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

    private static int request(int slot) {
        return REQUESTS + slot * REQUEST_BYTES;
    }

    /** Emits, at the start of a kernel, code that clears the queue. */
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
        for (int offset : new int[] {0, LOCKS}) {
            code.emit("st.shared.v4.b32", at(offset), new Operand.Vector(List.of(zero, zero, zero, zero)));
        }
        code.label(cleared);
        code.emit("bar.sync", zero);
    }

    /**
     * Emits a request for a copy from global memory, and the copy itself for the case that no slot is free.
     *
     * @param length in bytes
     * @param place  the mbarrier on which the copy completes, in the thread's own block
     */
    void ask(CopyLoop.Ends ends, Operand length, BarrierWord.Place place) {
        String alone = code.newLabel("alone");
        String asked = code.newLabel("asked");
        Operand.Register units = code.word();
        code.emit("mov.u32", units, length);
        code.emit("shr.u32", units, units, Code.number(UNIT_SHIFT));
        Operand.Register few = code.truth();
        code.emit("setp.lt.u32", few, units, Code.number(FEW));
        code.branch(few, false, alone);
        Operand.Register slot = slot(alone);
        Operand.Register at = code.word();
        Operand.Register left = code.word();
        code.emit("mad.lo.u32", at, slot, Code.number(REQUEST_BYTES), symbol());
        code.emit("st.shared.b64", Code.at(at, REQUESTS), ends.from());
        code.emit("st.shared.v2.b32", Code.at(at, REQUESTS + TO), new Operand.Vector(List.of(ends.to(), place.at())));
        code.emit("st.shared.v2.b32", Code.at(at, REQUESTS + UNITS), new Operand.Vector(List.of(units, Code.number(0))));
        code.emit("mad.lo.u32", left, slot, Code.number(4), symbol());
        code.emit("st.release.cta.shared.b32", Code.at(left, 0), units);
        code.emit("bra", new Operand.Symbol(asked, 0));
        code.label(alone);
        copies.write(ends, length);
        code.emit("cp.async.wait_all");
        bytes.complete(place, length);
        code.label(asked);
    }

    private Operand.Register symbol() {
        Operand.Register address = code.word();
        code.emit("mov.u32", address, new Operand.Symbol(name, 0));
        return address;
    }

    /** Emits code that takes a free slot; if there is none, or another thread was faster, it branches to a label. */
    private Operand.Register slot(String none) {
        Operand.Register[] locks = words();
        Operand.Register slot = code.word();
        Operand.Register at = code.word();
        Operand.Register found = code.word();
        Operand.Register taken = code.truth();
        code.emit("ld.volatile.shared.v4.b32", new Operand.Vector(List.of(locks)), at(LOCKS));
        code.emit("mov.u32", slot, Code.number(0));
        for (int i = 0; i < SLOTS - 1; i++) {
            // The index of the first free slot is the number of taken slots before it.
            Operand.Register next = code.truth();
            code.emit("setp.ne.u32", next, locks[i], Code.number(0));
            code.emit("setp.eq.and.u32", next, slot, Code.number(i), next);
            code.emit("selp.b32", slot, Code.number(i + 1), slot, next);
        }
        code.emit("mad.lo.u32", at, slot, Code.number(4), symbol());
        code.emit("atom.acquire.cta.shared.cas.b32", found, Code.at(at, LOCKS), Code.number(0), Code.number(1));
        code.emit("setp.ne.u32", taken, found, Code.number(0));
        code.branch(taken, false, none);
        return slot;
    }

    private Operand.Register[] words() {
        Operand.Register[] words = new Operand.Register[SLOTS];
        for (int i = 0; i < SLOTS; i++) {
            words[i] = code.word();
        }
        return words;
    }

    /**
     * Emits code by which a waiting thread makes the rest of all requests: first it starts what it can of each, then it waits for all of it at once.
     */
    void help() {
        Operand.Register[] left = words();
        Operand.Register most = code.word();
        Operand.Register idle = code.truth();
        Operand.Register counts = code.wide();
        Operand.Register none = code.truth();
        String helped = code.newLabel("helped");
        code.emit("ld.volatile.shared.v4.b32", new Operand.Vector(List.of(left)), at(0));
        code.emit("max.s32", most, left[0], left[1]);
        for (int slot = 2; slot < SLOTS; slot++) {
            code.emit("max.s32", most, most, left[slot]);
        }
        code.emit("setp.lt.s32", idle, most, Code.number(1));
        code.branch(idle, false, helped);
        code.emit("mov.u64", counts, Code.number(0));
        for (int slot = 0; slot < SLOTS; slot++) {
            take(slot, left[slot], counts);
        }
        code.emit("setp.eq.u64", none, counts, Code.number(0));
        code.branch(none, false, helped);
        code.emit("cp.async.wait_all");
        tell(counts);
        code.label(helped);
    }

    /** Takes units of a request and begins their copies. The number taken goes into the bits of {@code counts} that belong to the request's slot. */
    private void take(int slot, Operand.Register left, Operand.Register counts) {
        Operand.Register count = code.word();
        Operand.Register wide = code.wide();
        String take = code.newLabel("take");
        String taken = code.newLabel("taken");
        String next = code.newLabel("next");
        code.branch(isNone(left), false, next);
        code.emit("mov.u32", count, Code.number(0));
        code.label(take);
        code.emit("atom.acquire.cta.shared.add.u32", left, at(4 * slot), Code.number(-1));
        code.branch(isNone(left), false, taken);
        unit(slot, left);
        code.emit("add.u32", count, count, Code.number(1));
        code.emit("bra", new Operand.Symbol(take, 0));
        code.label(taken);
        code.emit("cvt.u64.u32", wide, count);
        if (slot > 0) {
            code.emit("shl.b64", wide, wide, Code.number((long) COUNT_BITS * slot));
        }
        code.emit("or.b64", counts, counts, wide);
        code.label(next);
    }

    /** Returns whether no units are left, or more than a request can have. */
    private Operand.Register isNone(Operand.Register left) {
        Operand.Register before = code.word();
        Operand.Register none = code.truth();
        code.emit("sub.u32", before, left, Code.number(1));
        code.emit("setp.ge.u32", none, before, Code.number(CopyLoop.MOST_BYTES / CopyLoop.UNIT));
        return none;
    }

    /** Emits the copy of the last unit that is left. The request keeps its slot until that copy is made. */
    private void unit(int slot, Operand.Register left) {
        Operand.Register to = code.word();
        Operand.Register from = code.wide();
        Operand.Register offset = code.word();
        Operand.Register wide = code.wide();
        code.emit("ld.shared.b64", from, at(request(slot)));
        code.emit("ld.shared.b32", to, at(request(slot) + TO));
        code.emit("sub.u32", offset, left, Code.number(1));
        code.emit("shl.b32", offset, offset, Code.number(UNIT_SHIFT));
        code.emit("add.u32", to, to, offset);
        code.emit("cvt.u64.u32", wide, offset);
        code.emit("add.s64", from, from, wide);
        copies.units(new CopyLoop.Ends(to, from, false, false), 1);
    }

    /** Adds the units that were made. The thread that made the last one reads what it needs of the request before it frees the slot. */
    private void tell(Operand.Register counts) {
        Operand.Register at = symbol();
        Operand.Register lock = symbol();
        Operand.Register count = code.word();
        Operand.Register units = code.word();
        Operand.Register barrier = code.word();
        Operand.Register made = code.word();
        Operand.Register none = code.truth();
        Operand.Register some = code.truth();
        Operand.Register more = code.truth();
        String told = code.newLabel("tell");
        String next = code.newLabel("told");
        code.label(told);
        code.add(new Pragma(List.of("nounroll"), 0));
        code.emit("cvt.u32.u64", count, counts);
        code.emit("and.b32", count, count, Code.number((1L << COUNT_BITS) - 1));
        code.emit("setp.eq.u32", none, count, Code.number(0));
        code.branch(none, false, next);
        code.emit("ld.shared.b32", units, Code.at(at, REQUESTS + UNITS));
        code.emit("ld.shared.b32", barrier, Code.at(at, REQUESTS + BARRIER));
        code.emit("atom.acq_rel.cta.shared.add.u32", made, Code.at(at, REQUESTS + DONE), count);
        code.emit("add.u32", made, made, count);
        code.emit("setp.ne.u32", some, made, units);
        code.branch(some, false, next);
        code.emit("st.release.cta.shared.b32", Code.at(lock, LOCKS), Code.number(0));
        code.emit("shl.b32", units, units, Code.number(UNIT_SHIFT));
        bytes.complete(new BarrierWord.Place(barrier, "shared", "cta", "release", false), units);
        code.label(next);
        code.emit("add.u32", at, at, Code.number(REQUEST_BYTES));
        code.emit("add.u32", lock, lock, Code.number(4));
        code.emit("shr.u64", counts, counts, Code.number(COUNT_BITS));
        code.emit("setp.ne.u64", more, counts, Code.number(0));
        code.branch(more, false, told);
    }
}
