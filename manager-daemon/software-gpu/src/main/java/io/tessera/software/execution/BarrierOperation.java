package io.tessera.software.execution;

/** What a block's barrier computes over the predicates of those who arrive. */
public enum BarrierOperation {
    NONE, POPC, AND, OR
}
