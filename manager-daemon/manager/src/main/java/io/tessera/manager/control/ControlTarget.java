package io.tessera.manager.control;

import com.google.gson.JsonObject;
import io.tessera.manager.residency.Eviction;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.protocol.DeviceUuid;
import java.util.Optional;
import java.util.function.IntPredicate;

/** What can be asked of the manager over the control socket. Called by the owner thread. */
public interface ControlTarget {
    /** The answer to {@code status}, without {@code ok}. */
    JsonObject status(long nowNs);

    /**
     * Sets the mode of one device, or of all and those to come.
     *
     * @return false if there is no such device
     */
    boolean mode(Optional<DeviceUuid> device, SchedulerMode mode, long nowNs);

    /**
     * Sets the quantum of one device, or of all and those to come.
     *
     * @return false if there is no such device
     * @throws IllegalArgumentException if the quantum is out of range, with the range
     */
    boolean quantum(Optional<DeviceUuid> device, long quantumNs, long nowNs);

    /**
     * Sets the device memory that a tenant of executors may use, on each device, from now on.
     *
     * @param bytes 0: no limit
     */
    void limit(String tenant, long bytes);

    /**
     * Has a tenant's clients leave the devices until their next call.
     *
     * @param owners  users whose programs are meant: several may have taken one name
     * @param suspend whole processes, contexts included, by the driver's checkpoint
     * @return who leaves, and who is not suspended
     */
    Eviction evict(String tenant, IntPredicate owners, boolean suspend, long nowNs);

    /**
     * Has a tenant's evicted clients come back.
     *
     * @param owners users whose programs are meant
     * @return how many there were
     */
    int restore(String tenant, IntPredicate owners, long nowNs);

    /**
     * Has the memory of a tenant of executors leave their devices until its next call, or come back.
     *
     * @return how many executors it is in
     */
    int park(String tenant, boolean away);

    /** Whether the tenant has a client of one of some users on a device. */
    boolean knows(String tenant, IntPredicate owners);

    /** Whether the tenant has a client in an executor. */
    boolean relays(String tenant);

    /**
     * Ends the manager after the answer was sent.
     *
     * @param programs whether its clients, and executors with whatever is in them, end first
     */
    void stop(boolean programs, long nowNs);

}
