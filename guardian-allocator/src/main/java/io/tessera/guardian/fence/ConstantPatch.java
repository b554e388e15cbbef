package io.tessera.guardian.fence;

/**
 * Bytes of a {@code .const} variable that stays in the module and that hold the address of a hoisted variable. They are written after the module is
 * loaded. Immutable.
 *
 * @param constant   the {@code .const} variable; found by its own name
 * @param relocation offset in the variable, and the stored address
 */
public record ConstantPatch(String constant, HoistedVariable.Relocation relocation) {
}
