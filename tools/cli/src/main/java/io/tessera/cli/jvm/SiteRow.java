package io.tessera.cli.jvm;

import javax.management.openmbean.CompositeData;

/**
 * Live memory of one call site.
 *
 * @param site     {@code class.method:line}, or {@code unsampled}
 * @param kind     device, pinned, managed or array
 * @param count    number of allocations
 * @param bytes    their total size
 * @param oldestMs age of the oldest, milliseconds
 */
record SiteRow(String site, String kind, long count, long bytes, long oldestMs) {
    /** Converts a row of the bean. */
    static SiteRow of(CompositeData row) {
        return new SiteRow((String) row.get("site"), (String) row.get("kind"), (Long) row.get("count"),
                (Long) row.get("bytes"), (Long) row.get("oldestAgeMillis"));
    }
}
