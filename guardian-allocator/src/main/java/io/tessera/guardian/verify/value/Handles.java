package io.tessera.guardian.verify.value;

import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.value.Node.Fact.Kind;
import io.tessera.guardian.verify.value.Node.Fact;
import java.util.List;

/** The look at whether a texture or surface is the tenant's: a bit of a table, by the handle's low 20 bits; its high word is zero. Stateless. */
final class Handles {
    private static final long INDEX_BITS = (1 << 20) - 1;
    private static final int WORD_SHIFT = 5;

    private Handles() {
    }

    /** A word is not zero: of which handle it is the bit. */
    static void one(Node word, List<Fact> found) {
        Node bit = word.origin();
        if (!bit.is("and", "b32") || bit.numberOf(1, 0) != 1 || !bit.args[0].origin().is("shr", "u32")) {
            return;
        }
        Node shifted = bit.args[0].origin();
        Node place = shifted.args[1].origin();
        Node loaded = shifted.args[0].origin();
        if (!loaded.is("ld", "global") || !loaded.instruction.mnemonic().equals("ld.global.u32") || loaded.args.length != 1
                || !place.is("and", "b32") || place.numberOf(1, 0) != 31) {
            return;
        }
        Node index = place.args[0].origin();
        Node sum = loaded.args[0].origin();
        Node handle = index.is("and", "b32") && index.numberOf(1, 0) == INDEX_BITS ? WindowForms.half(index.args[0], 0) : null;
        if (handle == null || !sum.is("add") || !sum.typed(64) || !WindowForms.isPointer(sum.args[0], Reserved.HANDLES)
                || !isOffset(sum.args[1], index)
                || !(loaded.instruction.operands().get(1) instanceof io.tessera.guardian.ptx.Operand.Address address) || address.offsetBytes() != 0) {
            return;
        }
        found.add(new Fact(Kind.HANDLE, handle, null, "", false, 64, 0));
    }

    private static boolean isOffset(Node offset, Node index) {
        Node bytes = offset.origin();
        Node word = bytes.is("mul", "wide") && bytes.numberOf(1, 0) == 4 && bytes.instruction.mnemonic().equals("mul.wide.u32")
                ? bytes.args[0].origin() : null;
        return word != null && word.is("shr", "u32") && word.args[0].origin() == index && word.numberOf(1, 0) == WORD_SHIFT;
    }
}
