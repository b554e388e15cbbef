package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.ConstantOperand;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds the variables of its module that a function uses: it accesses them, stores their addresses in shared or global memory, or passes them to
 * functions of its module or returns them. Drivers place such variables outside of every window, so a fence would send the accesses elsewhere.
 * Addresses come from constant bank 4 or from relocations. They are followed through registers and through local memory, which counts as one
 * register. A register that may hold addresses of several variables counts for all variables whose addresses the function has. Addresses that only go
 * to functions of the driver, such as printed texts, are not uses. One owner thread.
 */
final class VariableUses {
    private static final int REGISTERS = 256;
    private static final int BANK = 4;
    /** Behind uniform registers: the thread's local memory. Texts that are printed go through it. */
    private static final int LOCAL_MEMORY = REGISTERS + 64;
    private static final int PLACES = LOCAL_MEMORY + 1;
    /** Contents of registers: no address, a variable's number plus 1, or several variables' addresses. */
    private static final int NOTHING = 0;
    private static final int SEVERAL = Integer.MAX_VALUE;
    /** Registers of arguments, by the calling convention; the first has results, too. */
    private static final int FIRST_ARGUMENT = 4;
    private static final int END_OF_ARGUMENTS = 16;

    /** Compiled functions that use variables have some thousands; each takes a kilobyte here. */
    private static final int MOST_BLOCKS = 1 << 15;

    private final SectionFlow flow;
    private final Map<Long, Integer> bank;
    private final Map<Integer, Integer> relocated;
    private final Set<Integer> ends;
    private final Set<Integer> driverCalls;
    /** Indexed by block: contents of registers at its start; null if it is not reached yet. */
    private final int[][] atStart;
    private final Map<Integer, Integer> used = new TreeMap<>();
    /** Variables whose addresses come into registers. */
    private final BitSet loaded = new BitSet();
    private int several = -1;

    private VariableUses(SectionFlow flow, Map<Long, Integer> bank, Map<Integer, Integer> relocated, Set<Integer> ends, Set<Integer> driverCalls) {
        this.flow = flow;
        this.bank = bank;
        this.relocated = relocated;
        this.ends = ends;
        this.driverCalls = driverCalls;
        this.atStart = new int[flow.count()][];
    }

    /**
     * Analyses a function.
     *
     * @param bank        numbers of variables by the offsets in constant bank 4 that hold their addresses
     * @param relocated   numbers of variables by the instructions into which relocations write their addresses
     * @param ends        instructions after which execution does not continue, although their encoding suggests it: calls for failed assertions
     * @param driverCalls instructions that call functions of the driver
     * @return by number of a variable, the first instruction that was found to use it
     * @throws MachineCodeException if there are too many branches to follow
     */
    static Map<Integer, Integer> find(SectionFlow flow, Map<Long, Integer> bank, Map<Integer, Integer> relocated, Set<Integer> ends,
            Set<Integer> driverCalls) throws MachineCodeException {
        return bank.isEmpty() && relocated.isEmpty() ? Map.of() : new VariableUses(flow, bank, relocated, ends, driverCalls).run();
    }

    private Map<Integer, Integer> run() throws MachineCodeException {
        Deque<Integer> open = new ArrayDeque<>();
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            if (open.size() == MOST_BLOCKS) {
                throw new MachineCodeException("variables of the module in a function with more than " + MOST_BLOCKS + " blocks");
            }
            atStart[block] = new int[PLACES];
            open.add(block);
        }
        while (!open.isEmpty()) {
            int block = open.remove();
            int[] held = atStart[block].clone();
            int end = flow.blockEnd(block);
            for (int i = block; i < end; i++) {
                step(held, i);
            }
            if (ends.contains(end - 1) && InstructionWord.predicate(flow.low(end - 1)) == InstructionWord.ALWAYS) {
                continue;
            }
            if (flow.operation(end - 1).kind() == Kind.CALL) {
                reach(open, flow.target(end - 1), held);
            }
            for (int next : flow.successors(end - 1)) {
                reach(open, next, held);
            }
        }
        if (several >= 0) {
            loaded.stream().forEach(variable -> used.putIfAbsent(variable, several));
        }
        return new HashMap<>(used);
    }

    private void reach(Deque<Integer> open, int block, int[] held) {
        int[] before = atStart[block];
        boolean changed = false;
        for (int i = 0; i < PLACES; i++) {
            int both = both(before[i], held[i]);
            changed |= both != before[i];
            before[i] = both;
        }
        if (changed) {
            open.add(block);
        }
    }

    private static int both(int first, int second) {
        return first == second || second == NOTHING ? first : first == NOTHING ? second : SEVERAL;
    }

    private void use(int value, int at) {
        if (value == SEVERAL) {
            several = several < 0 ? at : several;
        } else if (value != NOTHING) {
            used.putIfAbsent(value - 1, at);
        }
    }

    private void step(int[] held, int at) {
        long low = flow.low(at);
        long high = flow.high(at);
        MachineOpcode operation = flow.operation(at);
        int load = loads(low, high, at);
        int taken = both(load, reads(held, low, high, operation));
        if (load == NOTHING && operation.isGlobal() && InstructionWord.source(low) != InstructionWord.ZERO_REGISTER) {
            use(held[InstructionWord.source(low)], at);
        }
        if (isCallOfItsModule(operation, at)) {
            for (int i = FIRST_ARGUMENT; i < END_OF_ARGUMENTS; i++) {
                use(held[i], at);
            }
            use(held[LOCAL_MEMORY], at);
        }
        if (operation.kind() == Kind.RETURN) {
            use(held[FIRST_ARGUMENT], at);
        }
        if ("STL".equals(operation.name())) {
            held[LOCAL_MEMORY] = both(held[LOCAL_MEMORY], taken);
            return;
        }
        if (operation.name().startsWith("ST") || operation.name().startsWith("RED")) {
            use(taken, at);
        }
        int result = !operation.isGlobal() && (load != NOTHING || operation.kind() == Kind.PLAIN) ? taken : NOTHING;
        result = "LDL".equals(operation.name()) ? both(result, held[LOCAL_MEMORY]) : result;
        keep(held, low, operation, result);
    }

    private void keep(int[] held, long low, MachineOpcode operation, int result) {
        if (operation.registers() == MachineOpcode.MANY) {
            if (operation.kind() != Kind.COLLECTIVE && operation.kind() != Kind.PLAIN && operation.kind() != Kind.CALL) {
                Arrays.fill(held, 0, REGISTERS, NOTHING);
            }
        } else if (operation.registers() > 0 && InstructionWord.destination(low) != InstructionWord.ZERO_REGISTER) {
            Arrays.fill(held, InstructionWord.destination(low),
                    Math.min(InstructionWord.ZERO_REGISTER, InstructionWord.destination(low) + operation.registers()), result);
        }
        if (operation.uniforms() > 0 && InstructionWord.uniformDestination(low) != InstructionWord.ZERO_UNIFORM) {
            int first = REGISTERS + InstructionWord.uniformDestination(low);
            Arrays.fill(held, first, Math.min(LOCAL_MEMORY, first + operation.uniforms()), result);
        }
    }

    private boolean isCallOfItsModule(MachineOpcode operation, int at) {
        return (operation.kind() == Kind.CALL_SYMBOL || operation.kind() == Kind.CALL_REGISTER) && !ends.contains(at) && !driverCalls.contains(at);
    }

    /** Returns the variable that an instruction loads from bank 4 or from a relocation. A load by a register may load any of the bank. */
    private int loads(long low, long high, int at) {
        Integer variable = relocated.get(at);
        if (variable == null && ConstantOperand.bank(low, high) == BANK) {
            if (ConstantOperand.isIndexed(low)) {
                bank.values().forEach(loaded::set);
                return bank.isEmpty() ? NOTHING : SEVERAL;
            }
            variable = bank.get(ConstantOperand.offset(low) & ~7L);
        }
        if (variable == null) {
            return NOTHING;
        }
        loaded.set(variable);
        return variable + 1;
    }

    private static int reads(int[] held, long low, long high, MachineOpcode operation) {
        if (operation.name().startsWith("ST")) {
            return held[(int) (low >>> 32 & 0xff)];
        }
        if (operation.kind() == Kind.ON_CHIP) {
            return NOTHING;
        }
        int form = (int) low & 0xe00;
        boolean uniformPath = operation.uniforms() > 0 && !"R2UR".equals(operation.name()) && !"REDUX".equals(operation.name())
                || operation.name().startsWith("U");
        int base = uniformPath ? REGISTERS : 0;
        int width = uniformPath ? 0x3f : 0xff;
        int taken = both(held[base + (int) (low >>> 24 & width)], held[base + (int) (high & width)]);
        if (form == 0x200 || form == 0xe00 || form == 0x300 || uniformPath && form != 0x800) {
            taken = both(taken, held[base + (int) (low >>> 32 & width)]);
        }
        if ((InstructionWord.key(low, high) & 0x1000) != 0) {
            taken = both(taken, held[REGISTERS + (int) (low >>> 32 & 0x3f)]);
        }
        return taken;
    }
}
