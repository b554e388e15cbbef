package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.value.Node;

/**
 * The additional cost of an instruction, in units of ordinary instructions. The rewriter's output stays below a quarter of {@link CallTrees#MOST} of them,
 * except for many loops in sequence. Stateless.
 */
final class AccessWork {
    /** Work of an access to memory by a pointer, or of a fence with a scope wider than the cluster. */
    static final long ACCESS = 256;
    private static final long ATOMIC = 512;
    /** Work of an atomic that the device makes as a compare-and-swap loop: the threads of a block then execute it one by one. */
    private static final long SHARED_ATOMIC = 64;
    private static final long LOCAL = 8;
    /** Work of a load or store of a matrix: 16 rows, in 32 lanes. */
    private static final long MATRIX = 8 * ACCESS;
    private static final int ACCESS_BYTES = 32;
    /** The assumed bytes of a bulk copy whose length is not known. */
    private static final long BULK_BYTES = 1 << 16;
    private static final int BULK_LENGTH = 2;
    /** Work of a sleep, which may take a millisecond: an H200 has two blocks of 1024 threads on each of 132 processors. */
    private static final long SLEEP = 1 << 11;
    private static final long MOST_NAP_NS = 100;

    /** Accesses of each thread to pinned host memory in a second, made by the 270,000 threads of an H200 at once: 50 GB/s, 32 bytes an access. */
    private static final double PINNED_A_SECOND = 5_800;
    /** The same of atomics on one address: 1.2 in a nanosecond. */
    private static final double ATOMICS_A_SECOND = 4_400;
    /** The same of accesses to local memory: 3 TB/s, 4 to 32 bytes each. */
    private static final double LOCAL_A_SECOND = 1_000_000;
    private static final double SLEEPS_A_SECOND = 1_000;

    private AccessWork() {
    }

    /** Returns the time of this much work in whole seconds, rounded up, if all threads of an H200 at once execute instructions of the slowest kind only. */
    static long seconds(long work) {
        double slowest = Math.max(Math.max(work / (ACCESS * PINNED_A_SECOND), work / (ATOMIC * ATOMICS_A_SECOND)),
                Math.max(work / (LOCAL * LOCAL_A_SECOND), work / (SLEEP * SLEEPS_A_SECOND)));
        return (long) Math.ceil(slowest);
    }

    /** Returns the additional work of the instruction at a place of a function; 0 for an ordinary one. */
    static long of(Graph graph, int at) {
        Instruction i = graph.body.code.get(at);
        return switch (graph.forms[at]) {
            case LOAD -> isGlobal(i) ? Fuel.isLook(graph, at) ? 0 : ACCESS : ofLocal(i);
            case STORE -> isGlobal(i) ? ACCESS : ofLocal(i);
            case ATOM, RED -> isGlobal(i) ? ATOMIC : SHARED_ATOMIC;
            case PREFETCH, LINE, COPY -> ACCESS;
            case BULK -> bulk(graph, at, i);
            case WMMA -> i.has("mma") || !isGlobal(i) ? 0 : MATRIX;
            case TEXTURE -> i.opcode().equals("sured") ? ATOMIC : ACCESS;
            case ORDER -> i.has("gl") || i.has("gpu") || i.has("sys") ? ACCESS : 0;
            case EFFECT -> sleeps(i) ? SLEEP : 0;
            default -> 0;
        };
    }

    /** Returns whether a thread may sleep for longer than other instructions take. */
    static boolean sleeps(Instruction i) {
        return i.opcode().equals("nanosleep")
                && !(i.operands().getFirst() instanceof Operand.Immediate(long ns, boolean _) && ns >= 0 && ns <= MOST_NAP_NS);
    }

    /** Returns whether the address may be in global memory: a generic address may. */
    private static boolean isGlobal(Instruction i) {
        return i.space().map(space -> space == StateSpace.GLOBAL).orElse(true);
    }

    private static long ofLocal(Instruction i) {
        return i.space().filter(space -> space == StateSpace.LOCAL).isPresent() ? LOCAL : 0;
    }

    private static long bulk(Graph graph, int at, Instruction i) {
        int length = i.has("prefetch") ? 1 : BULK_LENGTH;
        Node[] bytes = length < graph.operands[at].length ? graph.operands[at][length] : new Node[0];
        long most = bytes.length == 1 && bytes[0].value.isNumber() ? bytes[0].value.unsigned(Integer.SIZE).high() : BULK_BYTES;
        return (Math.min(most, BULK_BYTES) + ACCESS_BYTES - 1) / ACCESS_BYTES * ACCESS;
    }
}
