package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.verify.TensorMapAddresses;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A section of code with the cubin's facts about it. Immutable.
 *
 * @param name      of the function
 * @param symbol    number of its symbol
 * @param kernel    whether it is a kernel
 * @param registers number in the attributes; 0 if it is not given
 * @param flow      null if it could not be read
 * @param leaves    whether it calls functions of other sections
 * @param makesPointers whether it makes generic pointers to shared or local memory
 * @param refusal   reason why it cannot be read; null if it was read
 */
record FunctionCode(CubinSection section, String name, int symbol, boolean kernel, int registers, SectionFlow flow, boolean leaves,
        boolean makesPointers,
        String refusal) {
    static FunctionCode read(Cubin cubin, CubinSection section, CubinSymbols symbols, Map<Integer, Integer> registers) throws MachineCodeException {
        CubinSymbols.Symbol own = own(section, symbols);
        if (own == null) {
            throw new MachineCodeException("code without a symbol");
        }
        SectionFlow flow = SectionFlow.of(cubin.requireKnownInstructions(), CodeReader.words(section), CodeReader.entered(cubin, section, symbols));
        boolean leaves = false;
        for (int i = 0; i < flow.count(); i++) {
            Kind kind = flow.operation(i).kind();
            leaves |= kind == Kind.CALL_SYMBOL || kind == Kind.CALL_REGISTER;
        }
        for (int i = 0; i < flow.count(); i++) {
            if (flow.operation(i).kind() == Kind.TEXTURE) {
                throw new MachineCodeException("a " + flow.operation(i).name() + ", whose texture is not checked", i * InstructionWord.BYTES);
            }
        }
        TensorMapAddresses.find(flow, Set.of(), own.entry());
        return new FunctionCode(section, own.name(), own.index(), own.entry(), registers.getOrDefault(own.index(), 0), flow, leaves,
                GenericPointers.areMade(flow), null);
    }

    static FunctionCode unread(CubinSection section, CubinSymbols symbols, String why) {
        CubinSymbols.Symbol own = own(section, symbols);
        return new FunctionCode(section, section.functionName(CubinSection.CODE), own == null ? 0 : own.index(), own != null && own.entry(), 0, null,
                false,
                false, why);
    }

    private static CubinSymbols.Symbol own(CubinSection section, CubinSymbols symbols) {
        return symbols.of(section).stream()
                .filter(symbol -> symbol.type() == CubinSymbols.FUNCTION && symbol.value() == 0)
                .filter(symbol -> symbol.name().equals(section.functionName(CubinSection.CODE))).findFirst().orElse(null);
    }

    /**
     * Checks that the function cannot access shared or local memory through a generic pointer. A test of an address's space, as for additions of
     * 16-bit numbers, does not make such a pointer. A kernel gets no such pointer from its launch or from global memory, so it can only come from the
     * kernel itself or from functions that it calls.
     *
     * @param functions all of the cubin
     * @throws MachineCodeException if it may access shared or local memory by such a pointer
     */
    void requireGlobalPointers(List<FunctionCode> functions) throws MachineCodeException {
        boolean generic = false;
        boolean asks = false;
        for (int i = 0; i < flow.count(); i++) {
            generic |= flow.operation(i).isGeneric();
            asks |= flow.operation(i).kind() == Kind.SPACE_TEST;
        }
        if (generic && (makesPointers || asks && (!kernel || leaves && functions.stream().anyMatch(FunctionCode::mayReturnPointers)))) {
            throw new MachineCodeException("generic accesses to shared or local memory");
        }
    }

    private boolean mayReturnPointers() {
        return !kernel && (flow == null || makesPointers);
    }
}
