package io.tessera.executor.fence;

/** What is known of a kernel of a client, attached to its handle. One owner thread. */
final class Launchable {
    /** Its name, for logs. */
    final String name;
    /** Its module; null: it runs as it is, and its pointers are checked. */
    final TenantModule module;
    /** The driver's function without fences; 0: not asked for yet. */
    long aloneFunction;

    Launchable(String name, TenantModule module) {
        this.name = name;
        this.module = module;
    }
}
