package io.tessera.cli.fence;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.text.ProgressLine;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.trust.TrustList;
import io.tessera.guardian.trust.TrustLocation;
import io.tessera.guardian.trust.TrustedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Changes and shows the list of images that run unfenced under the policy {@code trusted}, and are a vendor's under {@code own}. Executors
 * read the list of the user who runs the manager. One thread.
 */
final class TrustListChanges {
    private final CommandContext context;
    private final Path file;
    private final LocalDate today;

    /** Creates an editor of a user's list. */
    TrustListChanges(CommandContext context, LocalDate today) {
        this.context = context;
        this.today = today;
        file = TrustLocation.of(context.environment(), context.uid(), home(context));
    }

    /** Returns the user's home directory. */
    static Path home(CommandContext context) {
        return Path.of(context.environment().getOrDefault("HOME", System.getProperty("user.home", "/")));
    }

    /** Returns whether a word is the hash of an image and not a file name. */
    static boolean isHash(String word) {
        return TrustedImage.isHash(word) && !Files.exists(Path.of(word));
    }

    /**
     * Trusts images, each named by its hash, or all those with machine code in a file; false: a file has none.
     *
     * @param jobs     number of images in parallel
     * @param progress shows the progress in a file
     */
    boolean trust(List<String> names, int jobs, ProgressLine progress) throws IOException, InterruptedException {
        boolean all = true;
        TrustList list = TrustList.read(file);
        for (String name : names) {
            if (isHash(name)) {
                list = list.with(List.of(new TrustedImage(name, today, "named by its hash")));
                context.out().println(TextTable.printable(name) + ": is trusted");
                continue;
            }
            List<TrustedImage> images = new ArrayList<>();
            int unknown = 0;
            int whole = 0;
            try (Arena arena = Arena.ofShared(); ExecutorService threads = Executors.newFixedThreadPool(jobs)) {
                List<FoundImage> found = FenceRun.scan(Path.of(name), arena);
                List<Future<MachineCode>> begun = found.stream().map(image -> threads.submit(() -> MachineCode.of(image))).toList();
                progress.file(name, found.size());
                for (int i = 0; i < begun.size(); i++) {
                    MachineCode code = taken(name, begun.get(i));
                    images.addAll(entries(name, found.get(i), code));
                    unknown += code.unknown();
                    whole += code.isThere() ? 1 : 0;
                    progress.image(found.get(i).sizeBytes());
                    progress.show();
                }
            } finally {
                progress.clear();
            }
            all &= !images.isEmpty();
            list = list.with(images);
            context.out().println(TextTable.printable(name) + ": " + said(whole, images.size() - whole, unknown));
        }
        list.write(file);
        return all;
    }

    private static MachineCode taken(String name, Future<MachineCode> future) throws IOException, InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ImageException cause) {
                throw new IOException(name + ": " + cause.getMessage(), cause);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private List<TrustedImage> entries(String name, FoundImage image, MachineCode code) {
        List<TrustedImage> entries = new ArrayList<>();
        if (code.isThere()) {
            String place = Path.of(name).toAbsolutePath() + " " + image.where() + " 0x" + Long.toHexString(image.offset());
            entries.add(new TrustedImage(code.image(), today, place));
            code.pieces().forEach(piece -> entries.add(new TrustedImage(piece.hash(), today, place + " " + piece.madeFor())));
        }
        return entries;
    }

    private static String said(int whole, int pieces, int unknown) {
        if (whole == 0) {
            return "no image with machine code";
        }
        String inside = pieces + (pieces == 1 ? " cubin inside" : " cubins inside")
                + (unknown == 0 ? "" : "; " + unknown + " more are packed in a way that is not known");
        return whole + (whole == 1 ? " image is trusted" : " images are trusted")
                + (pieces + unknown == 0 ? "" : " (with " + inside + ")");
    }

    /** Removes images from the list, by their hash or by the file that contains them; false: one is not in the list. */
    boolean untrust(List<String> names) throws IOException {
        boolean all = true;
        TrustList list = TrustList.read(file);
        for (String name : names) {
            String path = Path.of(name).toAbsolutePath().toString();
            TrustList rest = list.without(image -> image.hash().equals(name) || image.name().startsWith(path + " "));
            int gone = list.images().size() - rest.images().size();
            context.out().println(TextTable.printable(name) + ": " + gone + " images are no longer trusted");
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
            context.out().println("no image is trusted (" + TextTable.printable(file.toString()) + ")");
        } else {
            table.lines("", context.style()).forEach(context.out()::println);
        }
    }
}
