package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * A pointer that a loop in parts moves by steps so small that it stays within a guard band for one part: its shadow is fenced where a part begins, and in
 * the rounds of the part it is moved as the program moves the pointer. Immutable.
 *
 * @param branch  closes the loop
 * @param pointer the program's register, whose shadow is to be fenced
 */
public record CarriedPointer(Instruction branch, Operand.Register pointer) {
}
