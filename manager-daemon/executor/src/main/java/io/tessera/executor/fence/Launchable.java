package io.tessera.executor.fence;

/** What is known of a kernel of a client, attached to its handle. One owner thread. */
final class Launchable {
    /** Its name, for logs. */
    final String name;
    /** Its module; null: it runs as it is, and its pointers are checked. */
    final TenantModule module;
    /** Where among its packed parameters tensor maps lie; below 0: nobody knows. */
    final long[] tensorMaps;
    /** The driver's function without fences; 0: not asked for yet. */
    long aloneFunction;

    Launchable(String name, TenantModule module, long[] tensorMaps) {
        this.tensorMaps = tensorMaps;
        this.name = name;
        this.module = module;
    }
}
