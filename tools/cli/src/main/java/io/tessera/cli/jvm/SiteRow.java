package io.tessera.cli.jvm;

import javax.management.openmbean.CompositeData;

/**
 * Live memory of one call site.
 *
 * @param site     {@code class.method:line}, or {@code unsampled}
 * @param kind     device, pinned, managed or array
 * @param count    allocations
 * @param bytes    their size
 * @param oldestMs age of the oldest, milliseconds
 */
record SiteRow(String site, String kind, long count, long bytes, long oldestMs) {
    /** The bean's row. */
    static SiteRow of(CompositeData row) {
        return new SiteRow((String) row.get("site"), (String) row.get("kind"), (Long) row.get("count"),
                (Long) row.get("bytes"), (Long) row.get("oldestAgeMillis"));
    }
}
