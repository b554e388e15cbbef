package io.tessera.manager.executors;

import io.tessera.policy.TenantClass;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Of which tenants executors know that they are interactive. One owner thread. */
final class ToldClasses {
    /** More tenants than executors serve. */
    private static final int MOST_TENANTS = 4096;

    private final Function<String, TenantClass> classes;
    private final Map<String, Boolean> told = new HashMap<>();

    /** Nobody knows anything. */
    ToldClasses(Function<String, TenantClass> classes) {
        this.classes = classes;
    }

    /** A tenant is about to come to an executor; whether it is interactive. */
    boolean comes(String tenant) {
        boolean interactive = classes.apply(tenant) == TenantClass.INTERACTIVE;
        if (told.size() < MOST_TENANTS || told.containsKey(tenant)) {
            told.put(tenant, interactive);
        }
        return interactive;
    }

    /** Says of which tenants it has changed since. Returns how many. */
    int changes(BiConsumer<String, Boolean> each) {
        int changes = 0;
        for (Map.Entry<String, Boolean> tenant : told.entrySet()) {
            boolean interactive = classes.apply(tenant.getKey()) == TenantClass.INTERACTIVE;
            if (interactive != tenant.getValue()) {
                tenant.setValue(interactive);
                each.accept(tenant.getKey(), interactive);
                changes++;
            }
        }
        return changes;
    }
}
