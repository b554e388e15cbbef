package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which variables of its module a function uses. Bank 4 has the address of variable 3 at offset 8 and of variable 5 at offset 24. */
class VariableUsesTest {
    private static final Map<Long, Integer> BANK = Map.of(8L, 3, 24L, 5);
    private static final long CONTROL = 0x000fe20000000000L;

    private static Map<Integer, Integer> uses(CodeWords code, Integer... ends) throws MachineCodeException {
        return VariableUses.find(code.flow(), BANK, Map.of(), Set.of(ends), Set.of());
    }

    private static void usesNone(CodeWords code, Integer... ends) throws MachineCodeException {
        assertEquals(Map.of(), uses(code, ends));
    }

    /** {@code LDC.64 Rd, c[0x4][offset]}. */
    private static CodeWords address(CodeWords code, int register, long offset) {
        return code.add(0xff007b82L | (long) register << 16 | offset << 38 | 4L << 54, CONTROL | 0xa00);
    }

    /** {@code ULDC.64 UR6, c[0x4][0x8]} and, behind something, {@code MOV R2, UR6}. */
    private static CodeWords uniformAddress(CodeWords code) {
        return code.add(0x7ab9L | 6L << 16 | 8L << 38 | 4L << 54, CONTROL | 0xa00);
    }

    private static CodeWords fromUniform(CodeWords code) {
        return code.add(0x7c02L | 2L << 16 | 6L << 32, CONTROL | 0x08000f00L);
    }

    /** {@code STL.64 [R1+8], Rs}. */
    private static CodeWords keep(CodeWords code, int register) {
        return code.add(0x0000080001007387L | (long) register << 32, CONTROL | 0x00100a00L);
    }

    /** {@code LDL.64 Rd, [R1+8]}. */
    private static CodeWords take(CodeWords code, int register) {
        return code.add(0x0000080001007983L | (long) register << 16, CONTROL | 0x00100a00L);
    }

    /** {@code MOV R2, address} with a relocation; {@code MOV R2, c[0x4][0x8]}, as code before sm_90 has it. */
    @Test
    void anAccessByAnAddressThatARelocationWritesOrAnOperandHas() throws MachineCodeException {
        CodeWords code = new CodeWords().move(2, 0).load(0, 2).exit();
        assertEquals(Map.of(), VariableUses.find(code.flow(), Map.of(), Map.of(), Set.of(), Set.of()));
        assertEquals(Map.of(7, 1), VariableUses.find(code.flow(), Map.of(), Map.of(0, 7), Set.of(), Set.of()));
        assertEquals(Map.of(3, 1), uses(new CodeWords().add(0x7a02L | 2L << 16 | 8L << 38 | 4L << 54, CONTROL | 0xf00).load(0, 2).exit()));
        usesNone(new CodeWords().add(0x7a02L | 2L << 16 | 16L << 38 | 4L << 54, CONTROL | 0xf00).load(0, 2).exit());
    }

    @Test
    void anAccessByTheAddressOfAVariable() throws MachineCodeException {
        assertEquals(Map.of(3, 1), uses(address(new CodeWords(), 2, 8).load(0, 2).exit()));
        assertEquals(Map.of(5, 1), uses(address(new CodeWords(), 2, 24).load(0, 2).exit()));
        usesNone(address(new CodeWords(), 2, 16).load(0, 2).exit());
        assertEquals(Map.of(3, 1), uses(address(new CodeWords(), 2, 8).store(6, 2).exit()), "its address is kept in memory");
    }

    /** Where paths meet, a register may have either address; a load by a register may load any address of the bank. */
    @Test
    void whatMayBeEitherCountsForAll() throws MachineCodeException {
        CodeWords either = address(address(new CodeWords(), 2, 8).branch(3).under(0), 2, 24).load(0, 2).exit();
        assertEquals(Set.of(3, 5), uses(either).keySet());
        CodeWords first = address(address(new CodeWords(), 2, 24), 2, 8).load(0, 2).exit();
        assertEquals(Set.of(3), uses(first).keySet());
        CodeWords indexed = new CodeWords().add(0x04027b82L | 4L << 54, CONTROL | 0xa00).load(0, 2).exit();
        assertEquals(Set.of(3, 5), uses(indexed).keySet());
    }

    /** Functions of the module access what they get; those of the driver print it. */
    @Test
    void whatGoesToAFunctionOfTheModuleOrBack() throws MachineCodeException {
        CodeWords calls = address(new CodeWords(), 4, 8).callSymbol().exit();
        assertEquals(Map.of(3, 1), uses(calls));
        assertEquals(Map.of(), VariableUses.find(calls.flow(), BANK, Map.of(), Set.of(), Set.of(1)));
        assertEquals(Map.of(5, 1), uses(address(new CodeWords(), 4, 24).returnBy(20)));
    }

    @Test
    void tooManyBranchesAreNotFollowed() {
        CodeWords code = address(new CodeWords(), 2, 8);
        for (int i = 0; i <= 1 << 15; i++) {
            code.branch(i + 1);
        }
        assertThrows(MachineCodeException.class, () -> uses(code.exit()));
    }

    /** Behind a failed assertion nothing is executed, whatever its texts left in registers. */
    @Test
    void aFailedAssertionIsAnEnd() throws MachineCodeException {
        CodeWords code = fromUniform(uniformAddress(new CodeWords()).callSymbol()).load(0, 2).exit();
        assertEquals(Map.of(3, 3), uses(code));
        usesNone(code, 1);
        assertEquals(Map.of(3, 3), uses(fromUniform(uniformAddress(new CodeWords()).callSymbol().under(0)).load(0, 2).exit(), 1));
    }

    /** As for printed texts. */
    @Test
    void anAddressThatOnlyGoesThroughLocalMemoryToACallOfTheDriver() throws MachineCodeException {
        CodeWords printed = keep(address(new CodeWords(), 4, 8), 4).callSymbol().load(0, 2).exit();
        assertEquals(Map.of(), VariableUses.find(printed.flow(), BANK, Map.of(), Set.of(), Set.of(2)));
        assertEquals(Map.of(3, 2), uses(printed));
        usesNone(take(new CodeWords(), 2).load(0, 2).exit());
        assertEquals(Map.of(3, 3), uses(take(keep(address(new CodeWords(), 4, 8), 4), 2).load(0, 2).exit()));
        CodeWords after = take(keep(address(new CodeWords(), 4, 8), 4).callSymbol(), 2).load(0, 2).exit();
        assertEquals(Map.of(3, 4), VariableUses.find(after.flow(), BANK, Map.of(), Set.of(), Set.of(2)));
        usesNone(take(keep(address(new CodeWords(), 4, 16), 4), 2).load(0, 2).exit());
    }
}
