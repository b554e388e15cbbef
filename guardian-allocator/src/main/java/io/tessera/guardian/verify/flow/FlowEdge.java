package io.tessera.guardian.verify.flow;

/**
 * A way from a block to another in {@link Flow}. Immutable.
 *
 * @param from     block
 * @param position of the branch that decides whether it is gone, or -1: none does
 * @param to       block
 * @param taken    whether it is gone where the branch's guard holds
 */
public record FlowEdge(int from, int position, int to, boolean taken) {
}
