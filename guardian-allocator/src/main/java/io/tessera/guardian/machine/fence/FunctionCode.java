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
 * A section of code with what the cubin says of it. Immutable.
 *
 * @param name      of the function
 * @param symbol    number of its symbol
 * @param kernel    whether it is a kernel
 * @param registers as the attributes count them; 0: not said
 * @param flow      null: it could not be read
 * @param leaves    whether it calls functions of other sections
 * @param makesPointers whether it makes generic pointers to shared or local memory
 * @param refusal   why it cannot be read; null: it was
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
     * Looks for generic pointers to shared and local memory. Asking in which space an address lies, as additions of 16-bit numbers do, makes none: a kernel gets no such
     * pointer from its launch or from global memory, and so only from itself or from functions that it calls.
     *
     * @param functions all of the cubin
     * @throws MachineCodeException if it may access shared or local memory by one
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
