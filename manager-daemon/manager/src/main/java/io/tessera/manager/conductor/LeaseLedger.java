package io.tessera.manager.conductor;

/**
 * The arithmetic of limits: what each client of a tenant may use of a device without asking. The sum of a tenant's leases
 * never exceeds its limit. Bytes; one owner thread.
 */
public interface LeaseLedger {
    /** A client of a tenant is on a device, with a lease of 0. */
    void join(String tenant, String device, long clientId);

    /** It is gone; its lease is free. */
    void leave(String device, long clientId);

    /** Sets the limit of a tenant on a device; above 0. */
    void limit(String tenant, String device, long bytes);

    /**
     * Raises a client's lease by what it needs, if the limit has room.
     *
     * @return whether it was raised; if not, others may give back what they do not use
     */
    boolean ask(String device, long clientId, long needBytes);

    /** A client lowered its lease. */
    void returned(String device, long clientId, long grantedBytes);

    /** A client's lease now. */
    long leaseBytes(String device, long clientId);
}
