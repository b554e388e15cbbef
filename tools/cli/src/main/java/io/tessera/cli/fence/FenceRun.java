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
 * Works on the images of one file after the other, on all cores, and hands the outcomes over in the file's order. Memory is bounded: an
 * image is read when its turn comes, and only a bounded number of bytes of images are worked on at once. One thread calls it; the work runs
 * on its own.
 */
final class FenceRun {
    /** Size of a parsed and fenced module, as a multiple of its packed image. */
    private static final int GROWTH = 300;
    /** Images that are begun before the oldest is reported; their outcomes are small. */
    private static final int AHEAD_PER_WORKER = 8;

    /** Takes what happens, on the calling thread. */
    interface Listener {
        /** A file's images are known. */
        void file(String name, List<FoundImage> images);

        /** An image is done. */
        void outcome(FenceOutcome outcome);
    }

    private final ImageFencer fencer;
    private final int workers;
    private final int budgetKib;
    private final Semaphore memory;

    /**
     * A run.
     *
     * @param workers   how many images at once
     * @param heapBytes how much memory the work may take
     */
    FenceRun(ImageFencer fencer, int workers, long heapBytes) {
        this.fencer = fencer;
        this.workers = workers;
        budgetKib = Math.clamp(heapBytes / GROWTH / 1024, 1, Integer.MAX_VALUE);
        memory = new Semaphore(budgetKib);
    }

    /** The images of a file, without fencing them; valid as long as the arena. */
    static List<FoundImage> scan(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return ImageScanner.scan(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena));
        }
    }

    /**
     * Works on a file.
     *
     * @throws IOException if it, or what is to be written, cannot be read or written
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
        // An image that is larger than everything gets everything, and is alone then.
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
