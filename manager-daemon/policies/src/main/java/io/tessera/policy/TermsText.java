package io.tessera.policy;

import java.util.Arrays;
import java.util.Locale;

/** Terms as one line of text, which manager and executor exchange: {@code weight=3 priority=0 class=batch ...}. Stateless. */
public final class TermsText {
    private TermsText() {
    }

    /** Returns all terms; equal terms have equal texts. */
    public static String of(TenantTerms terms) {
        return "weight=" + terms.weight() + " priority=" + terms.priority() + " class=" + terms.tenantClass().name().toLowerCase(Locale.ROOT)
                + " hardCap=" + terms.hardCap() + " softCap=" + terms.softCap() + " targetNs=" + terms.targetNs() + " replayable="
                + terms.replayable();
    }

    /**
     * Returns the terms of a text; a term that it does not name is as in {@link TenantTerms#DEFAULT}.
     *
     * @throws IllegalArgumentException if a word is unknown, or a value is out of range
     */
    public static TenantTerms parse(String text) {
        TenantTerms terms = TenantTerms.DEFAULT;
        for (String word : text.split(" ")) {
            String[] parts = word.split("=", -1);
            if (parts.length != 2) {
                throw new IllegalArgumentException("\"" + word + "\" is no NAME=VALUE");
            }
            terms = with(terms, parts[0], parts[1]);
        }
        return terms;
    }

    private static TenantTerms with(TenantTerms terms, String name, String value) {
        return switch (name) {
            case "weight" -> terms.withWeight(Integer.parseInt(value));
            case "priority" -> terms.withPriority(Integer.parseInt(value));
            case "class" -> terms.withClass(tenantClass(value));
            case "hardCap" -> terms.withHardCap(Double.parseDouble(value));
            case "softCap" -> terms.withSoftCap(Double.parseDouble(value));
            case "targetNs" -> terms.withTargetNs(Long.parseLong(value));
            case "replayable" -> terms.withReplayable(replayable(value));
            default -> throw new IllegalArgumentException("a tenant has no \"" + name + "\"");
        };
    }

    private static boolean replayable(String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("replayable is true or false, not \"" + value + "\"");
        };
    }

    private static TenantClass tenantClass(String value) {
        return Arrays.stream(TenantClass.values()).filter(one -> one.name().toLowerCase(Locale.ROOT).equals(value)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no class \"" + value + "\""));
    }
}
