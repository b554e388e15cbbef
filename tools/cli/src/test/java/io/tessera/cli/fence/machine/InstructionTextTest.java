package io.tessera.cli.fence.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.machine.CodeWords;
import org.junit.jupiter.api.Test;

/** Instructions as text: what is known of them, and no more. */
class InstructionTextTest {
    private static String text(CodeWords code) {
        int last = code.count() - 1;
        return InstructionText.of(code.words()[2 * last], code.words()[2 * last + 1], last);
    }

    @Test
    void operandsWhoseFieldsAreKnownAreNamed() {
        assertEquals("LDG R1, desc[UR4][R2.64]", text(new CodeWords().loadByDescriptor(1, 2, 4)));
        assertEquals("LDG R1, [R2.64+URZ]", text(new CodeWords().load(1, 2)));
        assertEquals("LDG R1, [R2.U32+UR6]", text(new CodeWords().loadByBase(1, 2, 6)));
        assertEquals("LDG R1, [R2.64+UR6]", text(new CodeWords().loadBySum(1, 2, 6)));
        assertEquals("ATOMG R1, [R2.64]", text(new CodeWords().compareAndSwap(1, 2, 3, 4)));
        assertEquals("@!P1 STG desc[UR4][R2.64], R7", text(new CodeWords().storeByDescriptor(2, 7, 4).under(9)));
        assertEquals("MOV R3, 0x2020", text(new CodeWords().move(3, 0x2020)));
        assertEquals("LOP3 R3, R4, 0x1f, RZ", text(new CodeWords().logic(3, 4, 0x1f, 255, 0xc0)));
        assertEquals("IMAD.WIDE R2, R4, R5, R6", text(new CodeWords().wideProduct(2, 4, 5, 6)));
        assertEquals("UMOV UR5, 0x7", text(new CodeWords().moveUniform(5, 7)));
        assertEquals("UIADD3 UR5, -UR8, 0x7", text(new CodeWords().differenceUniform(5, 7, 8)));
        assertEquals("ULOP3 UR5, UR8, 0x7", text(new CodeWords().logicUniform(5, 8, 7, 0xc0)));
        assertEquals("VIMNMX R5, R6, UR7, !PT", text(new CodeWords().greatest(5, 6, 7)));
        assertEquals("VIMNMX R5, R6, UR7, PT", text(new CodeWords().least(5, 6, 7)));
        assertEquals("R2UR UR5", text(new CodeWords().toUniform(5, 6)));
        assertEquals("RET R20", text(new CodeWords().returnBy(20)));
        assertEquals("EXIT", text(new CodeWords().exit()));
        assertEquals("(opcode 0x344)", text(new CodeWords().add(0x7344, 0)));
    }

    @Test
    void targetsAreOffsetsInTheSection() {
        assertEquals("@P0 BRA 0x0", text(new CodeWords().nothing().branch(0).under(0)));
        assertEquals("CALL 0x50", text(new CodeWords().call(5)));
        assertEquals("BSSY 0x30", text(new CodeWords().meeting(0, 3)));
    }
}
