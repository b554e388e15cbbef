package io.tessera.manager.schedule.mode;

/** A mode that an operator chose and that depends on nothing: always turns, or never. Immutable. */
abstract class ConstantMode implements SharingMode {
    @Override
    public final void joined(long clientId, long nowNs) {
    }

    @Override
    public final void left(long clientId, long nowNs) {
    }

    @Override
    public final void waits(long clientId, boolean waiting, long nowNs) {
    }

    @Override
    public final void turnStarted(long clientId, long nowNs) {
    }

    @Override
    public final void turnEnded(long clientId, long startedNs, long nowNs) {
    }

    @Override
    public final void memory(MemoryVerdict verdict, long nowNs) {
    }

    @Override
    public final int doWork(long nowNs) {
        return 0;
    }

    @Override
    public final long nextDeadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public final boolean sample() {
        return false;
    }

    @Override
    public final long freePaceNs() {
        return 0;
    }

    @Override
    public final long turnQuantumNs(long setQuantumNs) {
        return setQuantumNs;
    }
}
