package io.tessera.software.execution;

/** Operation of a block's barrier over the predicates of the threads that arrive. */
public enum BarrierOperation {
    NONE, POPC, AND, OR
}
