package io.tessera.guardian.fence;

import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.LaunchPromise;
import io.tessera.guardian.fence.proof.LaunchShape;
import io.tessera.guardian.fence.proof.LaunchTrials;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What fences a kernel would need in a second body for launches within limits, without writing it: guesses, by which limits are chosen; and what
 * it needs in a second entry, which is no guess. What was looked at once is kept. Not thread-safe.
 */
final class BodyTrials {
    private final PtxFunction kernel;
    private final PtxModule module;
    private final Map<BodyLimits, AddressFacts> facts = new HashMap<>();
    private final Map<BodyLimits, LoopCosts> costs = new HashMap<>();
    private final SharedAccesses shared;
    private LaunchTrials trials;
    private LoopText text;
    private List<Instruction> instructions;

    BodyTrials(PtxFunction kernel, PtxModule module) {
        this.kernel = kernel;
        this.module = module;
        this.shared = new SharedAccesses(kernel, module);
    }

    PtxFunction kernel() {
        return kernel;
    }

    PtxModule module() {
        return module;
    }

    /** Its accesses to shared memory. */
    SharedAccesses shared() {
        return shared;
    }

    private LaunchTrials trials() {
        if (trials == null) {
            trials = new LaunchTrials(kernel, module);
        }
        return trials;
    }

    /** Facts of the kernel as it is, or null if nobody asked for them. */
    AddressFacts known() {
        return trials == null ? null : trials.unlimited();
    }

    /** Facts of the kernel as it is. */
    AddressFacts unlimited() {
        return trials().unlimited();
    }

    /** Facts that would hold in blocks of a shape. */
    AddressFacts of(LaunchShape shape) {
        return trials().of(shape);
    }

    /** Facts that would hold in the second body, of the kernel's own instructions. */
    AddressFacts of(BodyLimits limits) {
        return facts.computeIfAbsent(limits, this::facts);
    }

    private AddressFacts facts(BodyLimits limits) {
        if (limits.isEmpty()) {
            return unlimited();
        }
        Map<Instruction, Long> most = new IdentityHashMap<>();
        for (Instruction instruction : instructions()) {
            TwoBodies.limit(instruction, limits).ifPresent(limit -> most.put(instruction, limit));
        }
        return trials().of(most);
    }

    /** Facts that hold for launches that keep a promise, of the kernel's own instructions; empty for code that is not understood. */
    Optional<AddressFacts> keeping(LaunchPromise promise) {
        return trials().keeping(promise);
    }

    /** What the second body would cost in loops. */
    LoopCosts costs(BodyLimits limits) {
        return costs.computeIfAbsent(limits, each -> LoopCosts.of(text(), of(each)));
    }

    /** The loops of the kernel. */
    LoopText text() {
        if (text == null) {
            text = new LoopText(kernel.body().orElseThrow());
        }
        return text;
    }

    private List<Instruction> instructions() {
        if (instructions == null) {
            instructions = new ArrayList<>();
            collect(kernel.body().orElseThrow());
        }
        return instructions;
    }

    private void collect(Block block) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction instruction && TwoBodies.mayBeLimited(instruction)) {
                instructions.add(instruction);
            }
        }
    }
}
