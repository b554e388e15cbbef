package io.tessera.manager.schedule;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;

/**
 * The scheduler of one device, as the conductor uses it. Times are monotonic nanoseconds passed in by the caller. Not thread-safe: one owner thread.
 */
public interface DeviceScheduling extends MemoryScheduling {
    /**
     * Records that a client opened a context on the device. It starts CLOSED at epoch 0, unless the mode lets it run at once.
     *
     * @param tenant its tenant; the clients of a tenant share its part of the device
     * @param terms  settings of the tenant; for a tenant that is already here {@link #terms} sets them
     */
    void joined(long clientId, String tenant, TenantTerms terms, long nowNs);

    /** Removes a client that is gone, with everything it held. */
    void left(long clientId, long nowNs);

    /** Records a change of the client's want word: it waits since {@code sinceNs}, or no longer when 0. */
    void wants(long clientId, long sinceNs, long nowNs);

    /** Records a change of the client's ack word. */
    void acknowledged(long clientId, long epoch, AckState state, long nowNs);

    /** Changes the mode at once; running turns end in order. */
    void mode(SchedulerMode mode, long nowNs);

    /**
     * Sets whether a tenant on this device works on other devices too. Its processes may wait for one another (a collective of NCCL spins on every
     * device until all have come). So turns that each device hands out by itself could leave two such tenants with half of their devices each, for
     * ever. {@code auto} then takes no turns.
     */
    void spans(boolean severalDevices, long nowNs);

    /** Sets the quantum in nanoseconds, from the next turn on; also shortens the running one. */
    void quantumNs(long quantumNs, long nowNs);

    /** Sets another policy, from the next turn on. */
    void policy(PolicyName policy, long nowNs);

    /** Returns the policy of the next turn. */
    PolicyName policy();

    /** Records that an operator has changed a tenant's settings; no effect if the tenant is not on the device. */
    void terms(String tenant, TenantTerms terms, long nowNs);

    /** Does the work that is due and returns its amount. */
    int doWork(long nowNs);

    /** Returns when {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    long nextDeadlineNs();

    /** Returns the state for an operator. */
    DeviceTurns snapshot(long nowNs);
}
