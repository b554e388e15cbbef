package io.tessera.memory.residency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fewest bytes that have to come in for a sequence of turns, found by an exhaustive search over what leaves at every hand-over. Bringing memory
 * in before its turn cannot lower that number, so it is not tried.
 */
final class FewestMoves {
    private final int[] needs;
    private final int[] guarantees;
    private final int capacity;
    private final int[] turns;
    private final Map<List<Integer>, Integer> known = new HashMap<>();

    FewestMoves(int[] needs, int[] guarantees, int capacity, int[] turns) {
        this.needs = needs;
        this.guarantees = guarantees;
        this.capacity = capacity;
        this.turns = turns;
    }

    int from(int[] resident) {
        return from(resident, 0);
    }

    private int from(int[] resident, int turn) {
        if (turn == turns.length) {
            return 0;
        }
        List<Integer> key = new ArrayList<>(Arrays.stream(resident).boxed().toList());
        key.add(turn);
        Integer answer = known.get(key);
        if (answer == null) {
            int runner = turns[turn];
            int[] after = resident.clone();
            after[runner] = needs[runner];
            answer = needs[runner] - resident[runner] + best(after, runner, 0, turn);
            known.put(key, answer);
        }
        return answer;
    }

    /** Tries all amounts that clients from {@code client} on keep. */
    private int best(int[] resident, int runner, int client, int turn) {
        if (client == needs.length) {
            return Arrays.stream(resident).sum() <= capacity ? from(resident, turn + 1) : Integer.MAX_VALUE / 2;
        }
        if (client == runner) {
            return best(resident, runner, client + 1, turn);
        }
        int held = resident[client];
        int least = Integer.MAX_VALUE / 2;
        for (int kept = Math.min(held, guarantees[client]); kept <= held; kept++) {
            resident[client] = kept;
            least = Math.min(least, best(resident.clone(), runner, client + 1, turn));
        }
        resident[client] = held;
        return least;
    }
}
