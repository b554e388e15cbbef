package io.tessera.policy;

/** Kind of work that a tenant does. */
public enum TenantClass {
    /** A person waits for each of its requests. */
    INTERACTIVE,
    /** Its work counts as a whole. */
    BATCH
}
