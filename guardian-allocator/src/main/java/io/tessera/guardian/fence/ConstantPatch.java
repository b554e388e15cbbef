package io.tessera.guardian.fence;

/**
 * Bytes of a {@code .const} variable that stays in the module and that hold the address of a hoisted variable: they are
 * written after the module is loaded. Immutable.
 *
 * @param constant   the {@code .const} variable; found by its own name
 * @param relocation where in it, and what is stored
 */
public record ConstantPatch(String constant, HoistedVariable.Relocation relocation) {
}
