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

/** The operations that the control socket offers. Called by the owner thread. */
public interface ControlTarget {
    /** Returns the answer to {@code status}, without {@code ok}. */
    JsonObject status(long nowNs);

    /**
     * Orders how one device is shared in time, or all devices, present and future.
     *
     * @return false if there is no such device
     */
    boolean order(Optional<DeviceUuid> device, DeviceSharing sharing, long nowNs);

    /** Returns the terms of a tenant. */
    TenantTerms terms(String tenant);

    /** Returns the terms of a tenant without an operator's settings. */
    TenantTerms writtenTerms(String tenant);

    /** Returns whether an operator has set anything for a tenant, present or not. */
    boolean isSet(String tenant);

    /**
     * Sets the terms of a tenant, on all devices and in executors.
     *
     * @param whileItRuns true: only until the last of its programs has left
     * @return false if too many tenants have settings
     */
    boolean terms(String tenant, TenantTerms terms, boolean whileItRuns, long nowNs);

    /** Returns whether the tenant has a client that takes turns. */
    boolean takesTurns(String tenant);

    /** Returns why a tenant's settings do not hold on devices that it is on; empty if they hold, or if there are none. */
    Set<String> notKept(String tenant, long nowNs);

    /** Returns why orders would be lost if the manager were killed; empty if they would not. */
    String ordersProblem();

    /** Returns the policies of the devices and executors that a tenant is on; if it is on none, those of all devices. */
    Set<PolicyName> policiesOf(String tenant);

    /**
     * Sets the device memory that a tenant of executors may use, on each device, from now on.
     *
     * @param bytes 0: no limit
     * @return false if too many tenants would have limits
     */
    boolean limit(String tenant, long bytes);

    /**
     * Makes a tenant's clients leave the devices until their next call.
     *
     * @param owners  users whose programs are meant: several users may have chosen the same name
     * @param suspend true: whole processes, with their contexts, leave by the driver's checkpoint
     * @return the clients that leave, and those that are not suspended
     */
    Eviction evict(String tenant, IntPredicate owners, boolean suspend, long nowNs);

    /**
     * Makes a tenant's evicted clients come back.
     *
     * @param owners users whose programs are meant
     * @return the number of these clients
     */
    int restore(String tenant, IntPredicate owners, long nowNs);

    /**
     * Makes the memory of a tenant of executors leave their devices until its next call, or come back.
     *
     * @return the number of executors that the tenant is in
     */
    int park(String tenant, boolean away);

    /** Returns whether the tenant has a client of one of these users on a device. */
    boolean knows(String tenant, IntPredicate owners);

    /** Returns whether the tenant has a client in an executor. */
    boolean relays(String tenant);

    /** Returns whether a program may start; otherwise it waits, and has to repeat its request (5 s). */
    AdmissionAnswer admission(AdmissionWish wish, long nowNs);

    /** Returns the devices that programs in space sharing see; starts their executors if they do not run. */
    SpaceDevices spaceDevices(long nowNs);

    /** Returns how many clients a tenant may have at once; 0: any number. */
    int clients(String tenant);

    /**
     * Sets how many clients a tenant may have at once, like {@link #terms(String, TenantTerms, boolean, long)} for the other settings.
     *
     * @param most maximum number; 0: any number; empty: the written number
     * @return false if too many tenants would have settings
     */
    boolean clients(String tenant, OptionalInt most);

    /** Removes a program that no longer waits, or does not start. */
    void leaveAdmission(AdmissionWish wish);

    /**
     * Ends the manager after the answer was sent.
     *
     * @param programs true: its clients end first, and executors with everything in them
     */
    void stop(boolean programs, long nowNs);
}
