package io.tessera.guardian.fence.control;

import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Has each block of a cluster stay until all threads of its cluster have ended, and has threads at the cluster's barrier look at the stop word. An access to
 * the shared memory of a block that has ended ends the context (seen on an H200: error 719), and no thread at the device's barrier looks at the stop word.
 * For modules whose accesses may be of other blocks, and for those with a barrier of the cluster ({@code ModulePlan.keepsBlocks}). Immutable.
 *
 * <p><b>Words.</b> The last {@link FencedModule#CLUSTER_BYTES} of a block's shared memory, which no access of the program reaches, hold four words. They
 * are cleared at a kernel's start, before the one use of the device's barrier, to which all threads of the cluster come first.
 *
 * <p><b>Ends.</b> Each end of a thread makes the thread's accesses complete and counts it in the first word. All but the block's last thread end then, so
 * barriers of the block and exchanges in warps wait for none of them. The last one counts its block in the second word of every block of the cluster, and
 * ends when all blocks are counted in its own. No access comes to a block that has ended: a block ends when it has been counted in by all blocks, and by
 * then each of them has made all its accesses but its counts in other blocks. Those blocks have not ended, since they have that count still to come.
 *
 * <p>Each end has these instructions of its own, also where the program has one return to which its ends branch. Where paths of a warp meet, the assembler
 * has the lanes that are there first wait for the others, and these may wait at a barrier until the first ones have ended.
 *
 * <p><b>The barrier.</b> The third word is the state of the block: how many threads have arrived in this phase or ended, how many have ended, and the number
 * of the phase. A thread adds one to the first count when it arrives, and one to both when it ends. One that ends after its arrival adds to the second count
 * alone; if its phase is over by then, it is not in the first count any more and is added there, too. The thread that makes the first count
 * full exchanges the state for that of the next phase, in which those that have ended are counted already, and then counts the phase in the
 * fourth word of every block. If the exchange finds another state, a thread has ended after its arrival in between, and does the same. When
 * all threads have ended there is no next phase.
 *
 * <p>The fourth word is the state of the cluster: how many blocks have no threads left, and the sum of the phases of all others. The last thread of a block
 * takes its block's phases away there and counts the block. A phase is over when the sum is its number times the blocks that are left. No block is more than
 * one phase ahead of another, since a thread arrives again only when its last phase is over; so the sum says that all have come so far, and eight bits of it
 * do. The last two words decide when threads go on, and never when a block ends.
 *
 * <p><b>The stop word.</b> A thread that waits at the barrier looks at it, and ends. The last thread of a block does not look. Once the word is 0, all threads
 * end that come to a look; others wait at a barrier of their block, which waits for no thread that has ended. So each block comes to its last thread, that
 * one counts its block without waiting, and then all blocks are counted.
 *
 * <p><b>What differs.</b> A thread that arrives again without a wait is not counted again; PTX leaves open what that does. A wait without an arrival is left
 * out. No function knows whether its caller has arrived, so a thread that has waits before it calls one, and before it returns.
 */
public final class ClusterWaits {
    private final boolean barriers;
    private final boolean called;

    /** For a module with these functions, as they are fenced; all have bodies. */
    public ClusterWaits(Collection<PtxFunction> functions) {
        List<PtxFunction> arriving = functions.stream().filter(each -> has(each, ClusterWaits::isBarrier)).toList();
        this.barriers = !arriving.isEmpty();
        this.called = arriving.stream().anyMatch(each -> each.kind() == PtxFunction.Kind.FUNC);
    }

    private static boolean has(PtxFunction function, Predicate<Instruction> what) {
        return function.body().orElseThrow().statements().stream().anyMatch(each -> each instanceof Instruction i && what.test(i));
    }

    private static boolean isBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    /** The function whose ends wait. A kernel needs nothing that neither it nor what it calls makes necessary, since all blocks of a cluster run the same. */
    public PtxFunction waiting(PtxFunction function) {
        boolean kernel = function.kind() == PtxFunction.Kind.ENTRY;
        boolean arrives = has(function, ClusterWaits::isBarrier);
        boolean calls = has(function, i -> i.opcode().equals("call"));
        boolean waits = kernel ? calls || has(function, ModulePlan::reachesBlocks) : has(function, i -> i.opcode().equals("exit"));
        if (!waits && !arrives) {
            return function;
        }
        boolean meets = kernel ? arrives || called && calls : barriers;
        return new Waiting(kernel, arrives, meets, ends(function, kernel), new ClusterCode()).written(function);
    }

    private static boolean isEnd(Instruction i, boolean kernel) {
        return i.opcode().equals("exit") || kernel && i.opcode().equals("ret");
    }

    private static boolean leadsTo(Set<String> labels, Instruction i) {
        return i.opcode().equals("bra") && i.operands().getFirst() instanceof Operand.Symbol(String label, long _) && labels.contains(label);
    }

    /** Labels behind which threads end at once. A compiler has one such place for all returns. */
    private static Set<String> ends(PtxFunction function, boolean kernel) {
        Set<String> found = new HashSet<>();
        boolean end = false;
        for (Statement statement : function.body().orElseThrow().statements().reversed()) {
            end = statement instanceof Instruction i ? i.guard().isEmpty() && (isEnd(i, kernel) || leadsTo(found, i)) : end;
            if (end && statement instanceof Label label) {
                found.add(label.name());
            }
        }
        return found;
    }

    /**
     * One function.
     *
     * @param kernel  whether it is a kernel
     * @param arrives whether it has a barrier of the cluster
     * @param meets   whether its threads may come to one, here, in what it calls, or in its callers
     * @param ends    labels behind which threads end
     */
    private record Waiting(boolean kernel, boolean arrives, boolean meets, Set<String> ends, ClusterCode code) {
        private PtxFunction written(PtxFunction function) {
            Block body = function.body().orElseThrow();
            Statement before = null;
            for (Statement statement : body.statements()) {
                if (before == null && (statement instanceof Instruction || statement instanceof Label)) {
                    begin();
                }
                if (statement instanceof Instruction i) {
                    instruction(i, before);
                } else {
                    code.add(statement);
                }
                before = before != null || statement instanceof Instruction || statement instanceof Label ? statement : null;
            }
            code.last(meets);
            return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(),
                    function.attributes(), Optional.of(new Block(code.statements(), body.line())), function.line());
        }

        private void begin() {
            if (meets) {
                code.reset();
            }
            if (kernel) {
                code.start(meets);
            }
        }

        private void instruction(Instruction i, Statement before) {
            boolean end = isEnd(i, kernel) || leadsTo(ends, i);
            boolean leaves = !end && arrives && (i.opcode().equals("call") || i.opcode().equals("ret"));
            if (!end && !leaves && !isBarrier(i)) {
                code.add(i);
                return;
            }
            String skipped = code.unless(i.guard().orElse(null));
            if (end) {
                code.end(meets && !isLook(before, i));
            } else if (isBarrier(i) && i.has("arrive")) {
                code.arrive();
            } else {
                code.await();
            }
            if (leaves) {
                code.add(new Instruction(Optional.empty(), i.opcode(), i.modifiers(), i.operands(), i.line()));
            }
            code.label(skipped);
        }

        /** Whether a thread ends since the stop word is 0, when all others do so, too. */
        private static boolean isLook(Statement before, Instruction end) {
            return before instanceof Instruction compare && compare.mnemonic().equals("setp.lt.s32") && end.guard().isPresent()
                    && end.guard().get().register().name().startsWith("%" + WindowConstants.PREFIX);
        }
    }
}
