package io.tessera.bench.memory;

import io.tessera.guardian.heap.CommitPort;
import io.tessera.guardian.heap.HeapSettings;
import io.tessera.guardian.heap.WindowHeap;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A free and an allocation in a window where 4000 allocations are live, memory committed: the window's heap, and a tree of
 * free ranges for comparison. A random one of the live ones is freed, so neighbours join and are split again.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WindowHeapBenchmark {
    private static final int LIVE = 4000;
    private static final int CHOICES = 1 << 16;
    private static final long RANGE_BYTES = 192L << 30;

    /** Sizes of the requests. */
    public enum Sizes {
        /** Up to 64 KiB. */
        SMALL {
            @Override
            long next(Random random) {
                return 1 + random.nextInt(64 << 10);
            }
        },
        /** As PyTorch's segments: most of 2 and 20 MiB, others of a multiple of 2 MiB. */
        SEGMENTS {
            @Override
            long next(Random random) {
                int kind = random.nextInt(10);
                return (kind < 5 ? 2L : kind < 8 ? 20L : 2L * (5 + random.nextInt(60))) << 20;
            }
        },
        /** Any size from 256 bytes to 16 MiB, small ones as often as large ones. */
        MIXED {
            @Override
            long next(Random random) {
                int half = 1 << 7 + random.nextInt(17);
                return half + 1 + random.nextInt(half);
            }
        };

        abstract long next(Random random);
    }

    /** The sizes of this run. */
    @Param({"SMALL", "SEGMENTS", "MIXED"})
    public Sizes sizes;

    private final long[] wanted = new long[CHOICES];
    private final int[] chosen = new int[CHOICES];
    private final long[] heapOffsets = new long[LIVE];
    private final long[] treeOffsets = new long[LIVE];
    private WindowHeap heap;
    private FirstFitTree tree;
    private int at;

    /** Fills both. */
    @Setup(Level.Trial)
    public void fill() {
        Random random = new Random(4);
        heap = new WindowHeap(HeapSettings.standard(RANGE_BYTES, HeapProgram.GRANULE_BYTES), new CommitPort() {
            @Override
            public boolean commit(long offset, long bytes) {
                return true;
            }

            @Override
            public void decommit(long offset, long bytes) {
                // nothing is there
            }
        }, WindowHeap.UNLIMITED);
        tree = new FirstFitTree(RANGE_BYTES);
        for (int i = 0; i < LIVE; i++) {
            long bytes = sizes.next(random);
            heapOffsets[i] = heap.allocate(bytes);
            treeOffsets[i] = tree.allocate(bytes);
        }
        for (int i = 0; i < CHOICES; i++) {
            wanted[i] = sizes.next(random);
            chosen[i] = random.nextInt(LIVE);
        }
    }

    /** The heap of a window. */
    @Benchmark
    public long window() {
        at = at + 1 & CHOICES - 1;
        int block = chosen[at];
        if (heap.free(heapOffsets[block]) < 0) {
            throw new IllegalStateException("not live");
        }
        return heapOffsets[block] = requireOffset(heap.allocate(wanted[at]));
    }

    /** The tree of free ranges. */
    @Benchmark
    public long tree() {
        at = at + 1 & CHOICES - 1;
        int block = chosen[at];
        tree.free(treeOffsets[block]);
        return treeOffsets[block] = requireOffset(tree.allocate(wanted[at]));
    }

    private static long requireOffset(long offset) {
        if (offset < 0) {
            throw new IllegalStateException("refused: " + offset);
        }
        return offset;
    }
}
