package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.BitSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which functions access variables of their module. Bank 4 has the address of one at offset 8. */
class ModuleVariablesTest {
    private static final Set<Long> VARIABLES = Set.of(8L);
    private static final String ACCESS = "an access to a variable of the module";
    private static final String KEPT = "an address of a variable of the module that is kept in memory";
    private static final long CONTROL = 0x000fe20000000000L;

    private static void accepts(CodeWords code, Integer... ends) {
        assertDoesNotThrow(() -> ModuleVariables.requireNone(code.flow(), VARIABLES, new BitSet(), Set.of(ends)));
    }

    private static void refuses(String why, CodeWords code, Integer... ends) {
        assertEquals(why,
                assertThrows(MachineCodeException.class, () -> ModuleVariables.requireNone(code.flow(), VARIABLES, new BitSet(), Set.of(ends)))
                        .getMessage()
                        .replaceAll(" at offset .*", ""));
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
        BitSet first = new BitSet();
        ModuleVariables.requireNone(code.flow(), Set.of(), first, Set.of());
        first.set(0);
        assertEquals(ACCESS + " at offset 0x10",
                assertThrows(MachineCodeException.class, () -> ModuleVariables.requireNone(code.flow(), Set.of(), first, Set.of())).getMessage());
        refuses(ACCESS, new CodeWords().add(0x7a02L | 2L << 16 | 8L << 38 | 4L << 54, CONTROL | 0xf00).load(0, 2).exit());
        accepts(new CodeWords().add(0x7a02L | 2L << 16 | 16L << 38 | 4L << 54, CONTROL | 0xf00).load(0, 2).exit());
    }

    @Test
    void anAccessByTheAddressOfAVariable() {
        refuses(ACCESS, address(new CodeWords(), 2, 8).load(0, 2).exit());
        accepts(address(new CodeWords(), 2, 16).load(0, 2).exit());
        refuses(KEPT, address(new CodeWords(), 2, 8).store(6, 2).exit());
    }

    /** Behind a failed assertion nothing is executed, whatever its texts left in registers. */
    @Test
    void aFailedAssertionIsAnEnd() {
        CodeWords code = fromUniform(uniformAddress(new CodeWords()).callSymbol()).load(0, 2).exit();
        refuses(ACCESS, code);
        accepts(code, 1);
        refuses(ACCESS, fromUniform(uniformAddress(new CodeWords()).callSymbol().under(0)).load(0, 2).exit(), 1);
    }

    /** As texts that are printed do. */
    @Test
    void anAddressThatOnlyGoesThroughLocalMemoryToACall() {
        accepts(keep(address(new CodeWords(), 4, 8), 4).callSymbol().load(0, 2).exit());
        accepts(take(new CodeWords(), 2).load(0, 2).exit());
        refuses(ACCESS, take(keep(address(new CodeWords(), 4, 8), 4), 2).load(0, 2).exit());
        refuses(ACCESS, take(keep(address(new CodeWords(), 4, 8), 4).callSymbol(), 2).load(0, 2).exit());
        accepts(take(keep(address(new CodeWords(), 4, 16), 4), 2).load(0, 2).exit());
    }
}
