package io.tessera.software.lowering;

import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.software.program.Function;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.UnsupportedPtxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lowers one entry with all that it reaches. Used once. */
final class KernelLowering {
    private static final int DIMENSIONS = 3;
    /** Twice what a GPU has: here parameters of calls lie in local memory, which a GPU has in registers. */
    private static final int MOST_LOCAL_BYTES = 1 << 20;

    private final PtxFunction entry;
    private final Reachability reachable;
    private final SharedMemoryLayout shared;
    private final List<PtxFunction> order;
    private final KernelScope scope;
    private final List<Function> functions = new ArrayList<>();
    private boolean unbounded;

    KernelLowering(LoweringSymbols program, PtxFunction entry) {
        this.entry = entry;
        this.reachable = Reachability.of(program, entry);
        this.order = List.copyOf(reachable.functions().values());
        this.shared = new SharedMemoryLayout(program, reachable, entry);
        this.scope = new KernelScope(program, shared, order);
    }

    /** Does it. */
    Kernel lower() {
        Function main = new FunctionLowering(scope, entry).lower();
        for (PtxFunction function : order) {
            functions.add(new FunctionLowering(scope, function).lower());
        }
        Map<String, Integer> addressable = new TreeMap<>();
        for (String name : reachable.addressable()) {
            addressable.put(name, scope.functionIndex(name));
        }
        unbounded = !addressable.isEmpty();
        CallDepth depth = CallDepth.of(main, functions);
        if (depth.frameBytes() > MOST_LOCAL_BYTES) {
            throw new UnsupportedPtxException(entry.name(), "local memory of " + depth.frameBytes() + " bytes for a thread", entry.line());
        }
        unbounded |= depth.recursive();
        boolean waits = waits(main);
        boolean allocates = allocates(main);
        for (Function function : functions) {
            waits |= waits(function);
            allocates |= allocates(function);
        }
        int parameterBytes = main.parameters().isEmpty() ? 0
                : main.parameters().getLast().offset() + main.parameters().getLast().bytes();
        return new Kernel(main, List.copyOf(functions), Map.copyOf(addressable), parameterBytes, shared.staticBytes(),
                shared.dynamicAlign(), (int) depth.frameBytes(), unbounded || allocates, waits, limits());
    }

    private static boolean waits(Function function) {
        return function.code().stream().anyMatch(i -> i.opcode().waitsForOthers() || i.opcode() == Opcode.ACTIVEMASK);
    }

    private static boolean allocates(Function function) {
        return function.code().stream().anyMatch(i -> i.opcode() == Opcode.ALLOCA);
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
}
