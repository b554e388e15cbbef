package io.tessera.manager.control;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicyTerm;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Settings of a tenant as JSON (SPEC.md, section 8). Stateless. */
public final class TermsJson {
    private TermsJson() {
    }

    /** Returns all terms. */
    public static JsonObject of(TenantTerms terms) {
        JsonObject json = new JsonObject();
        json.addProperty("weight", terms.weight());
        json.addProperty("priority", terms.priority());
        json.addProperty("class", text(terms.tenantClass()));
        json.addProperty("hardCap", terms.hardCap());
        json.addProperty("softCap", terms.softCap());
        json.addProperty("targetNs", terms.targetNs());
        json.addProperty("replayable", terms.replayable());
        return json;
    }

    /**
     * Returns terms with some of them changed.
     *
     * @throws IllegalArgumentException if a field is unknown or has an invalid value, with a sentence for the requester
     */
    static TenantTerms changed(TenantTerms before, JsonObject set) {
        TenantTerms terms = before;
        for (Map.Entry<String, JsonElement> field : set.entrySet()) {
            JsonElement value = field.getValue();
            terms = switch (field.getKey()) {
                case "weight" -> terms.withWeight(whole("weight", value));
                case "priority" -> terms.withPriority(whole("priority", value));
                case "class" -> terms.withClass(tenantClass(value));
                case "hardCap" -> terms.withHardCap(number("hardCap", value).doubleValue());
                case "softCap" -> terms.withSoftCap(number("softCap", value).doubleValue());
                case "targetNs" -> terms.withTargetNs(exact("targetNs", value, Long.MAX_VALUE));
                case "replayable" -> terms.withReplayable(flag("replayable", value));
                case String other -> throw new IllegalArgumentException("a tenant has no \"" + other
                        + "\": weight, priority, class, hardCap, softCap, targetNs, replayable, clients");
            };
        }
        return terms;
    }

    /** Returns the terms that differ from the default and that none of the policies looks at. */
    static Set<PolicyTerm> unused(TenantTerms terms, Collection<PolicyName> policies) {
        Set<PolicyTerm> unused = EnumSet.noneOf(PolicyTerm.class);
        for (PolicyTerm term : PolicyTerm.values()) {
            if (!term.isEqual(terms, TenantTerms.DEFAULT) && policies.stream().noneMatch(policy -> policy.terms().contains(term))) {
                unused.add(term);
            }
        }
        return unused;
    }

    private static String text(TenantClass tenantClass) {
        return tenantClass.name().toLowerCase(Locale.ROOT);
    }

    private static TenantClass tenantClass(JsonElement value) {
        return Arrays.stream(TenantClass.values()).filter(one -> value.isJsonPrimitive() && text(one).equals(value.getAsString())).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("\"class\" must be interactive or batch"));
    }

    private static boolean flag(String field, JsonElement value) {
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isBoolean()) {
            throw new IllegalArgumentException("\"" + field + "\" must be true or false");
        }
        return value.getAsBoolean();
    }

    private static int whole(String field, JsonElement value) {
        return (int) exact(field, value, Integer.MAX_VALUE);
    }

    private static long exact(String field, JsonElement value, long most) {
        BigDecimal number = number(field, value);
        if (number.stripTrailingZeros().scale() > 0 || number.abs().compareTo(BigDecimal.valueOf(most)) > 0) {
            throw new IllegalArgumentException("\"" + field + "\" must be a whole number of at most " + most);
        }
        return number.longValueExact();
    }

    private static BigDecimal number(String field, JsonElement value) {
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isNumber()) {
            throw new IllegalArgumentException("\"" + field + "\" must be a number");
        }
        BigDecimal number = value.getAsBigDecimal();
        if (Math.abs(number.scale()) > MOST_DIGITS) {
            throw new IllegalArgumentException("\"" + field + "\" has too many digits");
        }
        return number;
    }

    /** Maximum number of digits; a number with a larger exponent is a mistake, and would take long to write out. */
    private static final int MOST_DIGITS = 30;
}
