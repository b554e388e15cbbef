package io.tessera.software.lowering;

import io.tessera.software.program.Opcode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the operation of a PTX instruction; null where the software GPU has none. Stateless. */
final class OpcodeTable {
    private static final Map<String, Opcode> RENAMED = Map.of("membar", Opcode.FENCE, "ex2", Opcode.EX2,
            "setmaxnreg", Opcode.NOP, "griddepcontrol", Opcode.NOP, "discard", Opcode.DISCARD);
    private static final Map<String, Opcode> BY_NAME = Arrays.stream(Opcode.values())
            .collect(Collectors.toUnmodifiableMap(opcode -> opcode.name().toLowerCase(Locale.ROOT), opcode -> opcode));
    /** Instructions that PTX spells with several first words; each has a method here. */
    private static final Set<String> FAMILIES = Set.of("bar", "barrier", "cp", "mbarrier", "cvt", "vote", "shfl",
            "match", "redux", "elect", "st", "red", "fence", "tex", "brx", "add", "sub", "ld", "createpolicy", "call");

    private OpcodeTable() {
    }

    static Opcode of(String opcode, List<String> words) {
        if (FAMILIES.contains(opcode)) {
            return family(opcode, words);
        }
        Opcode renamed = RENAMED.get(opcode);
        return renamed != null ? renamed : simple(opcode);
    }

    private static Opcode simple(String opcode) {
        return BY_NAME.get(opcode);
    }

    private static Opcode family(String opcode, List<String> words) {
        return switch (opcode) {
            case "bar", "barrier" -> barrier(words);
            case "cp" -> asynchronousCopy(words);
            case "mbarrier" -> mbarrier(words.getFirst());
            case "cvt" -> words.contains("pack") ? Opcode.CVT_PACK : Opcode.CVT;
            case "match", "redux", "elect" -> words.contains("sync") ? simple(opcode) : null;
            case "st", "red" -> words.contains("async") || words.contains("bulk") ? null : simple(opcode);
            case "fence" -> words.contains("tensormap::generic") ? null : Opcode.FENCE;
            default -> simple(opcode);
        };
    }

    private static Opcode barrier(List<String> words) {
        if (words.contains("cluster")) {
            return words.contains("arrive") ? Opcode.CLUSTER_ARRIVE : Opcode.CLUSTER_WAIT;
        }
        if (words.contains("warp")) {
            return Opcode.WARP_SYNC;
        }
        return words.contains("sync") ? Opcode.BARRIER_SYNC : words.contains("arrive") ? Opcode.BARRIER_ARRIVE
                : words.contains("red") ? Opcode.BARRIER_RED : null;
    }

    private static Opcode asynchronousCopy(List<String> words) {
        if (!words.contains("async") || words.contains("reduce")) {
            return null;
        }
        if (words.contains("bulk")) {
            return bulk(words);
        }
        if (words.contains("mbarrier")) {
            return Opcode.CP_ASYNC_MBARRIER_ARRIVE;
        }
        return words.contains("commit_group") ? Opcode.CP_ASYNC_COMMIT
                : words.contains("wait_group") || words.contains("wait_all") ? Opcode.CP_ASYNC_WAIT : Opcode.CP_ASYNC;
    }

    /** Copies by tensor map; they are done at once, so that waiting for their groups is all that is left to do. */
    private static Opcode bulk(List<String> words) {
        if (words.contains("tensor")) {
            return words.contains("prefetch") ? null : words.contains("bulk_group") ? Opcode.CP_ASYNC_BULK_TENSOR_STORE
                    : words.contains("mbarrier::complete_tx::bytes") ? Opcode.CP_ASYNC_BULK_TENSOR_LOAD : null;
        }
        return words.contains("commit_group") ? Opcode.CP_ASYNC_COMMIT
                : words.contains("wait_group") ? Opcode.CP_ASYNC_WAIT : null;
    }

    private static Opcode mbarrier(String operation) {
        return switch (operation) {
            case "init" -> Opcode.MBARRIER_INIT;
            case "inval" -> Opcode.MBARRIER_INVAL;
            case "arrive" -> Opcode.MBARRIER_ARRIVE;
            case "arrive_drop" -> Opcode.MBARRIER_ARRIVE_DROP;
            case "expect_tx" -> Opcode.MBARRIER_EXPECT_TX;
            case "complete_tx" -> Opcode.MBARRIER_COMPLETE_TX;
            case "test_wait" -> Opcode.MBARRIER_TEST_WAIT;
            case "try_wait" -> Opcode.MBARRIER_TRY_WAIT;
            case "pending_count" -> Opcode.MBARRIER_PENDING_COUNT;
            default -> null;
        };
    }
}
