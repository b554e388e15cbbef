package io.tessera.guardian.fence;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Result of fencing a function. Immutable.
 *
 * @param name      the kernel or device function
 * @param kernel    whether it is a kernel
 * @param line      its line in the PTX
 * @param accesses  accesses by class, for instance {@code ld.global}, {@code atom.shared}, {@code ld (generic)}
 * @param fences    fences added, by kind
 * @param proved    accesses that need no fence of their own, by reason
 * @param calls     device functions of the module that it calls directly
 * @param notes     further notes, one line each
 * @param waits     reason why it may wait for other blocks of its grid, so that all of them have to run at once; null if it does not
 * @param writes    which memory it accesses, in terms of its parameters; null if it is not a kernel
 */
public record KernelReport(String name, boolean kernel, int line, Map<String, Integer> accesses,
        Map<Fence, Integer> fences, Map<Proof, Integer> proved, List<String> calls, List<String> notes, String waits,
        KernelWrites writes) {
    /** Kind of an added fence. */
    public enum Fence {
        /** Global address forced into the window by mask, modulo or check. */
        WINDOW,
        /** Pointer fenced once, where it is defined, for the accesses that are made from it. */
        BASE,
        /** Generic address whose space is found at run time. */
        GENERIC,
        /** Shared memory. */
        SHARED,
        /** Local memory. */
        LOCAL,
        /** Constant memory. */
        CONSTANT,
        /** Low bits of an address, for its alignment. */
        ALIGNMENT,
        /** Length of a bulk copy. */
        LENGTH,
        /** Handle of a texture or surface. */
        HANDLE,
        /** Index of {@code brx.idx}. */
        BRANCH_INDEX,
        /** Indirect call. */
        CALL_TARGET,
        /** Number of a barrier, or of the threads that it waits for. */
        BARRIER,
        /** Check that the whole warp has arrived at the same barrier. */
        WHOLE_WARP,
        /** Barrier kept in shared memory, which the stop word can end. */
        NAMED_BARRIER,
        /** Mask of the lanes of a warp that do something together. */
        MEMBERS,
        /** Look at the stop word in a loop. */
        STOP,
        /** Trap or assertion that is recorded instead. */
        TRAP
    }

    /** Why an access has no fence of its own. */
    public enum Proof {
        /** Within one variable. */
        IN_BOUNDS,
        /** Near a variable of the window. */
        NEAR_VARIABLE,
        /** Made from a pointer that was fenced where it is defined. */
        FENCED_BASE,
        /** An access before it in the same block was made from the same register. */
        SAME_BASE,
        /** A parameter, by name. */
        PARAMETER
    }

    /** Copies lists and maps. */
    public KernelReport {
        accesses = Map.copyOf(accesses);
        fences = Map.copyOf(fences);
        proved = Map.copyOf(proved);
        calls = List.copyOf(calls);
        notes = List.copyOf(notes);
    }

    /** Returns this report with one more note. */
    public KernelReport noted(String note) {
        List<String> more = new ArrayList<>(notes);
        more.add(note);
        return new KernelReport(name, kernel, line, accesses, fences, proved, calls, more, waits, writes);
    }

    /** Returns the report of a function that may wait for a reason; null if it does not wait. */
    public KernelReport waiting(String why) {
        return new KernelReport(name, kernel, line, accesses, fences, proved, calls, notes, why, writes);
    }

    /** Returns this report with the accesses of its kernel; null if it is not a kernel. */
    public KernelReport writing(KernelWrites known) {
        return new KernelReport(name, kernel, line, accesses, fences, proved, calls, notes, waits, known);
    }
}
