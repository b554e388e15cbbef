package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * A pointer that is fenced once, right after it is defined: see {@link AddressFacts}. Immutable.
 *
 * @param definition     the instruction that writes it; a vector load may define several
 * @param register       the 64-bit register, one of its results
 * @param alignmentBytes alignment to which low bits of the shadow are cleared; 1 clears none. A legal program must not notice, so it is at most the
 *                       alignment that every access through the shadow demands
 * @param trusted        whether the value is known to be inside the window and so aligned (the address of a hoisted variable): then the shadow is a
 *                       plain copy
 * @param again          whether the fence applies to the shadow that a {@link Derivation} of the same instruction has just made, instead of the
 *                       register
 */
public record BaseFence(Instruction definition, Operand.Register register, int alignmentBytes, boolean trusted,
        boolean again) {
}
