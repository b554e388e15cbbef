package io.tessera.manager.control;

import com.google.gson.JsonObject;
import io.tessera.manager.admission.AdmissionAnswer;
import io.tessera.manager.admission.AdmissionWish;
import io.tessera.manager.admission.SpaceDevices;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.residency.Eviction;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntPredicate;

/** What can be asked of the manager over the control socket. Called by the owner thread. */
public interface ControlTarget {
    /** The answer to {@code status}, without {@code ok}. */
    JsonObject status(long nowNs);

    /**
     * Orders how one device is shared in time, or all and those to come.
     *
     * @return false if there is no such device
     */
    boolean order(Optional<DeviceUuid> device, DeviceSharing sharing, long nowNs);

    /** What holds for a tenant. */
    TenantTerms terms(String tenant);

    /** What holds for a tenant for which no operator has set anything. */
    TenantTerms writtenTerms(String tenant);

    /** Whether an operator has set anything for a tenant that holds now, or when it comes. */
    boolean isSet(String tenant);

    /**
     * Sets what holds for a tenant, on all devices and in executors.
     *
     * @param whileItRuns only until the last of its programs has left
     * @return false if something is set for too many tenants
     */
    boolean terms(String tenant, TenantTerms terms, boolean whileItRuns, long nowNs);

    /** Whether the tenant has a client that takes turns. */
    boolean takesTurns(String tenant);

    /** Why what is set for a tenant does not hold on devices that it is on; empty: it holds, or nothing is set. */
    Set<String> notKept(String tenant, long nowNs);

    /** Why orders do not survive if the manager is killed; empty: they do. */
    String ordersProblem();

    /** The policies of the devices and executors that a tenant is on; of all devices, where it is on none. */
    Set<PolicyName> policiesOf(String tenant);

    /**
     * Sets the device memory that a tenant of executors may use, on each device, from now on.
     *
     * @param bytes 0: no limit
     * @return false if that is one tenant too many
     */
    boolean limit(String tenant, long bytes);

    /**
     * Has a tenant's clients leave the devices until their next call.
     *
     * @param owners  users whose programs are meant: several may have taken one name
     * @param suspend whole processes, contexts included, by the driver's checkpoint
     * @return the clients that leave, and those that are not suspended
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

    /** Whether a program may start; if not, it waits, and has to ask again (5 s). */
    AdmissionAnswer admission(AdmissionWish wish, long nowNs);

    /** The devices that programs in space sharing see; their executors are started if they do not run. */
    SpaceDevices spaceDevices(long nowNs);

    /** How many clients a tenant may have at once; 0: any number. */
    int clients(String tenant);

    /**
     * Sets how many clients a tenant may have at once, as {@link #terms(String, TenantTerms, boolean, long)} sets the rest.
     *
     * @param most 0: any number; empty: as it is written down
     * @return false if that is one tenant too many
     */
    boolean clients(String tenant, OptionalInt most);

    /** A program does not wait any longer, or does not start. */
    void leaveAdmission(AdmissionWish wish);

    /**
     * Ends the manager after the answer was sent.
     *
     * @param programs whether its clients, and executors with whatever is in them, end first
     */
    void stop(boolean programs, long nowNs);
}
