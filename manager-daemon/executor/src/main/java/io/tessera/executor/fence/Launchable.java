package io.tessera.executor.fence;

import io.tessera.guardian.fence.LaunchCheck;

/** What is known of a kernel of a client, attached to its handle. One owner thread. */
final class Launchable {
    /** Its name, for logs. */
    final String name;
    /** Its module; null: it runs as it is, and its pointers are checked. */
    final TenantModule module;
    /** Where among its packed parameters tensor maps lie; below 0: nobody knows. */
    final long[] tensorMaps;
    /** Length of its packed parameters. */
    final long parameterBytes;
    /** The driver's function without fences; 0: not asked for yet. */
    long aloneFunction;
    /** Its second entry, for launches that keep to its terms; null: it has none. */
    final LaunchCheck check;
    /** The driver's function of that; 0: not asked for yet, or what the program has set since is not set of it. */
    long checkedFunction;
    /** The same as the driver found it; 0: not asked for yet. */
    long foundFunction;
    /** Whether it was launched. */
    boolean launched;

    Launchable(String name, TenantModule module, long[] tensorMaps, long parameterBytes, LaunchCheck check) {
        this.check = check;
        this.tensorMaps = tensorMaps;
        this.parameterBytes = parameterBytes;
        this.name = name;
        this.module = module;
    }
}
