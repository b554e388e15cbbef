package io.tessera.cli.simulate;

import io.tessera.cli.text.Durations;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The fields {@code key=value} of one line. Each can be taken once; {@link #end} reports those that were not taken. Errors are
 * IllegalArgumentExceptions with a message for the user.
 */
final class TraceFields {
    private final Map<String, String> values = new LinkedHashMap<>();

    /** Creates the fields of a line's words, from the third one. */
    TraceFields(String[] words) {
        for (int i = 2; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 1 || equals == words[i].length() - 1) {
                throw new IllegalArgumentException(words[i] + " is no field: key=value is meant, without blanks");
            }
            if (values.put(words[i].substring(0, equals), words[i].substring(equals + 1)) != null) {
                throw new IllegalArgumentException(words[i].substring(0, equals) + " is there twice");
            }
        }
    }

    /** Takes a required time. */
    long timeNs(String key) {
        if (!values.containsKey(key)) {
            throw new IllegalArgumentException(key + "=TIME is missing");
        }
        return timeNs(key, 0);
    }

    /** Takes a time, or returns a default. */
    long timeNs(String key, long otherwise) {
        String text = values.remove(key);
        if (text == null) {
            return otherwise;
        }
        OptionalLong ns = Durations.parseNs(text);
        if (ns.isEmpty()) {
            throw new IllegalArgumentException(key + "=" + text + ": " + Durations.ACCEPTED);
        }
        return ns.getAsLong();
    }

    /** Takes a whole number, or returns a default. */
    long number(String key, long otherwise) {
        String text = values.remove(key);
        if (text == null) {
            return otherwise;
        }
        if (!text.matches("-?\\d{1,18}")) {
            throw new IllegalArgumentException(key + "=" + text + ": a whole number is meant");
        }
        return Long.parseLong(text);
    }

    private int smallNumber(String key, int otherwise) {
        return Math.clamp(number(key, otherwise), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    private double part(String key, double otherwise) {
        String text = values.remove(key);
        if (text == null) {
            return otherwise;
        }
        if (!text.matches("\\d{1,9}(\\.\\d{1,9})?%?")) {
            throw new IllegalArgumentException(key + "=" + text + ": a part is meant, for example 0.5 or 50%");
        }
        boolean percent = text.endsWith("%");
        BigDecimal number = new BigDecimal(percent ? text.substring(0, text.length() - 1) : text);
        return (percent ? number.movePointLeft(2) : number).doubleValue();
    }

    private TenantClass tenantClass(TenantClass otherwise) {
        String text = values.remove("class");
        return text == null ? otherwise : switch (text) {
            case "interactive" -> TenantClass.INTERACTIVE;
            case "batch" -> TenantClass.BATCH;
            default -> throw new IllegalArgumentException("class=" + text + ": interactive or batch is meant");
        };
    }

    /** Takes a tenant's terms; missing ones stay unchanged. */
    TenantTerms terms(TenantTerms before) {
        return new TenantTerms(smallNumber("weight", before.weight()), smallNumber("priority", before.priority()), tenantClass(before.tenantClass()),
                part("hard-cap", before.hardCap()), part("soft-cap", before.softCap()), timeNs("target", before.targetNs()), before.replayable());
    }

    /** Returns whether all fields were taken. */
    boolean isEmpty() {
        return values.isEmpty();
    }

    /** Throws an error that names the fields that were not taken. */
    void end(String accepted) {
        if (!values.isEmpty()) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "there is no field %s here; there are: %s", values.keySet().iterator().next(),
                            accepted));
        }
    }
}
