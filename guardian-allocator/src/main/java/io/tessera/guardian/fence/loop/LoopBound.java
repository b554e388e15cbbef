package io.tessera.guardian.fence.loop;

/**
 * What makes certain that a counted loop ends. Immutable.
 *
 * @param ignoredBits low bits that {@code setp.ne} leaves out: a step of a multiple of 2^k cannot miss the bound
 * @param limit       the bound is cut to this, so that the counter cannot pass it by running over
 * @param cut         whether {@code limit} is to be used
 */
public record LoopBound(int ignoredBits, long limit, boolean cut) {
}
