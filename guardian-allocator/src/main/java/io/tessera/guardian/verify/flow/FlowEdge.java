package io.tessera.guardian.verify.flow;

/**
 * An edge from one block to another in {@link Flow}. Immutable.
 *
 * @param from     block
 * @param position of the branch that decides whether the edge is taken; -1 if no branch does
 * @param to       block
 * @param taken    whether the edge is taken if the branch's guard holds
 */
public record FlowEdge(int from, int position, int to, boolean taken) {
}
