package io.tessera.guardian.fence;

import io.tessera.guardian.fence.CheckedEntry.Number;
import io.tessera.guardian.fence.CheckedEntry.Pointer;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.LaunchPromise;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes second entries of kernels, for launches that somebody looks at: what a kernel compares and fences at its start, all threads alike, is
 * looked at once before the launch instead. Only the pointers that the kernel would fence where it reads them are asked for. Stateless.
 */
final class CheckedEntries {
    private static final String PREFIX = WindowConstants.PREFIX + "checked_";

    /**
     * A second entry.
     *
     * @param function to stand in the module behind its kernel, with the kernel's own body, which is not fenced yet
     * @param facts    of that body, for launches that keep to the entry's terms
     * @param entry    the terms
     */
    record Written(PtxFunction function, AddressFacts facts, CheckedEntry entry) {
    }

    private CheckedEntries() {
    }

    /** Whether a function is one of them. */
    static boolean isOne(String function) {
        return function.startsWith(PREFIX);
    }

    /** The kernel of a second entry; of any other function, itself. */
    static String kernel(String function) {
        return isOne(function) ? function.substring(PREFIX.length()) : function;
    }

    /**
     * The entry of the trials' kernel for launches within limits, which may be empty. None where it would spare nothing, and where the
     * module has its name, for which it is refused.
     *
     * @param fenced whether accesses are fenced; if not, nothing is asked of pointers
     */
    static Optional<Written> write(BodyTrials trials, BodyLimits limits, boolean fenced) {
        PtxFunction kernel = trials.kernel();
        if (trials.module().functions().stream().anyMatch(each -> each.name().equals(PREFIX + kernel.name()))) {
            return Optional.empty();
        }
        Block body = kernel.body().orElseThrow();
        PtxFunction function = new PtxFunction(kernel.kind(), Linkage.VISIBLE, PREFIX + kernel.name(), kernel.returns(), kernel.parameters(),
                kernel.attributes(), kernel.body(), kernel.line());
        Map<Instruction, Long> most = new IdentityHashMap<>();
        Map<Instruction, Pointer> pointers = new IdentityHashMap<>();
        Set<String> declared = new HashSet<>();
        declared(body, declared);
        collect(body, instruction -> {
            TwoBodies.limit(instruction, limits).ifPresent(limit -> most.put(instruction, limit));
            Pointer pointer = fenced ? pointer(instruction, kernel, declared) : null;
            if (pointer != null) {
                pointers.put(instruction, pointer);
            }
        });
        return trials.keeping(new LaunchPromise(most, pointers.keySet()))
                .map(facts -> new Written(function, facts,
                        entry(kernel, function, FewBlocks.name(kernel, trials.module()), limits, asked(facts, pointers))))
                .filter(written -> !limits.isEmpty() || !written.entry().pointers().isEmpty());
    }

    private interface Visitor {
        void visit(Instruction instruction);
    }

    private static void collect(Block block, Visitor visitor) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Instruction instruction -> visitor.visit(instruction);
                default -> {}
            }
        }
    }

    /** Names of the body's own variables: what a call gives back is read as a parameter is. */
    private static void declared(Block block, Set<String> into) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Variable variable -> into.add(variable.name());
                default -> {}
            }
        }
    }

    /** What an instruction reads, if that is 64 bits of a parameter and nothing else. */
    private static Pointer pointer(Instruction instruction, PtxFunction kernel, Set<String> declared) {
        boolean reads = instruction.opcode().equals("ld") && instruction.guard().isEmpty()
                && instruction.type().filter(type -> type.bits() == Long.SIZE).isPresent();
        if (reads && TwoBodies.source(instruction).orElse(null) instanceof Operand.Address(Operand.Named(String name), long offset)
                && !declared.contains(name)) {
            int index = parameter(kernel, name);
            if (index >= 0 && offset >= 0 && offset + Long.BYTES <= kernel.parameters().get(index).sizeBytes()) {
                return new Pointer(index, offset, 1);
            }
        }
        return null;
    }

    private static int parameter(PtxFunction kernel, String name) {
        for (int i = 0; i < kernel.parameters().size(); i++) {
            if (kernel.parameters().get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** The parameters of which something is made without a fence: those that have to be addresses inside the window. */
    private static List<Pointer> asked(AddressFacts facts, Map<Instruction, Pointer> pointers) {
        Map<Pointer, Integer> alignments = new LinkedHashMap<>();
        for (BaseFence base : facts.baseFences()) {
            Pointer read = base.trusted() ? pointers.get(base.definition()) : null;
            if (read != null) {
                alignments.merge(read, Math.max(1, base.alignmentBytes()), Math::max);
            }
        }
        List<Pointer> asked = new ArrayList<>();
        alignments.forEach((read, alignment) -> asked.add(new Pointer(read.parameter(), read.offsetBytes(), alignment)));
        return Collections.unmodifiableList(asked);
    }

    private static CheckedEntry entry(PtxFunction kernel, PtxFunction function, String few, BodyLimits limits, List<Pointer> pointers) {
        List<Number> numbers = new ArrayList<>();
        long blocks = 0;
        for (BodyLimits.Limit limit : limits.limits()) {
            switch (limit.source()) {
                case Operand.SpecialRegister(String name, String component) when name.equals("%nctaid") && component.equals("x") ->
                    blocks = blocks == 0 ? limit.most() : Math.min(blocks, limit.most());
                case Operand.SpecialRegister source when source.equals(TwoBodies.BLOCK) ->
                    blocks = blocks == 0 ? limit.most() + 1 : Math.min(blocks, limit.most() + 1);
                case Operand.Address(Operand.Named(String name), long offset) ->
                    numbers.add(new Number(parameter(kernel, name), offset, limit.bits(), limit.most()));
                default -> throw new IllegalStateException("nobody can look at " + limit + " before a launch");
            }
        }
        BodyLimits.BlockSize block = limits.block();
        return new CheckedEntry(kernel.name(), function.name(), few, block == null ? 0 : block.x(), block == null ? 0 : block.y(), blocks,
                numbers, pointers);
    }
}
