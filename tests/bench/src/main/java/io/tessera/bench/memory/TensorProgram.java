package io.tessera.bench.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Programs that allocate and free tensors by the shapes of their models; no kernel runs. Sizes follow from layers, width,
 * batch and lengths, with the lengths drawn from a seeded source. A step of each is an operation count of some hundreds.
 */
enum TensorProgram {
    /** A transformer of 24 layers, 2048 wide, trained with Adam in mixed precision on texts of changing length. */
    TRAINING {
        @Override
        void run(TensorMemory memory, Random random, int steps) {
            long width = 2048;
            long layers = 24;
            List<Integer> model = new ArrayList<>();
            for (int layer = 0; layer < layers; layer++) {
                for (long weights : new long[] {3 * width * width, width * width, 4 * width * width, 4 * width * width,
                        width, width, 4 * width, 3 * width}) {
                    for (int bytes : new int[] {2, 2, 4, 4, 4}) {
                        model.add(memory.allocate(weights * bytes)); // weight, gradient, master copy, two moments
                    }
                }
            }
            Deque<Integer> kept = new ArrayDeque<>();
            for (int step = 0; step < steps; step++) {
                long tokens = 4L * (64 + random.nextInt(961));
                for (int layer = 0; layer < layers; layer++) {
                    forward(memory, tokens * width * 2, tokens * 4, kept);
                }
                int logits = memory.allocate(tokens * 50304 * 2);
                int loss = memory.allocate(4);
                while (!kept.isEmpty()) {
                    int gradient = memory.allocate(tokens * width * 2);
                    int scratch = memory.allocate(1 + random.nextInt(1 << 20));
                    memory.free(kept.removeLast());
                    memory.free(scratch);
                    memory.free(gradient);
                }
                memory.free(logits);
                memory.free(loss);
                if (step % 50 == 49) {
                    memory.emptyCache();
                }
            }
            model.forEach(memory::free);
        }

        private void forward(TensorMemory memory, long activation, long statistics, Deque<Integer> kept) {
            kept.add(memory.allocate(activation));
            kept.add(memory.allocate(statistics));
            kept.add(memory.allocate(3 * activation));
            int scores = memory.allocate(2 * activation);
            kept.add(memory.allocate(activation));
            memory.free(scores);
            kept.add(memory.allocate(statistics));
            kept.add(memory.allocate(4 * activation));
            int gelu = memory.allocate(4 * activation);
            kept.add(memory.allocate(activation));
            memory.free(gelu);
        }
    },

    /** A convolutional network of 50 layers on images of changing batch size, with workspaces of its convolutions. */
    IMAGES {
        @Override
        void run(TensorMemory memory, Random random, int steps) {
            List<Integer> model = new ArrayList<>();
            for (int layer = 0; layer < 50; layer++) {
                long channels = 64L << layer / 13;
                for (int copy = 0; copy < 3; copy++) {
                    model.add(memory.allocate(channels * channels * 9 * 4));
                    model.add(memory.allocate(channels * 4));
                }
            }
            Deque<Integer> kept = new ArrayDeque<>();
            for (int step = 0; step < steps; step++) {
                long batch = 1 + random.nextInt(64);
                for (int layer = 0; layer < 50; layer++) {
                    long side = 112 >> layer / 13;
                    long channels = 64L << layer / 13;
                    int workspace = memory.allocate(1 + random.nextInt(32 << 20));
                    kept.add(memory.allocate(batch * channels * side * side * 2));
                    kept.add(memory.allocate(channels * 8));
                    memory.free(workspace);
                }
                while (!kept.isEmpty()) {
                    int workspace = memory.allocate(1 + random.nextInt(32 << 20));
                    int tensor = kept.removeLast();
                    memory.free(tensor);
                    memory.free(workspace);
                }
                if (step % 20 == 19) {
                    memory.emptyCache();
                }
            }
            model.forEach(memory::free);
        }
    },

    /** A text server: many requests at once, each with keys and values that grow by blocks until it ends. */
    SERVING {
        @Override
        void run(TensorMemory memory, Random random, int steps) {
            List<Integer> model = new ArrayList<>();
            for (int layer = 0; layer < 32; layer++) {
                for (long weights : new long[] {3L * 4096 * 4096, 4096L * 4096, 4096L * 11008, 4096L * 11008, 4096}) {
                    model.add(memory.allocate(weights * 2));
                }
            }
            List<Deque<Integer>> requests = new ArrayList<>();
            for (int step = 0; step < steps; step++) {
                if (requests.size() < 64 && random.nextInt(4) == 0) {
                    requests.add(new ArrayDeque<>(List.of(memory.allocate((1 + random.nextInt(2048)) * 8192L))));
                }
                long rows = Math.max(1, requests.size());
                for (int layer = 0; layer < 32; layer++) {
                    int hidden = memory.allocate(rows * 4096 * 2);
                    int wide = memory.allocate(rows * 11008 * 2);
                    memory.free(hidden);
                    memory.free(wide);
                }
                for (int i = requests.size() - 1; i >= 0; i--) {
                    if (random.nextInt(16) == 0) {
                        requests.get(i).add(memory.allocate(16 * 8192L * (1 + random.nextInt(8))));
                    }
                    if (random.nextInt(200) == 0) {
                        requests.remove(i).forEach(memory::free);
                    }
                }
                if (step % 200 == 199) {
                    memory.emptyCache();
                }
            }
            requests.forEach(request -> request.forEach(memory::free));
            model.forEach(memory::free);
        }
    };

    /**
     * Runs the program on a memory; at the end all is freed.
     *
     * @param random its only source of chance
     * @param steps  training steps, or tokens served
     */
    abstract void run(TensorMemory memory, Random random, int steps);
}
