package io.tessera.manager.residency;

import io.tessera.protocol.segment.ResidencyBlock;
import java.util.Locale;

/** The result of plan auto on a device, in a sentence, from what the client says (SPEC.md, section 9.7). Stateless. */
final class PlanChoice {
    private static final double GIB = 1L << 30;

    private PlanChoice() {
    }

    /** Returns plan and reason; empty for a client with a fixed plan, or without an allocation. */
    static String sentence(long facts, long managedBytes) {
        boolean unmapped = (facts & ResidencyBlock.CHOICE_UNMAPPED) != 0;
        if ((facts & ResidencyBlock.CHOICE_AUTO) == 0) {
            return "";
        }
        if ((facts & ResidencyBlock.CHOICE_EXPORTED) != 0) {
            return "plain from now on: the program exports memory that can be exported only as the driver's own";
        }
        if ((facts & ResidencyBlock.CHOICE_DEVICES) != 0) {
            return "plain from now on: the program uses several devices, or sees some that cannot reach each other's memory";
        }
        if (unmapped) {
            return (facts & ResidencyBlock.CHOICE_UNPAGED) != 0
                    ? "plain: the device neither maps memory nor pages managed memory"
                    : "managed: the device maps no memory, so none can be swapped";
        }
        return managedBytes == 0 ? "swap: the device maps memory, and what the program has can be on it at once"
                : String.format(Locale.ROOT, "swap, and managed for %.2f GiB beyond what the device can hold at once",
                        managedBytes / GIB);
    }
}
