package io.tessera.software.lowering;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.software.program.Function;
import io.tessera.software.program.Instruction;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.Operand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lowers one entry with all that it reaches. Used once. */
final class KernelLowering {
    private static final int DIMENSIONS = 3;
    private static final int UNKNOWN = -1;
    private static final int ACTIVE = -2;

    private final PtxProgram program;
    private final PtxFunction entry;
    private final Reachability reachable;
    private final SharedLayout shared;
    private final List<PtxFunction> order;
    private final Map<String, Integer> indices = new HashMap<>();
    private final List<Function> functions = new ArrayList<>();
    private boolean unbounded;

    KernelLowering(PtxProgram program, PtxFunction entry) {
        this.program = program;
        this.entry = entry;
        this.reachable = Reachability.of(program, entry);
        this.order = List.copyOf(reachable.functions().values());
        for (PtxFunction function : order) {
            indices.put(function.name(), indices.size());
        }
        this.shared = new SharedLayout(program, reachable, entry);
    }

    /** Does it. */
    Kernel lower() {
        Function main = new FunctionLowering(this, entry).lower();
        for (PtxFunction function : order) {
            functions.add(new FunctionLowering(this, function).lower());
        }
        Map<String, Integer> addressable = new TreeMap<>();
        for (String name : reachable.addressable()) {
            addressable.put(name, indices.get(name));
        }
        unbounded = !addressable.isEmpty();
        int[] known = new int[functions.size()];
        Arrays.fill(known, UNKNOWN);
        int local = main.frameBytes() + deepest(main, known);
        boolean waits = waits(main);
        boolean allocates = allocates(main);
        for (Function function : functions) {
            waits |= waits(function);
            allocates |= allocates(function);
        }
        int parameterBytes = main.parameters().isEmpty() ? 0
                : main.parameters().getLast().offset() + main.parameters().getLast().bytes();
        return new Kernel(main, List.copyOf(functions), Map.copyOf(addressable), parameterBytes, shared.staticBytes(),
                shared.dynamicAlign(), local, unbounded || allocates, waits, limits());
    }

    private static boolean waits(Function function) {
        return function.code().stream().anyMatch(i -> i.opcode().waitsForOthers() || i.opcode() == Opcode.ACTIVEMASK);
    }

    private static boolean allocates(Function function) {
        return function.code().stream().anyMatch(i -> i.opcode() == Opcode.ALLOCA);
    }

    /**
     * Bytes of frames below a function on the deepest chain of direct calls; a cycle counts once.
     *
     * @param known what was found of each function, or {@link #ACTIVE} while it is looked at, or {@link #UNKNOWN}
     */
    private int deepest(Function function, int[] known) {
        int deepest = 0;
        for (Instruction instruction : function.code()) {
            if (instruction.opcode() == Opcode.CALL && instruction.argument(0) instanceof Operand.Function callee) {
                int index = callee.index();
                if (known[index] == ACTIVE) {
                    unbounded = true;
                    continue;
                }
                Function called = functions.get(index);
                if (known[index] == UNKNOWN) {
                    known[index] = ACTIVE;
                    known[index] = deepest(called, known);
                }
                deepest = Math.max(deepest, called.frameBytes() + known[index]);
            }
        }
        return deepest;
    }

    private Kernel.Limits limits() {
        List<Integer> required = extents("reqntid");
        List<Integer> most = extents("maxntid");
        List<Integer> cluster = extents("reqnctapercluster");
        int maxThreads = product(required.getFirst() != 0 ? required : most);
        return new Kernel.Limits(maxThreads, required, cluster, entry.attribute("explicitcluster").isPresent());
    }

    private static int product(List<Integer> extents) {
        return extents.getFirst() == 0 ? 0 : extents.get(0) * extents.get(1) * extents.get(2);
    }

    private List<Integer> extents(String directive) {
        List<Long> numbers = entry.attribute(directive).map(FunctionAttribute::numbers).orElse(List.of());
        List<Integer> extents = new ArrayList<>();
        for (int i = 0; i < DIMENSIONS; i++) {
            extents.add(i < numbers.size() ? Math.toIntExact(numbers.get(i)) : numbers.isEmpty() ? 0 : 1);
        }
        return extents;
    }

    PtxProgram program() {
        return program;
    }

    SharedLayout shared() {
        return shared;
    }

    /** Index of a reached function, or -1. */
    int functionIndex(String name) {
        PtxFunction function = program.function(name);
        return function == null ? -1 : indices.getOrDefault(function.name(), -1);
    }
}
