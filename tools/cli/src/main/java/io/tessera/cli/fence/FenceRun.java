package io.tessera.cli.fence;

import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * Fences the images of one file after the other, on all cores, and delivers the outcomes in the file's order. Memory is bounded: an image
 * is read when its turn comes, and the total size of images in progress has a limit. One thread calls it; the work runs on threads of its
 * own.
 */
final class FenceRun {
    /** Size of a parsed and fenced module, as a multiple of its packed image. */
    private static final int GROWTH = 300;
    /** Maximum number of images begun before the oldest is reported; their outcomes are small. */
    private static final int AHEAD_PER_WORKER = 8;

    /** Receives events, on the calling thread. */
    interface Listener {
        /** Called when a file's images are known. */
        void file(String name, List<FoundImage> images);

        /** Called when an image is done. */
        void outcome(FenceOutcome outcome);
    }

    private final ImageFencer fencer;
    private final int workers;
    private final int budgetKib;
    private final Semaphore memory;

    /**
     * Creates a run.
     *
     * @param workers   number of images in parallel
     * @param heapBytes memory that the work may use
     */
    FenceRun(ImageFencer fencer, int workers, long heapBytes) {
        this.fencer = fencer;
        this.workers = workers;
        budgetKib = Math.clamp(heapBytes / GROWTH / 1024, 1, Integer.MAX_VALUE);
        memory = new Semaphore(budgetKib);
    }

    /** Finds the images of a file without fencing them; they are valid as long as the arena. */
    static List<FoundImage> scan(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return ImageScanner.scan(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena));
        }
    }

    /**
     * Fences a file.
     *
     * @throws IOException if the file cannot be read, or a result cannot be written
     */
    void file(Path file, Listener listener) throws IOException, InterruptedException {
        try (Arena arena = Arena.ofShared();
                ExecutorService threads = Executors.newFixedThreadPool(workers)) {
            List<FoundImage> images = scan(file, arena);
            listener.file(file.toString(), images);
            Deque<Future<FenceOutcome>> begun = new ArrayDeque<>();
            List<Integer> numbers = new ArrayList<>();
            try {
                for (FoundImage image : images) {
                    int number = numbers.size();
                    numbers.add(number);
                    begun.add(threads.submit(() -> bounded(file.toString(), number, image)));
                    while (begun.size() > workers * AHEAD_PER_WORKER || !begun.isEmpty() && begun.peek().isDone()) {
                        listener.outcome(take(begun));
                    }
                }
                while (!begun.isEmpty()) {
                    listener.outcome(take(begun));
                }
            } finally {
                threads.shutdownNow();
            }
        }
    }

    private FenceOutcome bounded(String file, int number, FoundImage image) throws IOException, InterruptedException {
        // An image larger than the whole budget gets all of it, and is then the only one.
        int permits = Math.clamp(image.sizeBytes() / 1024 + 1, 1, budgetKib);
        memory.acquire(permits);
        try {
            return fencer.fence(file, number, image);
        } finally {
            memory.release(permits);
        }
    }

    private static FenceOutcome take(Deque<Future<FenceOutcome>> begun) throws IOException, InterruptedException {
        try {
            return begun.remove().get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException cause -> throw cause;
                case UncheckedIOException cause -> throw cause.getCause();
                case InterruptedException cause -> throw cause;
                default -> throw new IllegalStateException(e.getCause());
            }
        }
    }
}
