package io.tessera.guardian.ptx;

/**
 * {@code @p} or {@code @!p} before an instruction. Immutable.
 *
 * @param register the predicate register
 * @param negated  whether the instruction runs where it is false
 */
public record Guard(Operand.Register register, boolean negated) {
}
