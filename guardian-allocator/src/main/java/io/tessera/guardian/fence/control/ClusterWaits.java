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
 * Makes each block of a cluster stay until all threads of its cluster have ended, and makes threads at the cluster's barrier look at the stop word.
 * An access to the shared memory of a block that has ended ends the context (seen on an H200: error 719), and no thread at the device's barrier looks
 * at the stop word. This applies to modules whose accesses may be to other blocks, and to modules with a barrier of the cluster ({@code
 * ModulePlan.keepsBlocks}). Immutable.
 *
 * <p><b>Words.</b> The last {@link FencedModule#CLUSTER_BYTES} of a block's shared memory, which no access of the program reaches, hold four words.
 * They are cleared at a kernel's start, before the only use of the device's barrier, which all threads of the cluster reach first.
 *
 * <p><b>Ends.</b> Each end of a thread makes the thread's accesses complete and counts it in the first word. All but the block's last thread end
 * then, so barriers of the block and exchanges in warps wait for none of them. The last one counts its block in the second word of every block of the
 * cluster, and ends when all blocks are counted in its own. No access reaches a block that has ended. A block ends when all blocks have been counted
 * in it, and by then each of them has made all its accesses except its counts in other blocks. Those other blocks have not ended, since they still
 * await that count.
 *
 * <p>Each end has its own copy of these instructions, even if all ends of the program branch to one return. Where paths of a warp meet, the assembler
 * makes the first lanes wait for the others, and those may wait at a barrier until the first lanes have ended.
 *
 * <p><b>The barrier.</b> The third word is the state of the block: how many threads have arrived in this phase or ended, how many have ended, and the
 * number of the phase. A thread adds one to the first count when it arrives, and one to both when it ends. A thread that ends after its arrival adds
 * to the second count only. If its phase is over by then, the first count no longer includes it, so it is added there, too. The thread that makes the
 * first count full exchanges the state for that of the next phase, which already counts the ended threads, and then counts the phase in the fourth
 * word of every block. If the exchange finds another state, another thread has ended after its arrival in the meantime, and that thread does the
 * same. When all threads have ended there is no next phase.
 *
 * <p>The fourth word is the state of the cluster: how many blocks have no threads left, and the sum of the phases of all others. The last thread of a
 * block subtracts its block's phases there and counts the block. A phase is over when the sum is its number times the blocks that are left. No block
 * is more than one phase ahead of another, since a thread arrives again only when its last phase is over; so the sum shows that all blocks have
 * reached the phase, and eight bits of it suffice. The last two words decide when threads continue, but never when a block ends.
 *
 * <p><b>The stop word.</b> A thread that waits at the barrier looks at the word, and ends if it is 0. The last thread of a block does not look. Once
 * the word is 0, every thread that reaches a look ends. Other threads wait at a barrier of their block, which does not wait for threads that have
 * ended. Therefore each block is reduced to its last thread, that thread counts its block without waiting, and then all blocks are counted.
 *
 * <p><b>What differs.</b> A thread that arrives again without a wait is not counted again; PTX leaves its effect undefined. A wait without an arrival
 * is omitted. No function knows whether its caller has arrived, so a thread that has arrived waits before it calls a function, and before it returns.
 */
public final class ClusterWaits {
    private final boolean barriers;
    private final boolean called;

    /** Creates the waits of a module with these fenced functions, which all have bodies. */
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

    /**
     * Returns the function with waits at its ends. A kernel is unchanged if neither it nor its callees need them, since all blocks of a cluster run
     * the same kernel.
     */
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

    /** Returns labels after which threads end at once. A compiler emits one such place for all returns. */
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
     * @param meets   whether its threads may reach one, in the function itself, its callees or its callers
     * @param ends    labels after which threads end
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

        /** Returns whether a thread ends because the stop word is 0; then all other threads end, too. */
        private static boolean isLook(Statement before, Instruction end) {
            return before instanceof Instruction compare && compare.mnemonic().equals("setp.lt.s32") && end.guard().isPresent()
                    && end.guard().get().register().name().startsWith("%" + WindowConstants.PREFIX);
        }
    }
}
