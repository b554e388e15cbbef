package io.tessera.cli.fence;

import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Shows a kernel's PTX before and after fencing, with the new lines marked. Stateless. */
final class KernelText {
    private KernelText() {
    }

    /**
     * Returns the lines to print; empty if the image has no function of that name.
     *
     * @throws FenceRefusedException if the kernel or its module cannot be fenced
     */
    static Optional<List<String>> of(FoundImage image, String name, ComputeCapability gpu, ImageFencer.Fencing fencing,
            Style style) throws FenceRefusedException {
        PtxModule module;
        try {
            module = PtxParser.parse(image.image().ptx(gpu, ModuleImage.DEFAULT_CAP_BYTES));
        } catch (ImageException | PtxException e) {
            return Optional.empty(); // the report names images that cannot be read; here, only a kernel is wanted
        }
        Optional<PtxFunction> original = function(module, name);
        if (original.isEmpty()) {
            return Optional.empty();
        }
        FencedModule fenced = fencing.fence(module, image.isRelocatable());
        FenceRefusedException refused = fenced.refused().get(name);
        if (refused != null) {
            throw refused;
        }
        List<String> before = text(module, original.get());
        List<String> after = text(fenced.module(), function(fenced.module(), name).orElse(original.get()));
        List<String> lines = new ArrayList<>();
        lines.add(style.apply(Emphasis.HEADING, name + ", before"));
        before.forEach(line -> lines.add("  " + line));
        lines.add("");
        lines.add(style.apply(Emphasis.HEADING, name + ", after (" + fenced.mode().name().toLowerCase(Locale.ROOT)
                + "); new and changed lines begin with +"));
        compare(before, after, style, lines);
        return Optional.of(lines);
    }

    private static void compare(List<String> before, List<String> after, Style style, List<String> into) {
        boolean[] kept = LineComparison.kept(before, after);
        for (int i = 0; i < after.size(); i++) {
            into.add(kept[i] ? "  " + after.get(i) : style.apply(Emphasis.GOOD, "+ " + after.get(i)));
        }
    }

    private static Optional<PtxFunction> function(PtxModule module, String name) {
        return module.functions().stream().filter(f -> f.name().equals(name) && f.body().isPresent()).findFirst();
    }

    /** Returns the function alone, as the printer writes it in a module. */
    private static List<String> text(PtxModule module, PtxFunction function) {
        List<Directive> only = List.of(function);
        String text = PtxPrinter.print(new PtxModule(module.version(), module.targets(), module.addressBits(), only));
        return text.substring(text.indexOf("\n\n") + 2).stripTrailing().lines().toList();
    }
}
