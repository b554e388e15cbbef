package io.tessera.cli.jvm;

import javax.management.openmbean.CompositeData;

/**
 * A live allocation that is older than the requested age.
 *
 * @param site           {@code class.method:line}, or {@code unsampled}
 * @param kind           device, pinned, managed or array
 * @param bytes          its size
 * @param ageMs          its age, milliseconds
 * @param ownerCollected whether the Java object that held its address is gone
 */
record OldAllocation(String site, String kind, long bytes, long ageMs, boolean ownerCollected) {
    /** Converts a row of the bean. */
    static OldAllocation of(CompositeData row) {
        return new OldAllocation((String) row.get("site"), (String) row.get("kind"), (Long) row.get("bytes"),
                (Long) row.get("ageMillis"), (Boolean) row.get("ownerCollected"));
    }
}
