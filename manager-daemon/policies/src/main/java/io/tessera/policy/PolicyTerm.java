package io.tessera.policy;

import java.util.Locale;
import java.util.function.Function;

/** A field of {@link TenantTerms} that a policy may look at. All policies enforce caps. */
public enum PolicyTerm {
    /** {@link TenantTerms#weight}. */
    WEIGHT(TenantTerms::weight),
    /** {@link TenantTerms#priority}. */
    PRIORITY(TenantTerms::priority),
    /** {@link TenantTerms#tenantClass}. */
    CLASS(TenantTerms::tenantClass),
    /** {@link TenantTerms#targetNs}. */
    TARGET(TenantTerms::targetNs);

    private final Function<TenantTerms, Object> value;

    PolicyTerm(Function<TenantTerms, Object> value) {
        this.value = value;
    }

    /** Returns whether it is the same for both. */
    public boolean isEqual(TenantTerms one, TenantTerms other) {
        return value.apply(one).equals(value.apply(other));
    }

    /** Returns the name that operators use. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
