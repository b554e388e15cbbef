package io.tessera.cli.fence.machine;

import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Formats the effect of fences on machine code for people. Stateless. */
final class MachineText {
    private static final int NAME_WIDTH = 60;

    private MachineText() {
    }

    /**
     * The lines of one image.
     *
     * @param all whether every function is listed; otherwise only refused ones are
     */
    static List<String> image(String file, CubinOutcome outcome, boolean all, Style style) {
        List<String> lines = new ArrayList<>();
        List<FunctionFence> refused = outcome.functions().stream().filter(function -> !function.isFenced()).toList();
        if (!outcome.hasCode() || !all && refused.isEmpty() && outcome.refused() == null) {
            return lines;
        }
        lines.add(style.apply(Emphasis.HEADING, TextTable.printable(file) + ", " + TextTable.printable(outcome.where()) + " at 0x"
                + Long.toHexString(outcome.place()) + size(outcome)));
        if (outcome.refused() != null) {
            lines.add("  " + style.apply(Emphasis.BAD, "refused") + ": " + TextTable.printable(outcome.refused()));
        }
        if (all && !outcome.functions().isEmpty()) {
            lines.addAll(table(outcome.functions(), style));
        }
        refused.forEach(function -> lines
                .add("  " + style.apply(Emphasis.BAD, "refused") + ": " + shortened(function.report().name()) + ": " + refusal(function)));
        if (all) {
            outcome.functions().stream().filter(FunctionFence::isFenced).forEach(function -> notes(function, lines, style));
        }
        return lines;
    }

    private static String size(CubinOutcome outcome) {
        return outcome.code().cubin() == null ? "" : ", " + Sizes.format(outcome.code().cubin().length) + " for sm_" + DeviceCode.SM;
    }

    private static List<String> table(List<FunctionFence> functions, Style style) {
        TextTable table = new TextTable().column("KERNEL", Side.LEFT).column("ACCESSES", Side.RIGHT).column("INSERTED", Side.RIGHT)
                .column("FENCED", Side.LEFT);
        for (FunctionFence function : functions) {
            boolean fenced = function.isFenced();
            table.row(List.of(Cell.of((function.report().kernel() ? "" : "(function) ") + shortened(function.report().name())),
                    Cell.of(number(function.report().accesses())), Cell.of(number(function.report().inserted())),
                    new Cell(!fenced ? "no" : function.trusted() == null ? "yes" : "on trust", fenced ? Emphasis.NONE : Emphasis.BAD)));
        }
        return table.lines("  ", style);
    }

    private static String number(int count) {
        return count == 0 ? "-" : Integer.toString(count);
    }

    /** Returns why a function is not fenced, and names the verifier if that has refused it. */
    static String refusal(FunctionFence function) {
        return TextTable.printable(function.refusal()) + (function.verified() ? " (the verifier; offsets of the fenced code)" : "");
    }

    /** Returns what is assumed without verification; its offset is the verifier's. */
    static String trusted(FunctionFence function) {
        return TextTable.printable(function.trusted()) + (function.trusted().contains(" at offset ") ? " of the fenced code" : "");
    }

    private static void notes(FunctionFence function, List<String> lines, Style style) {
        if (function.trusted() != null) {
            lines.add("  " + style.apply(Emphasis.CAUTION, "on trust") + ": " + shortened(function.report().name()) + ": "
                    + trusted(function));
        }
        if (function.waits() != null) {
            lines.add("  waits for blocks: " + shortened(function.report().name()) + ": " + TextTable.printable(function.waits())
                    + (function.waits().contains(" at offset ") ? " of the fenced code" : ""));
        }
        if (!function.maps().isEmpty()) {
            lines.add("  tensor maps: " + shortened(function.report().name()) + ": " + maps(function.maps()));
        }
    }

    /** Returns the locations of tensor maps. */
    static String maps(TensorMapPlaces maps) {
        List<String> parts = new ArrayList<>();
        if (!maps.single().isEmpty()) {
            parts.add("at " + offsets(maps.single()));
        }
        if (!maps.many().isEmpty()) {
            parts.add("several from " + offsets(maps.many()) + " on");
        }
        return String.join(", ", parts) + " in the parameters" + (maps.conditional() ? ", by a condition" : "");
    }

    private static String offsets(Set<Integer> offsets) {
        return offsets.stream().sorted().map(offset -> "0x" + Integer.toHexString(offset)).collect(Collectors.joining(", "));
    }

    private static String shortened(String name) {
        String printable = TextTable.printable(name);
        return printable.length() <= NAME_WIDTH ? printable : printable.substring(0, NAME_WIDTH - 3) + "...";
    }

    /** Returns the last lines: sums over all images. */
    static List<String> totals(MachineTotals totals, String window, Style style) {
        int refused = totals.kernels() - totals.fenced();
        List<String> lines = new ArrayList<>();
        lines.add(style.apply(Emphasis.HEADING,
                totals.images() + " images with machine code for sm_" + DeviceCode.SM + " (" + Sizes.format(totals.bytes())
                        + "), " + totals.kernels() + " kernels: " + totals.fenced() + " fenced, " + refused + " refused; " + window));
        lines.add("  " + totals.accesses() + " accesses to global memory, " + totals.inserted() + " instructions inserted");
        listed("images refused", totals.refusedImages(), lines);
        listed("refused", totals.refused(), lines);
        listed("on trust", totals.trusted(), lines);
        if (totals.waiting() > 0) {
            lines.add("  " + totals.waiting()
                    + " kernels may wait for other blocks of their grid, so that they are not confined to a part of the processors");
        }
        if (totals.tensorMaps() > 0) {
            lines.add("  " + totals.tensorMaps() + " kernels copy by tensor maps; each launch checks the maps");
        }
        return lines;
    }

    private static void listed(String what, Map<String, Integer> counts, List<String> lines) {
        counts.entrySet().stream().sorted(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .forEach(one -> lines.add("  " + what + ": " + one.getValue() + "  " + TextTable.printable(one.getKey())));
    }
}
