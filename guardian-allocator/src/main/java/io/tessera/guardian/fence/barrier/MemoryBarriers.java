package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.variable.SharedLayout;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Replaces mbarriers, and operations that complete on one, by plain loads, atomic operations and loops ({@link BarrierWord}). A hardware
 * mbarrier that was not initialised, or whose counts overflow, ends the context that all clients share (seen on an H200: a launch failure),
 * and a thread that waits at it can only be ended by the end of the phase. The new code is fenced like the rest of the program: it cannot
 * fault, and its loops look at the stop word. It need not be trusted, since it is written before the fences are added. Stateless.
 */
public final class MemoryBarriers {
    private static final String NOTE = "keeps mbarriers as words of its shared memory, and copies into it in bulk by loops";
    private static final String PREFIX = "mbarrier";
    /** Shared memory that a kernel's static variables may take: the PTX assembler refuses a kernel with more. */
    private static final long MOST_STATIC_BYTES = 48 << 10;

    private MemoryBarriers() {
    }

    /**
     * Returns the module with mbarriers replaced where they are understood. Returns the same module if it has no mbarriers, or if it queries the
     * number of pending arrivals where bytes are awaited as well.
     *
     * @param linked whether it may be linked with other modules, which may use clusters of blocks
     */
    public static PtxModule lowered(PtxModule module, boolean linked) {
        List<PtxFunction> functions = module.functions();
        if (functions.stream().noneMatch(MemoryBarriers::has)
                || functions.stream().anyMatch(MemoryBarriers::asks) && (linked || functions.stream().anyMatch(MemoryBarriers::awaitsBytes))) {
            return module;
        }
        boolean clusters = linked || functions.stream().anyMatch(MemoryBarriers::meetsOtherBlocks);
        boolean drops = linked || functions.stream().anyMatch(function -> any(function, i -> i.opcode().equals("mbarrier") && i.has("arrive_drop")));
        // A thread that waits in a device function makes copies that others requested, so all kernels that may call the function need the queue.
        boolean room = SharedLayout.mostBytes(module) + BulkCopyQueue.BYTES <= MOST_STATIC_BYTES;
        List<PtxFunction> loading = functions.stream().filter(function -> !clusters && room && any(function, BarrierLowering::isLoad)).toList();
        boolean everywhere = !loading.isEmpty() && functions.stream().anyMatch(f -> f.kind() == PtxFunction.Kind.FUNC && has(f));
        String queue = loading.isEmpty() ? null : queueName(module);
        List<Directive> directives = new ArrayList<>(module.directives().size() + 1);
        if (queue != null) {
            directives.add(BulkCopyQueue.variable(queue));
        }
        for (Directive directive : module.directives()) {
            boolean one = directive instanceof PtxFunction function && (has(function)
                    || everywhere && function.kind() == PtxFunction.Kind.ENTRY && function.body().isPresent());
            directives.add(
                    one ? lowered((PtxFunction) directive, clusters, drops, everywhere || loading.contains(directive) ? queue : null) : directive);
        }
        return new PtxModule(module.version(), module.targets(), module.addressBits(), directives);
    }

    /** Returns the fenced module with notes in its reports on the functions that {@link #lowered} rewrote. */
    public static FencedModule noted(FencedModule fenced, PtxModule module) {
        Set<String> names = rewritten(module).keySet();
        return names.isEmpty() ? fenced
                : fenced.with(fenced.reports().stream().map(report -> names.contains(report.name()) ? report.noted(NOTE) : report).toList());
    }

    /** The functions of a module that {@link #lowered} writes in another way, by name. */
    public static Map<String, PtxFunction> rewritten(PtxModule module) {
        return module.functions().stream().filter(MemoryBarriers::has).collect(Collectors.toMap(PtxFunction::name, Function.identity()));
    }

    private static boolean has(PtxFunction function) {
        return any(function, BarrierLowering::isOne);
    }

    /** Returns whether the function queries pending arrivals. The answer would differ: here, awaited bytes count as one arrival until they are 0. */
    private static boolean asks(PtxFunction function) {
        return any(function, i -> i.opcode().equals("mbarrier") && i.has("pending_count"));
    }

    private static boolean awaitsBytes(PtxFunction function) {
        return any(function, i -> i.has("expect_tx") || i.has("complete_tx") || i.has(BarrierLowering.COMPLETES));
    }

    private static boolean any(PtxFunction function, Predicate<Instruction> property) {
        return function.body().isPresent() && any(function.body().get(), property);
    }

    private static boolean any(Block block, Predicate<Instruction> property) {
        return block.statements().stream().anyMatch(statement -> switch (statement) {
            case Instruction instruction -> property.test(instruction);
            default -> false;
        });
    }

    /**
     * Returns whether a function's addresses of shared memory may be in other blocks; copies to addresses of a cluster usually go to the block's own
     * memory. If no function uses clusters, the new code does not either, and kernels are launched without them ({@link FencedModule#clusters()}).
     */
    private static boolean meetsOtherBlocks(PtxFunction function) {
        return function.attributes().stream().anyMatch(attribute -> attribute.name().contains("cluster"))
                || any(function, i -> i.opcode().equals("mapa") || i.opcode().equals("getctarank")
                        || i.has("cluster") && !i.opcode().equals("mbarrier") && !i.has("mbarrier_init")
                        || i.has("shared::cluster") && !i.opcode().equals("cp") && !i.opcode().equals("fence"));
    }

    /** A name for {@link BulkCopyQueue} that nothing in the module has. */
    private static String queueName(PtxModule module) {
        Set<String> taken = new HashSet<>();
        for (Directive directive : module.directives()) {
            switch (directive) {
                case Variable variable -> take(variable.name(), taken);
                case PtxFunction function -> {
                    take(function.name(), taken);
                    names(function, taken);
                }
                default -> {}
            }
        }
        return free(taken) + "queue";
    }

    private static String free(Set<String> taken) {
        String number = "";
        for (int i = 0; taken.contains(number); i++) {
            number = Integer.toString(i);
        }
        return PREFIX + number + "_";
    }

    private static PtxFunction lowered(PtxFunction function, boolean clusters, boolean drops, String queue) {
        Block body = function.body().orElseThrow();
        Set<String> taken = new HashSet<>();
        names(function, taken);
        Code code = new Code(free(taken));
        List<Statement> outer = code.enter();
        new BarrierLowering(code, clusters, drops, queue).body(function);
        List<Statement> statements = code.leave(outer);
        List<Statement> whole = new ArrayList<>(code.declarations());
        whole.addAll(statements);
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(),
                function.attributes(), Optional.of(new Block(whole, body.line())), function.line());
    }

    /** Collects the text between the prefix and the first underscore of names that have the form of generated names. */
    private static void take(String name, Set<String> into) {
        String bare = name.startsWith("%") ? name.substring(1) : name;
        int end = bare.startsWith(PREFIX) ? bare.indexOf('_', PREFIX.length()) : -1;
        if (end >= 0) {
            into.add(bare.substring(PREFIX.length(), end));
        }
    }

    private static void names(PtxFunction function, Set<String> into) {
        function.parameters().forEach(parameter -> take(parameter.name(), into));
        function.body().ifPresent(body -> names(body, into));
    }

    private static void names(Block block, Set<String> into) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Label label -> take(label.name(), into);
                case RegisterDeclaration declaration -> take(declaration.prefix(), into);
                case Variable variable -> take(variable.name(), into);
                default -> {}
            }
        }
    }
}
