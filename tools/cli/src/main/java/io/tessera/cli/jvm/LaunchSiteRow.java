package io.tessera.cli.jvm;

import javax.management.openmbean.CompositeData;

/**
 * Launches of one kernel, or calls of one library function, from one call site.
 *
 * @param kernel   kernel, function, or {@code [copy ...]}
 * @param site     {@code class.method:line}, or {@code unsampled}
 * @param launches number of launches
 * @param bytes    bytes moved by copies
 */
record LaunchSiteRow(String kernel, String site, long launches, long bytes) {
    /** Converts a row of the bean. */
    static LaunchSiteRow of(CompositeData row) {
        return new LaunchSiteRow((String) row.get("kernel"), (String) row.get("site"), (Long) row.get("launches"),
                (Long) row.get("bytes"));
    }
}
