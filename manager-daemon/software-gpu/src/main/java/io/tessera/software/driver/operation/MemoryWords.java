package io.tessera.software.driver.operation;

import io.tessera.software.driver.work.Operation;
import java.util.List;

/**
 * Waits and writes of words, one after the other (cuStreamBatchMemOp and its single forms).
 *
 * @param words in order
 */
public record MemoryWords(List<MemoryWord> words) implements Operation {
    /** Copies the list. */
    public MemoryWords {
        words = List.copyOf(words);
    }

    @Override
    public Place place() {
        return Place.HERE;
    }

    @Override
    public boolean run(Run task) {
        int[] next = {0};
        if (advance(next)) {
            return true;
        }
        task.poller().await(() -> {
            if (task.fault().lost() || advance(next)) {
                task.complete();
                return true;
            }
            return false;
        });
        return false;
    }

    private boolean advance(int[] next) {
        while (next[0] < words.size() && words.get(next[0]).attempt()) {
            next[0]++;
        }
        return next[0] == words.size();
    }
}
