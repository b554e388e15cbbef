package io.tessera.manager.schedule;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;

/**
 * The scheduler of one device as the conductor drives it. Times are monotonic nanoseconds passed in by the caller;
 * not thread-safe: one owner thread.
 */
public interface DeviceScheduling extends MemoryScheduling {
    /**
     * A client opened a context on the device. It starts CLOSED at epoch 0, unless the mode lets it run at once.
     *
     * @param tenant whose it is; the clients of a tenant have its part of the device together
     * @param terms  what was set for the tenant; of one that is here already {@link #terms} says it
     */
    void joined(long clientId, String tenant, TenantTerms terms, long nowNs);

    /** The client is gone, with whatever it held. */
    void left(long clientId, long nowNs);

    /** The client's want word changed: it waits since {@code sinceNs}, or no longer when 0. */
    void wants(long clientId, long sinceNs, long nowNs);

    /** The client's ack word changed. */
    void acknowledged(long clientId, long epoch, AckState state, long nowNs);

    /** Switches the mode; takes effect at once, running turns end in order. */
    void mode(SchedulerMode mode, long nowNs);

    /**
     * Whether a tenant on this device works on other devices too. Its processes may wait for one another (a collective
     * of NCCL spins on every device until all have come), so turns that each device hands out by itself could leave
     * two such tenants with half of their devices each, for ever. {@code auto} then takes no turns.
     */
    void spans(boolean severalDevices, long nowNs);

    /** Sets the quantum in nanoseconds, from the next turn on; also shortens the running one. */
    void quantumNs(long quantumNs, long nowNs);

    /** Sets another policy, from the next turn on. */
    void policy(PolicyName policy, long nowNs);

    /** The policy of the next turn. */
    PolicyName policy();

    /** An operator has changed a tenant's settings; no effect where it is not on the device. */
    void terms(String tenant, TenantTerms terms, long nowNs);

    /** Runs what is due and returns how many things it did. */
    int doWork(long nowNs);

    /** When {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    long nextDeadlineNs();

    /** What an operator sees. */
    DeviceTurns snapshot(long nowNs);
}
