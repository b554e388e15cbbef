package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * A limit of a loop's counter that is cut to a bound, so that the counter cannot overflow past it. A program whose counter never comes within 65,536
 * of the end of its range does not notice. After {@code definition} the rewriter adds {@code r' = min(r, bound)}, or {@code max}, and the comparison
 * uses {@code r'}. Immutable.
 *
 * @param comparison the {@code setp} that ends the loop; its third operand is the register
 * @param definition the instruction that makes the limit, outside the loop, without a guard
 * @param limit      the register, its only result
 * @param type       {@code s32} or {@code u32}
 * @param upper      whether the limit may be at most the bound; else at least
 * @param bound      the bound
 */
public record LoopCut(Instruction comparison, Instruction definition, Operand.Register limit, String type, boolean upper,
        long bound) {
}
