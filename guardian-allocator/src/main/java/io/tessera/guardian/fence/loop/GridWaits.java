package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds the functions of a module that may wait for other blocks of their grid: those with a loop that loads a value which other blocks can change
 * while the loop runs. {@code machine/look/WaitingLoops} is the equivalent for machine code. If the loop is shown to end, or the value is copied to
 * shared memory, one of its branches must depend on a load ({@link DecidingLoads}). For a loop that is not shown to end, it is enough that a branch
 * depends on a weak load of one place: a driver may be configured to compile it to a load that bypasses the cache. Loops that overlap in the text
 * count as one loop, with all branches that go back: each cycle is in one of those. Calls through a pointer, and calls of functions whose text is not
 * here, may wait. A false positive costs speed only. Filled by one thread.
 */
public final class GridWaits {
    private static final Set<String> NEAR = Set.of("shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry",
            "param::func");
    /** A loop that takes the next piece of work adds less than this. A larger addition may serve to read the bits below. */
    private static final int MOST_PIECES = 1 << 16;

    private final Map<String, String> waiting = new HashMap<>();
    private final Set<String> loading = new HashSet<>();
    private final Set<String> calling = new HashSet<>();

    /** Role of an instruction in waiting. */
    private enum Role {
        NONE, OBSERVES, LOADS, COPIES, REFRESHES, CALLS, UNKNOWN
    }

    /** Properties of a group of loops that overlap. */
    private static final class Region {
        private int first;
        private int end = -1;
        private boolean endless;
        private boolean refreshes;
        private Instruction loads;
        private Instruction observes;
        private Instruction copies;
        private boolean calls;
        private DecidingLoads loop;
        private List<Instruction> deciding = List.of();

        private void add(Role role, Instruction instruction) {
            observes = observes == null && role == Role.OBSERVES ? instruction : observes;
            loads = loads == null && (role == Role.LOADS || role == Role.COPIES) ? instruction : loads;
            copies = copies == null && role == Role.COPIES ? instruction : copies;
            refreshes |= role == Role.REFRESHES;
            calls |= role == Role.CALLS;
        }

        private void close(List<Instruction> code) {
            if (observes != null || loads != null || calls) {
                loop = new DecidingLoads(code.subList(first, end + 1));
                deciding = loop.find().stream().filter(load -> mayTell(load, calls)).toList();
            }
        }

        private boolean decides() {
            return !deciding.isEmpty();
        }

        private Instruction waitsBy() {
            Instruction seen = observes != null ? observes : refreshes ? loads : null;
            if (seen != null && (endless || calls || decides())) {
                return seen;
            }
            if (copies != null && (calls || decides())) {
                return copies;
            }
            return !endless ? null
                    : deciding.stream().filter(load -> role(load, Set.of(), Set.of()) == Role.LOADS && loop.isAtOnePlace(load)).findFirst()
                            .orElse(null);
        }
    }

    /**
     * Looks at a function, as the program has it: mbarriers that were rewritten as loads would count as waits.
     *
     * @param text  its loops
     * @param known functions of the module that have a text
     */
    public void see(PtxFunction function, LoopText text, AddressFacts facts, Collection<String> known) {
        List<Instruction> code = text.instructions();
        Set<String> used = used(code);
        int[] ends = regions(text);
        Region region = new Region();
        for (int i = 0; i < code.size(); i++) {
            Role role = role(code.get(i), used, known);
            if (role == Role.UNKNOWN) {
                waiting.putIfAbsent(function.name(), "a call at line " + code.get(i).line() + " of what is not known");
            }
            if (role == Role.LOADS || role == Role.OBSERVES || role == Role.COPIES || role == Role.REFRESHES) {
                loading.add(function.name());
            }
            if (i > region.end) {
                region = new Region();
                region.first = i;
                region.end = ends[i];
            }
            if (i <= region.end) {
                region.add(role, code.get(i));
                region.endless |= text.start(i) >= 0 && !facts.endsByItself(code.get(i)) && text.counted(i).isEmpty();
                if (i == region.end) {
                    region.close(code);
                    close(function.name(), region);
                }
            }
        }
    }

    private void close(String function, Region region) {
        Instruction by = region.waitsBy();
        if (by != null) {
            waiting.putIfAbsent(function, "a loop with " + by.mnemonic() + " at line " + by.line());
        }
        if (region.calls && (region.endless || region.decides())) {
            calling.add(function);
        }
    }

    /** Returns, for the first instruction of each group of overlapping loops, the end of the last loop; -1 elsewhere. */
    private static int[] regions(LoopText text) {
        int size = text.instructions().size();
        int[] furthest = new int[size];
        Arrays.fill(furthest, -1);
        for (int i = 0; i < size; i++) {
            if (text.start(i) >= 0) {
                furthest[text.start(i)] = i;
            }
        }
        int open = -1;
        for (int i = 0; i < size; i++) {
            if (i > open) {
                open = -1;
            }
            int first = i;
            if (open < 0 && furthest[i] >= 0) {
                open = furthest[i];
                for (int j = i; j <= open; j++) {
                    open = Math.max(open, furthest[j]);
                }
                furthest[first] = open;
            }
        }
        return furthest;
    }

    private static Role role(Instruction i, Set<String> used, Collection<String> known) {
        return switch (i.opcode()) {
            case "ld", "ldu" -> load(i);
            case "atom" -> atomic(i, used);
            case "cp" -> Role.COPIES;
            case "suld" -> Role.LOADS;
            case "membar", "fence" -> i.has("cta") || i.has("proxy") && !i.has("acquire") || i.has("mbarrier_init") ? Role.NONE : Role.REFRESHES;
            case "barrier" -> i.has("cluster") && !i.has("relaxed") ? Role.REFRESHES : Role.NONE;
            case "call" -> call(i, known);
            case "multimem", "tcgen05" -> Role.OBSERVES;
            default -> Role.NONE;
        };
    }

    private static Role atomic(Instruction i, Set<String> used) {
        boolean far = i.modifiers().stream().noneMatch(NEAR::contains);
        boolean observes = far && !counts(i) && Definitions.of(i).stream().anyMatch(result -> used.contains(result.name()));
        return observes ? Role.OBSERVES : (i.has("acquire") || i.has("acq_rel")) && !i.has("cta") ? Role.REFRESHES : Role.NONE;
    }

    /** Returns whether a loaded value that decides a branch may come from another block, be it through shared memory or as the result of a call. */
    private static boolean mayTell(Instruction load, boolean calls) {
        boolean parameter = load.modifiers().stream().anyMatch(space -> space.startsWith("param"));
        return !load.has("const") && !load.has("nc") && (calls || !parameter);
    }

    /** Returns whether an atomic operation adds a non-zero constant to an integer: then it takes the next piece of work. */
    private static boolean counts(Instruction i) {
        return i.has("add") && (i.has("u32") || i.has("s32") || i.has("u64")) && i.operands().size() > 2
                && i.operands().get(2) instanceof Operand.Immediate added && added.value() != 0
                && Math.abs(added.value()) < MOST_PIECES;
    }

    private static Role load(Instruction i) {
        if (i.modifiers().stream().anyMatch(NEAR::contains) || i.has("nc")) {
            return Role.NONE;
        }
        boolean ordered = i.has("relaxed") || i.has("acquire");
        return i.has("volatile") || i.has("mmio") || i.has("cv") || i.has("cg") || ordered && !i.has("cta") ? Role.OBSERVES : Role.LOADS;
    }

    private static Role call(Instruction i, Collection<String> known) {
        String name = CallSite.of(i).function();
        return name == null ? Role.UNKNOWN : known.contains(name) ? Role.CALLS : name.startsWith("__assert") ? Role.NONE : Role.UNKNOWN;
    }

    /** Registers that something reads, or more: an atomic operation whose result nothing reads is compiled to one without. */
    private static Set<String> used(List<Instruction> code) {
        Set<String> used = new HashSet<>();
        for (Instruction i : code) {
            i.guard().ifPresent(guard -> used.add(guard.register().name()));
            boolean result = i.opcode().equals("atom") && i.operands().getFirst() instanceof Operand.Register;
            i.operands().subList(result ? 1 : 0, i.operands().size()).forEach(operand -> operand.registers(used::add));
        }
        return used;
    }

    /**
     * Functions that may wait themselves or by what they call, with the reason, by name.
     *
     * @param calls functions that each function calls
     */
    public Map<String, String> all(Map<String, List<String>> calls) {
        Map<String, List<String>> callers = new HashMap<>();
        calls.forEach((caller, called) -> called.forEach(name -> callers.computeIfAbsent(name, _ -> new ArrayList<>()).add(caller)));
        Map<String, String> loads = new HashMap<>();
        loading.forEach(name -> loads.put(name, name));
        Set<String> mayLoad = handOn(loads, callers).keySet();
        Map<String, String> all = new TreeMap<>(waiting);
        calling.stream().filter(name -> calls.getOrDefault(name, List.of()).stream().anyMatch(mayLoad::contains))
                .forEach(name -> all.putIfAbsent(name, "a loop with a call of a function that loads or fences memory"));
        return handOn(all, callers);
    }

    private static Map<String, String> handOn(Map<String, String> said, Map<String, List<String>> callers) {
        Map<String, String> all = new TreeMap<>(said);
        Deque<String> open = new ArrayDeque<>(all.keySet());
        while (!open.isEmpty()) {
            String name = open.remove();
            for (String caller : callers.getOrDefault(name, List.of())) {
                if (all.putIfAbsent(caller, "it calls " + name) == null) {
                    open.add(caller);
                }
            }
        }
        return all;
    }
}
