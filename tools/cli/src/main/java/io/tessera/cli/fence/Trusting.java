package io.tessera.cli.fence;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.guardian.image.FatBinary;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.trust.TrustList;
import io.tessera.guardian.trust.TrustLocation;
import io.tessera.guardian.trust.TrustedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** Changes and shows the list of images that run unfenced under the policy {@code trusted}. One thread. */
final class Trusting {
    private final CommandContext context;
    private final Path file;
    private final LocalDate today;

    /** For a user's list. */
    Trusting(CommandContext context, LocalDate today) {
        this.context = context;
        this.today = today;
        file = TrustLocation.of(context.environment(), context.uid(), home(context));
    }

    /** The user's home directory. */
    static Path home(CommandContext context) {
        return Path.of(context.environment().getOrDefault("HOME", System.getProperty("user.home", "/")));
    }

    /** Trusts every image with machine code in some files; false if one has none. */
    boolean trust(List<Path> files) throws IOException {
        boolean all = true;
        TrustList list = TrustList.read(file);
        for (Path library : files) {
            List<TrustedImage> images = new ArrayList<>();
            try (Arena arena = Arena.ofShared()) {
                for (FoundImage image : FenceRun.scan(library, arena)) {
                    if (hasMachineCode(image)) {
                        images.add(new TrustedImage(image.image().hash(), today,
                                library.toAbsolutePath() + " " + image.where() + " 0x" + Long.toHexString(image.offset())));
                    }
                }
            } catch (ImageException e) {
                throw new IOException(library + ": " + e.getMessage(), e);
            }
            all &= !images.isEmpty();
            list = list.with(images);
            context.out().println(library + ": " + (images.isEmpty() ? "no image with machine code"
                    : images.size() + " images are trusted"));
        }
        list.write(file);
        return all;
    }

    private static boolean hasMachineCode(FoundImage image) throws ImageException {
        return switch (image.kind()) {
            case CUBIN -> true;
            case FAT_BINARY -> FatBinary.parse(image.mapped()).entries().stream()
                    .anyMatch(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN);
            case PTX, LTO_IR, UNKNOWN -> false;
        };
    }

    /** Takes images out of the list, by their hash or by the file that they are from; false if one is not there. */
    boolean untrust(List<String> names) throws IOException {
        boolean all = true;
        TrustList list = TrustList.read(file);
        for (String name : names) {
            String path = Path.of(name).toAbsolutePath().toString();
            TrustList rest = list.without(image -> image.hash().equals(name) || image.name().startsWith(path + " "));
            int gone = list.images().size() - rest.images().size();
            context.out().println(name + ": " + gone + " images are no longer trusted");
            all &= gone > 0;
            list = rest;
        }
        list.write(file);
        return all;
    }

    /** Prints the list. */
    void show() throws IOException {
        TextTable table = new TextTable().column("SINCE", TextTable.Side.LEFT).column("HASH", TextTable.Side.LEFT)
                .column("IMAGE", TextTable.Side.LEFT);
        List<TrustedImage> images = List.copyOf(TrustList.read(file).images());
        for (TrustedImage image : images) {
            table.row(List.of(TextTable.Cell.of(image.since().toString()),
                    new TextTable.Cell(image.hash(), Emphasis.FAINT), TextTable.Cell.of(image.name())));
        }
        if (images.isEmpty()) {
            context.out().println("no image is trusted (" + file + ")");
        } else {
            table.lines("", context.style()).forEach(context.out()::println);
        }
    }
}
