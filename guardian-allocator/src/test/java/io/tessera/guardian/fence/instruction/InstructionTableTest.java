package io.tessera.guardian.fence.instruction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.parse.Opcodes;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InstructionTableTest {
    private static InstructionClass classOf(String mnemonic) {
        List<String> words = List.of(mnemonic.split("\\."));
        Operand.Address address = new Operand.Address(new Operand.Register("%d1"), 0);
        return InstructionTable.of(new Instruction(Optional.empty(), words.getFirst(), words.subList(1, words.size()),
                List.of(new Operand.Register("%r1"), address), 1));
    }

    @Test
    void everyOpcodeIsThere() {
        for (String opcode : Opcodes.names()) {
            assertTrue(InstructionTable.contains(opcode), opcode);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.global.strange.u32", "add.memory.u32", "cp.async.other.shared.global", "mbarrier.new.b64",
            "tex.5d.v4.f32.f32", "bar.strange", "prefetch.global.L3", "fence.proxy.tensormap::other.acquire.gpu"})
    void anUnknownWordIsNotGuessed(String mnemonic) {
        InstructionClass.Refused refused = assertInstanceOf(InstructionClass.Refused.class, classOf(mnemonic));
        assertTrue(!refused.known() && refused.reason().contains("does not know"), refused.reason());
    }

    @ParameterizedTest
    @CsvSource({"ld.global.u8, 1", "ld.global.v4.f32, 16", "st.global.v2.b64, 16", "ld.global.v8.b32, 32", "ld.b128, 16",
            "atom.global.add.noftz.v4.f16x2, 16", "red.global.add.v2.f32, 8", "ld.global.nc.u16, 2"})
    void accessesHaveTheirSizes(String mnemonic, int bytes) {
        InstructionClass.Memory memory = assertInstanceOf(InstructionClass.Memory.class, classOf(mnemonic));
        assertEquals(bytes, memory.accesses().getFirst().sizeBytes());
        assertEquals(bytes, memory.accesses().getFirst().alignmentBytes());
    }
}
