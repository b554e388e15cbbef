package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.ConstantOperand;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * Finds functions that access variables of their module. Drivers place those outside of every window, so a fence would send the accesses elsewhere. Their addresses come
 * from constant bank 4 or by relocations; they are followed through registers and, as one, through local memory. Addresses that only go to calls, as texts do that are printed, do not matter.
 * One owner thread.
 */
final class ModuleVariables {
    private static final int REGISTERS = 256;
    private static final int BANK = 4;
    /** Behind the bits of uniform registers: the thread's local memory. Texts that are printed go through it. */
    private static final int LOCAL_MEMORY = REGISTERS + 64;

    private final SectionFlow flow;
    private final Set<Long> variables;
    /** Instructions into which a relocation writes an address of a variable. */
    private final BitSet relocated;
    private final Set<Integer> ends;
    /** Bits of general registers, from 256 on of uniform ones, and of local memory, that hold something made of an address of a variable. */
    private final BitSet[] atStart;

    private ModuleVariables(SectionFlow flow, Set<Long> variables, BitSet relocated, Set<Integer> ends) {
        this.relocated = relocated;
        this.flow = flow;
        this.variables = variables;
        this.ends = ends;
        this.atStart = new BitSet[flow.count()];
    }

    /** Offsets in constant bank 4 that hold addresses of variables. */
    static Set<Long> inBank(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        Set<Long> offsets = new HashSet<>();
        for (Relocations.Relocation relocation : Relocations.into(cubin, ".nv.constant4")) {
            CubinSymbols.Symbol symbol = relocation.symbolIn(symbols.all());
            if (symbol != null && symbol.type() != CubinSymbols.FUNCTION) {
                offsets.add(relocation.offset());
            }
        }
        return offsets;
    }

    /** Instructions of a section into which relocations write addresses of variables, by their numbers. */
    static BitSet inCode(Cubin cubin, CubinSymbols symbols, CubinSection section) throws MachineCodeException {
        BitSet places = new BitSet();
        for (Relocations.Relocation relocation : Relocations.into(cubin, section.name())) {
            CubinSymbols.Symbol symbol = relocation.symbolIn(symbols.all());
            CubinSection target = symbol == null ? null : cubin.section(symbol.section());
            boolean inside = relocation.offset() >= 0 && relocation.offset() < section.data().length;
            if (inside && target != null && !target.isCode()) {
                places.set((int) (relocation.offset() / InstructionWord.BYTES));
            }
        }
        return places;
    }

    /**
     * Looks at a function.
     *
     * @param variables as {@link #inBank} finds them
     * @param relocated as {@link #inCode} finds them
     * @param ends      instructions that execution does not go on behind, though they look as if it did: calls for failed assertions
     * @throws MachineCodeException if it accesses one, or keeps the address of one in shared or global memory, where it is not followed
     */
    static void requireNone(SectionFlow flow, Set<Long> variables, BitSet relocated, Set<Integer> ends) throws MachineCodeException {
        if (!variables.isEmpty() || !relocated.isEmpty()) {
            new ModuleVariables(flow, variables, relocated, ends).run();
        }
    }

    private void run() throws MachineCodeException {
        Deque<Integer> open = new ArrayDeque<>();
        for (int block = 0; block < flow.count(); block = flow.blockEnd(block)) {
            atStart[block] = new BitSet();
            open.add(block);
        }
        while (!open.isEmpty()) {
            int block = open.remove();
            BitSet held = (BitSet) atStart[block].clone();
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
    }

    private void reach(Deque<Integer> open, int block, BitSet held) {
        int before = atStart[block].cardinality();
        atStart[block].or(held);
        if (atStart[block].cardinality() > before) {
            open.add(block);
        }
    }

    private void step(BitSet held, int at) throws MachineCodeException {
        long low = flow.low(at);
        long high = flow.high(at);
        MachineOpcode operation = flow.operation(at);
        boolean loads = isBankRead(low, high) || relocated.get(at);
        boolean taken = loads || !held.isEmpty() && reads(held, low, high, operation);
        if (!loads && operation.isGlobal() && InstructionWord.source(low) != InstructionWord.ZERO_REGISTER && held.get(InstructionWord.source(low))) {
            throw new MachineCodeException("an access to a variable of the module", at * InstructionWord.BYTES);
        }
        if (taken && "STL".equals(operation.name())) {
            held.set(LOCAL_MEMORY);
            return;
        }
        if (taken && (operation.name().startsWith("ST") || operation.name().startsWith("RED"))) {
            throw new MachineCodeException("an address of a variable of the module that is kept in memory", at * InstructionWord.BYTES);
        }
        boolean result = taken && !operation.isGlobal() && (loads || operation.kind() == Kind.PLAIN)
                || "LDL".equals(operation.name()) && held.get(LOCAL_MEMORY);
        if (operation.registers() == MachineOpcode.MANY) {
            if (operation.kind() != Kind.COLLECTIVE && operation.kind() != Kind.PLAIN && operation.kind() != Kind.CALL) {
                held.clear(0, REGISTERS);
            }
        } else if (operation.registers() > 0 && InstructionWord.destination(low) != InstructionWord.ZERO_REGISTER) {
            held.set(InstructionWord.destination(low),
                    Math.min(InstructionWord.ZERO_REGISTER, InstructionWord.destination(low) + operation.registers()), result);
        }
        if (operation.uniforms() > 0 && InstructionWord.uniformDestination(low) != InstructionWord.ZERO_UNIFORM) {
            int first = REGISTERS + InstructionWord.uniformDestination(low);
            held.set(first, first + operation.uniforms(), result);
        }
    }

    /** A read from bank 4 of an address of a variable, or of something that is not known. */
    private boolean isBankRead(long low, long high) {
        return ConstantOperand.bank(low, high) == BANK
                && (ConstantOperand.isIndexed(low) || variables.contains(ConstantOperand.offset(low) & ~7L));
    }

    private static boolean reads(BitSet held, long low, long high, MachineOpcode operation) {
        if (operation.kind() == Kind.ON_CHIP && !operation.name().startsWith("ST")) {
            return false;
        }
        int form = (int) low & 0xe00;
        boolean uniformPath = operation.uniforms() > 0 && !"R2UR".equals(operation.name()) && !"REDUX".equals(operation.name())
                || operation.name().startsWith("U");
        int base = uniformPath ? REGISTERS : 0;
        int width = uniformPath ? 0x3f : 0xff;
        boolean taken = held.get(base + (int) (low >>> 24 & width)) || held.get(base + (int) (high & width));
        if (form == 0x200 || form == 0xe00 || form == 0x300 || uniformPath && form != 0x800) {
            taken |= held.get(base + (int) (low >>> 32 & width));
        }
        if ((InstructionWord.key(low, high) & 0x1000) != 0) {
            taken |= held.get(REGISTERS + (int) (low >>> 32 & 0x3f));
        }
        if (operation.name().startsWith("ST")) {
            taken = held.get((int) (low >>> 32 & 0xff));
        }
        return taken;
    }
}
