package io.tessera.cli.simulate;

import io.tessera.policy.TenantTerms;
import io.tessera.policy.simulation.RequestLoop;
import io.tessera.policy.simulation.SchedulingTrace;
import io.tessera.policy.simulation.TermsChange;
import io.tessera.policy.simulation.TraceSubmission;
import io.tessera.policy.simulation.TraceTenant;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads traces: text in lines, of which each is a record or, beginning with {@code #}, a comment.
 *
 * <pre>
 * tenant  NAME [weight=N] [priority=N] [class=interactive|batch] [target=TIME] [hard-cap=PART] [soft-cap=PART]
 * request NAME at=TIME length=TIME
 * loop    NAME length=TIME [gap=TIME] [depth=N] [requests=N] [from=TIME] [until=TIME]
 * set     NAME at=TIME, and what of the tenant's changes
 * </pre>
 *
 * <p>A tenant comes before its other records. Used once. Not thread-safe.
 */
final class TraceParser {
    /** The fields of a record, for messages and the command's help. */
    static final String TENANT_FIELDS = "weight, priority, class, target, hard-cap, soft-cap";
    private static final String LOOP_FIELDS = "length, gap, depth, requests, from, until";

    private final String name;
    private final Map<String, Integer> indices = new HashMap<>();
    private final List<TraceTenant> tenants = new ArrayList<>();
    private final List<TraceSubmission> submissions = new ArrayList<>();
    private final List<RequestLoop> loops = new ArrayList<>();
    private final List<TermsChange> changes = new ArrayList<>();
    /** The latest change of terms, by tenant. */
    private final Map<Integer, TermsChange> lastChanges = new HashMap<>();

    private TraceParser(String name) {
        this.name = name;
    }

    /**
     * Reads a trace to its end.
     *
     * @param name name of the trace in messages
     * @throws MalformedTraceException if a line is malformed, or there is no tenant
     */
    static SchedulingTrace read(String name, BufferedReader lines) throws IOException {
        TraceParser parser = new TraceParser(name);
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            parser.take(line.strip(), number);
        }
        if (parser.tenants.isEmpty()) {
            throw new MalformedTraceException(name + ": there is no tenant in this trace; a line like \"tenant alice weight=2\" is one");
        }
        return new SchedulingTrace(parser.tenants, parser.submissions, parser.loops, parser.changes);
    }

    private void take(String line, int number) throws MalformedTraceException {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        try {
            record(line.split("\\s+"));
        } catch (IllegalArgumentException problem) {
            throw new MalformedTraceException(name + ", line " + number + ": " + problem.getMessage());
        }
    }

    private void record(String[] words) {
        if (!List.of("tenant", "request", "loop", "set").contains(words[0])) {
            throw new IllegalArgumentException(words[0] + " begins no record: tenant, request, loop, set and # do");
        }
        if (words.length < 2 || words[1].contains("=")) {
            throw new IllegalArgumentException(words[0] + " is followed by a tenant's name");
        }
        TraceFields fields = new TraceFields(words);
        switch (words[0]) {
            case "tenant" -> tenant(words[1], fields);
            case "request" -> request(index(words[1]), fields);
            case "loop" -> loop(index(words[1]), fields);
            default -> change(index(words[1]), fields);
        }
    }

    private int index(String tenant) {
        Integer index = indices.get(tenant);
        if (index == null) {
            throw new IllegalArgumentException("there is no tenant " + tenant + " above this line");
        }
        return index;
    }

    private void tenant(String tenant, TraceFields fields) {
        TenantTerms terms = fields.terms(TenantTerms.DEFAULT);
        fields.end(TENANT_FIELDS);
        if (indices.putIfAbsent(tenant, tenants.size()) != null) {
            throw new IllegalArgumentException("tenant " + tenant + " is there twice; set changes one");
        }
        tenants.add(new TraceTenant(tenant, terms));
    }

    private void request(int tenant, TraceFields fields) {
        long atNs = fields.timeNs("at");
        long lengthNs = lengthNs(fields);
        fields.end("at, length");
        submissions.add(new TraceSubmission(atNs, tenant, lengthNs));
    }

    private static long lengthNs(TraceFields fields) {
        long lengthNs = fields.timeNs("length");
        if (lengthNs == 0) {
            throw new IllegalArgumentException("a request takes longer than 0");
        }
        return lengthNs;
    }

    private void loop(int tenant, TraceFields fields) {
        long lengthNs = lengthNs(fields);
        long gapNs = fields.timeNs("gap", 0);
        long depth = fields.number("depth", 1);
        long requests = fields.number("requests", Long.MAX_VALUE);
        long fromNs = fields.timeNs("from", 0);
        long untilNs = fields.timeNs("until", Long.MAX_VALUE);
        fields.end(LOOP_FIELDS);
        if (depth < 1 || depth > 1_000_000 || requests < 1) {
            throw new IllegalArgumentException("depth is from 1 to 1000000, requests is at least 1");
        }
        if (untilNs < fromNs) {
            throw new IllegalArgumentException("until is before from");
        }
        loops.add(new RequestLoop(fromNs, untilNs, tenant, lengthNs, gapNs, (int) depth, requests));
    }

    private void change(int tenant, TraceFields fields) {
        long atNs = fields.timeNs("at");
        if (fields.isEmpty()) {
            throw new IllegalArgumentException("set changes nothing here; it can change: " + TENANT_FIELDS);
        }
        TermsChange last = lastChanges.get(tenant);
        if (last != null && last.atNs() > atNs) {
            throw new IllegalArgumentException("a tenant's changes stand in the order of their times");
        }
        TermsChange change = new TermsChange(atNs, tenant, fields.terms(last == null ? tenants.get(tenant).terms() : last.terms()));
        fields.end("at, " + TENANT_FIELDS);
        lastChanges.put(tenant, change);
        changes.add(change);
    }
}
