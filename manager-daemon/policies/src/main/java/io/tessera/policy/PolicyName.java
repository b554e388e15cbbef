package io.tessera.policy;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The policies by the names that operators use; creates them. */
public enum PolicyName {
    /** {@link FifoPolicy}. */
    FIFO("first come, first served; long kernels get more of the device", FifoPolicy::new),
    /** {@link RoundRobinPolicy}. */
    ROUND_ROBIN("turns in order, with lengths by weight, less what earlier turns took too much", RoundRobinPolicy::new, PolicyTerm.WEIGHT),
    /** {@link CreditPolicy}. */
    CREDIT("credit is handed out every period; tenants with credit go first", CreditPolicy::new, PolicyTerm.WEIGHT),
    /** {@link BandPolicy}. */
    BAND("as credit, and the device waits a moment for a tenant that has had too little", BandPolicy::new, PolicyTerm.WEIGHT),
    /** {@link FairPolicy}. */
    FAIR("weighted fair queueing: the tenant that has had the least for its weight is next", FairPolicy::new, PolicyTerm.WEIGHT),
    /** {@link PriorityPolicy}. */
    PRIORITY("interactive tenants first, then by priority; waiting raises a tenant's priority", PriorityPolicy::new, PolicyTerm.PRIORITY,
            PolicyTerm.CLASS),
    /** {@link ElasticPolicy}. */
    ELASTIC("interactive tenants get as much of each period as their targets need, batch tenants the rest", ElasticPolicy::new, PolicyTerm.CLASS,
            PolicyTerm.TARGET),
    /** {@link DeadlinePolicy}. */
    DEADLINE("the earliest deadline is next; a tenant that uses more than its part is put off", DeadlinePolicy::new, PolicyTerm.WEIGHT,
            PolicyTerm.CLASS,
            PolicyTerm.TARGET);

    private final String summary;
    private final Function<PolicySettings, SchedulingPolicy> maker;
    private final List<PolicyTerm> terms;

    PolicyName(String summary, Function<PolicySettings, SchedulingPolicy> maker, PolicyTerm... terms) {
        this.summary = summary;
        this.maker = maker;
        this.terms = List.of(terms);
    }

    /** Returns the terms of a tenant that the policy looks at, apart from caps. */
    public List<PolicyTerm> terms() {
        return terms;
    }

    /** Returns whether two tenants are equal in everything that the policy looks at, apart from caps. */
    public boolean treatsAlike(TenantTerms one, TenantTerms other) {
        return terms.stream().allMatch(term -> term.isEqual(one, other));
    }

    /** Returns the policy with a name; empty: there is none. */
    public static Optional<PolicyName> of(String text) {
        return Arrays.stream(values()).filter(name -> name.text().equals(text)).findFirst();
    }

    /** Returns all names, separated by commas. */
    public static String all() {
        return Arrays.stream(values()).map(PolicyName::text).collect(Collectors.joining(", "));
    }

    /** Returns the name that operators use: {@code round-robin}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns a description in one line. */
    public String summary() {
        return summary;
    }

    /** Creates a policy without tenants, which also enforces the tenants' caps. */
    public SchedulingPolicy make(PolicySettings settings) {
        return new CappedPolicy(maker.apply(settings), settings.quantumNs());
    }
}
