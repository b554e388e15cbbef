package io.tessera.software.lowering;

import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Sorts the words after an opcode into types, a state space and modifiers. */
final class ModifierSorter {
    private static final Set<Opcode> GENERIC_BY_DEFAULT = EnumSet.of(Opcode.LD, Opcode.LDU, Opcode.ST, Opcode.ATOM,
            Opcode.RED, Opcode.PREFETCH, Opcode.PREFETCHU, Opcode.APPLYPRIORITY, Opcode.DISCARD,
            Opcode.CREATEPOLICY, Opcode.MBARRIER_INIT, Opcode.MBARRIER_INVAL, Opcode.MBARRIER_ARRIVE,
            Opcode.MBARRIER_ARRIVE_DROP, Opcode.MBARRIER_EXPECT_TX, Opcode.MBARRIER_COMPLETE_TX,
            Opcode.MBARRIER_TEST_WAIT, Opcode.MBARRIER_TRY_WAIT, Opcode.CP_ASYNC_MBARRIER_ARRIVE, Opcode.MAPA,
            Opcode.GETCTARANK, Opcode.CP_ASYNC, Opcode.LDMATRIX, Opcode.STMATRIX);
    /** Opcodes whose other words choose cache behaviour or an ordering that is always given. */
    private static final Set<Opcode> HINTS_ONLY = EnumSet.of(Opcode.FENCE, Opcode.CREATEPOLICY, Opcode.PREFETCH,
            Opcode.PREFETCHU, Opcode.APPLYPRIORITY, Opcode.DISCARD, Opcode.NOP, Opcode.PMEVENT, Opcode.CP_ASYNC_COMMIT,
            Opcode.CP_ASYNC_WAIT);

    /** The only supported form of tensor copies, and the report of their end: the opcode implies both. */
    private static final Set<String> TENSOR_WORDS = Set.of("tile", "bulk_group", "mbarrier::complete_tx::bytes");

    final List<ValueType> types = new ArrayList<>();
    final Set<Modifier> modifiers = EnumSet.noneOf(Modifier.class);
    AddressSpace space;
    /** The first word that means nothing here, or null. */
    String unknown;

    static ModifierSorter of(Opcode opcode, List<String> written) {
        ModifierSorter words = new ModifierSorter();
        for (String word : written) {
            words.take(opcode, word);
        }
        if (words.space == null && GENERIC_BY_DEFAULT.contains(opcode)) {
            words.space = AddressSpace.GENERIC;
        }
        return words;
    }

    private void take(Opcode opcode, String word) {
        AddressSpace named = space(word);
        ValueType type = ValueType.ofToken(word);
        if (named != null) {
            // The destination of cp.async.shared.global is named first.
            space = space == null ? named : space;
        } else if (type != null) {
            types.add(type);
        } else if (!word.startsWith("L1::") && !word.startsWith("L2::") && !word.startsWith("sem::")) {
            Modifier modifier = Modifier.ofToken(word.toLowerCase(Locale.ROOT));
            if (modifier != null) {
                modifiers.add(modifier);
            } else if (!HINTS_ONLY.contains(opcode) && !isOpcodePart(opcode, word) && unknown == null) {
                unknown = word;
            }
        }
    }

    /** Words that the opcode's name has already told. */
    private static boolean isOpcodePart(Opcode opcode, String word) {
        return opcode.name().contains(word.toUpperCase(Locale.ROOT)) || word.equals("mbarrier")
                || opcode == Opcode.WARP_SYNC && word.equals("warp")
                || opcode.name().contains("TENSOR") && TENSOR_WORDS.contains(word);
    }

    private static AddressSpace space(String word) {
        return switch (word) {
            case "global" -> AddressSpace.GLOBAL;
            case "const" -> AddressSpace.CONST;
            case "shared", "shared::cta" -> AddressSpace.SHARED;
            case "shared::cluster" -> AddressSpace.SHARED_CLUSTER;
            case "local" -> AddressSpace.LOCAL;
            case "param", "param::entry", "param::func" -> AddressSpace.PARAM;
            default -> null;
        };
    }
}
