package io.tessera.cli.simulate;

import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.simulation.SimulationResult;
import io.tessera.policy.simulation.TenantResult;
import io.tessera.policy.simulation.WaitSamples;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Results for people. Stateless. */
final class SimulationText {
    /** Rows of tenants; JSON has all. */
    private static final int MOST_ROWS = 20;

    private SimulationText() {
    }

    /** One policy: the device, then its tenants, those with the largest shares if they are many. */
    static List<String> of(PolicyName policy, SimulationResult result, Style style) {
        WaitSamples waits = result.waits();
        List<String> lines = new ArrayList<>();
        lines.add(policy.text() + ": " + Durations.format(result.elapsedNs()) + ", " + result.turns() + " turns, utilisation "
                + percent(result.utilisation()) + ", hand-overs " + percent(part(result.handoverNs(), result.elapsedNs())) + ", lost "
                + percent(part(result.lostNs(), result.elapsedNs())));
        lines.add("waits: median " + Durations.format(waits.percentileNs(50)) + ", 99th percentile " + Durations.format(waits.percentileNs(99))
                + ", longest " + Durations.format(waits.longestNs()));
        lines.add("");
        lines.addAll(tenants(result).lines("", style));
        int left = result.tenants().size() - MOST_ROWS;
        if (left > 0) {
            lines.add("and " + left + " more; --json has all");
        }
        return lines;
    }

    private static TextTable tenants(SimulationResult result) {
        TextTable table = new TextTable().column("TENANT", Side.LEFT).column("CLASS", Side.LEFT).column("WEIGHT", Side.RIGHT)
                .column("SHARE", Side.RIGHT).column("REQUESTS", Side.RIGHT).column("LEFT", Side.RIGHT).column("WAIT 50%", Side.RIGHT)
                .column("WAIT 99%", Side.RIGHT).column("IN TIME", Side.RIGHT).column("STOPPED", Side.RIGHT);
        List<TenantResult> shown = result.tenants().size() <= MOST_ROWS ? result.tenants()
                : result.tenants().stream().sorted(Comparator.comparingLong(TenantResult::usedNs).reversed()).limit(MOST_ROWS).toList();
        for (TenantResult tenant : shown) {
            table.row(List.of(Cell.of(tenant.tenant().name()), Cell.of(tenant.tenant().terms().tenantClass().name().toLowerCase(Locale.ROOT)),
                    Cell.of(Integer.toString(tenant.tenant().terms().weight())), Cell.of(percent(result.share(tenant))),
                    Cell.of(Long.toString(tenant.requests())), Cell.of(Long.toString(tenant.unfinished())),
                    Cell.of(Durations.format(tenant.waits().percentileNs(50))), Cell.of(Durations.format(tenant.waits().percentileNs(99))),
                    Cell.of(percent(part(tenant.inTime(), tenant.requests() + tenant.unfinished()))),
                    Cell.of(Long.toString(tenant.revocations()))));
        }
        return table;
    }

    /** Several policies: a row each. */
    static List<String> compared(Map<PolicyName, SimulationResult> results, Style style) {
        TextTable table = new TextTable().column("POLICY", Side.LEFT).column("TIME", Side.RIGHT).column("TURNS", Side.RIGHT)
                .column("UTILISATION", Side.RIGHT).column("HAND-OVERS", Side.RIGHT).column("LOST", Side.RIGHT).column("WAIT 50%", Side.RIGHT)
                .column("WAIT 99%", Side.RIGHT).column("INTERACTIVE IN TIME", Side.RIGHT).column("LARGEST SHARES", Side.LEFT);
        results.forEach((policy, result) -> {
            WaitSamples waits = result.waits();
            table.row(List.of(Cell.of(policy.text()), Cell.of(Durations.format(result.elapsedNs())), Cell.of(Long.toString(result.turns())),
                    Cell.of(percent(result.utilisation())), Cell.of(percent(part(result.handoverNs(), result.elapsedNs()))),
                    Cell.of(percent(part(result.lostNs(), result.elapsedNs()))), Cell.of(Durations.format(waits.percentileNs(50))),
                    Cell.of(Durations.format(waits.percentileNs(99))), Cell.of(interactive(result)), Cell.of(shares(result))));
        });
        return table.lines("", style);
    }

    private static String interactive(SimulationResult result) {
        boolean any = result.tenants().stream().anyMatch(SimulationText::isInteractive);
        return any ? percent(result.inTime(TenantClass.INTERACTIVE)) : "-";
    }

    private static boolean isInteractive(TenantResult result) {
        return result.tenant().terms().tenantClass() == TenantClass.INTERACTIVE;
    }

    private static String shares(SimulationResult result) {
        return String.join(" ", result.tenants().stream().sorted(Comparator.comparingLong(TenantResult::usedNs).reversed()).limit(3)
                .map(tenant -> tenant.tenant().name() + " " + percent(result.share(tenant))).toList());
    }

    private static double part(long some, long all) {
        return all == 0 ? 0 : (double) some / all;
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * part);
    }
}
