package io.tessera.cli.simulate;

import io.tessera.cli.text.Durations;
import io.tessera.policy.PolicyName;
import io.tessera.policy.simulation.SimulationResult;
import io.tessera.policy.simulation.TenantResult;
import io.tessera.policy.simulation.UsageBuckets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * A picture of the device's use over time, as SVG: time to the right, parts of the device one on the other, the tenants with the largest
 * shares each in a colour of its own, the others together. White parts were unused, or taken by hand-overs and lost work.
 */
final class SharePicture {
    private static final int WIDTH = 960;
    private static final int HEIGHT = 320;
    private static final int LEFT = 60;
    private static final int TOP = 40;
    private static final int LINE = 20;

    /** The colours of Okabe and Ito (2008): to be told apart also by colour-blind people. The last is for the others. */
    private static final List<String> COLOURS = List.of("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999");

    private final SimulationResult result;
    private final UsageBuckets usage;
    private final StringBuilder svg = new StringBuilder();

    private SharePicture(SimulationResult result, UsageBuckets usage) {
        this.result = result;
        this.usage = usage;
    }

    /** The whole file. */
    static String of(PolicyName policy, SimulationResult result, UsageBuckets usage) {
        return new SharePicture(result, usage).draw(policy);
    }

    private String draw(PolicyName policy) {
        List<TenantResult> tenants = result.tenants();
        List<Integer> bySize = new ArrayList<>();
        for (int i = 0; i < tenants.size(); i++) {
            bySize.add(i);
        }
        bySize.sort(Comparator.comparingLong((Integer i) -> tenants.get(i).usedNs()).reversed());
        int named = tenants.size() <= COLOURS.size() ? tenants.size() : COLOURS.size() - 1;
        int entries = named + (tenants.size() > named ? 1 : 0);
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">%n", WIDTH + LEFT + 20,
                HEIGHT + TOP + 50 + entries * LINE);
        add("<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n");
        text(LEFT, TOP - 16, "start", policy.text() + ": parts of the device in windows of " + Durations.format(usage.widthNs()) + ", utilisation "
                + percent(result.utilisation()));
        double[] belowNs = new double[usage.windows()];
        for (int i = 0; i < named; i++) {
            layer(belowNs, bySize.subList(i, i + 1), COLOURS.get(i));
        }
        if (entries > named) {
            layer(belowNs, bySize.subList(named, bySize.size()), COLOURS.getLast());
        }
        axes();
        for (int i = 0; i < named; i++) {
            TenantResult tenant = tenants.get(bySize.get(i));
            entry(i, COLOURS.get(i), tenant.tenant().name() + ": " + percent(result.share(tenant)));
        }
        if (entries > named) {
            entry(named, COLOURS.getLast(), tenants.size() - named + " others");
        }
        return svg.append("</svg>\n").toString();
    }

    /** Some tenants' part of each window, upon those before. */
    private void layer(double[] belowNs, List<Integer> tenants, String colour) {
        StringBuilder path = new StringBuilder();
        for (int window = 0; window < belowNs.length; window++) {
            double usedNs = 0;
            for (int tenant : tenants) {
                usedNs += usage.usedNs(tenant, window);
            }
            if (usedNs > 0) {
                path.append(String.format(Locale.ROOT, "M%.2f %.2fV%.2fH%.2fV%.2fz", x(window), y(belowNs[window]), y(belowNs[window] + usedNs),
                        x(window + 1), y(belowNs[window])));
            }
            belowNs[window] += usedNs;
        }
        add("<path fill=\"%s\" d=\"%s\"/>%n", colour, path);
    }

    private double x(int window) {
        return LEFT + Math.min(WIDTH, (double) WIDTH * window * usage.widthNs() / Math.max(1, result.elapsedNs()));
    }

    private double y(double usedNs) {
        return TOP + HEIGHT * (1 - usedNs / usage.widthNs());
    }

    private void axes() {
        add("<path fill=\"none\" stroke=\"black\" d=\"M%d %dV%dH%d\"/>%n", LEFT, TOP, TOP + HEIGHT, LEFT + WIDTH);
        for (int part = 0; part <= 4; part++) {
            text(LEFT - 6, TOP + HEIGHT - part * HEIGHT / 4 + 4, "end", 25 * part + " %");
            text(LEFT + part * WIDTH / 4, TOP + HEIGHT + 18, "middle", Durations.format(result.elapsedNs() * part / 4));
        }
    }

    private void entry(int row, String colour, String label) {
        int y = TOP + HEIGHT + 34 + row * LINE;
        add("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>%n", LEFT, y, colour);
        text(LEFT + 20, y + 11, "start", label);
    }

    private void text(int x, int y, String anchor, String content) {
        String escaped = content.replaceAll("\\p{Cntrl}", "?").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        add("<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, escaped);
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * part);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
