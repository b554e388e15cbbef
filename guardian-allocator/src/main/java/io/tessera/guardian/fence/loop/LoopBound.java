package io.tessera.guardian.fence.loop;

/**
 * The changes to a comparison that make a counted loop certain to end. Immutable.
 *
 * @param ignoredBits low bits that {@code setp.ne} ignores: a step that is a multiple of 2^k cannot miss the bound
 * @param limit       the bound is cut to this value, so that the counter cannot pass it by overflow
 * @param cut         whether {@code limit} is used
 */
public record LoopBound(int ignoredBits, long limit, boolean cut) {
}
