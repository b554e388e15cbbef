package io.tessera.policy;

/** What kind of work a tenant does. */
public enum TenantClass {
    /** Somebody waits for each of its requests. */
    INTERACTIVE,
    /** Its work counts as a whole. */
    BATCH
}
