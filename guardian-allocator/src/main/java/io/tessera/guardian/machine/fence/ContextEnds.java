package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds instructions that end the context for all programs in it: traps, and calls of the driver's function for failed assertions. Stateless. */
final class ContextEnds {
    private static final String ASSERTION = "__assertfail";
    private static final int BANK = 4;

    private ContextEnds() {
    }

    /** The offsets in a section that relocations fill with the address of the function for failed assertions. */
    static Set<Long> assertionOffsets(Cubin cubin, CubinSymbols symbols, String section) throws MachineCodeException {
        Set<Long> offsets = new HashSet<>();
        for (Relocations.Relocation relocation : Relocations.into(cubin, section)) {
            CubinSymbols.Symbol symbol = symbols.named(relocation);
            if (symbol != null && ASSERTION.equals(symbol.name())) {
                offsets.add(relocation.offset());
            }
        }
        return offsets;
    }

    /** Returns whether a cubin names the function for failed assertions. */
    static boolean calls(CubinSymbols symbols) {
        return symbols.all().stream().anyMatch(symbol -> ASSERTION.equals(symbol.name()));
    }

    /** Returns whether the function for failed assertions is the only one whose address is in constant bank 4. */
    static boolean isOnlyFunctionInBank(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        List<Relocations.Relocation> all = Relocations.into(cubin, ".nv.constant4");
        boolean only = !all.isEmpty();
        for (Relocations.Relocation relocation : all) {
            CubinSymbols.Symbol found = symbols.named(relocation);
            only &= found != null && (ASSERTION.equals(found.name()) || found.section() != 0 && found.type() != CubinSymbols.FUNCTION);
        }
        return only;
    }

    /**
     * Returns the instructions of a function that end the context, with the reason as {@link MachineFence} numbers it.
     *
     * @param called offsets in the code of calls of the function for assertions
     * @param inBank offsets in constant bank 4 that hold its address
     * @param only   whether bank 4 has no other function's address
     */
    static Map<Integer, Integer> find(SectionFlow flow, Set<Long> called, Set<Long> inBank, boolean only) {
        Map<Integer, Integer> ends = new HashMap<>();
        for (int i = 0; i < flow.count(); i++) {
            Kind kind = flow.operation(i).kind();
            boolean asserts = kind == Kind.CALL_SYMBOL && called.contains((long) i * InstructionWord.BYTES)
                    || kind == Kind.CALL_REGISTER && !inBank.isEmpty() && isLoaded(flow, i, inBank, only);
            if (asserts) {
                ends.put(i, MachineFence.ASSERTION);
            } else if (kind == Kind.TRAP) {
                ends.put(i, MachineFence.TRAP);
            }
        }
        return ends;
    }

    /**
     * Returns whether the register through which a call goes was loaded, in the same block, from one of these offsets in bank 4, or from any of it.
     */
    private static boolean isLoaded(SectionFlow flow, int call, Set<Long> inBank, boolean only) {
        int register = InstructionWord.source(flow.low(call));
        for (int i = call - 1; i >= 0 && !flow.isLeader(i + 1); i--) {
            long low = flow.low(i);
            if (flow.operation(i).writes(low, register)) {
                return ((int) low & 0xfff) == 0xb82 && InstructionWord.destination(low) == register && (low >>> 54 & 0x1f) == BANK
                        && (only || InstructionWord.source(low) == InstructionWord.ZERO_REGISTER && inBank.contains(low >>> 38 & 0xffff));
            }
        }
        return false;
    }
}
