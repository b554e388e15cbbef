package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.BlockWaits;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.look.Looks;
import io.tessera.guardian.machine.look.SectionLoops;
import io.tessera.guardian.machine.look.SectionWaits;
import java.util.BitSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;

/** The loops of a cubin's functions that may be endless, and those that may wait for other blocks. Thread-safe. */
final class SeenLoops {
    private final MachineFence fence;
    private final Map<String, String> endless = new ConcurrentSkipListMap<>();
    private final Map<String, String> waiting = new ConcurrentSkipListMap<>();
    private final Set<String> loading = new ConcurrentSkipListSet<>();
    private final Set<String> calling = new ConcurrentSkipListSet<>();
    private volatile boolean looking;

    SeenLoops(MachineFence fence) {
        this.fence = fence;
    }

    /** Examines the loops of a function. A report in a loop does not count, since the threads that execute it end. */
    void see(String function, SectionFlow flow) {
        BitSet ending = new BitSet();
        for (int i = 0; i < flow.count(); i++) {
            if (ReportSequence.isStore(flow, i, fence)) {
                ending.set(ReportSequence.first(i), i + 1);
            }
        }
        SectionLoops loops = new SectionLoops(flow, ending::get);
        Looks looks = Looks.of(flow, fence);
        if (!looks.isEmpty()) {
            looking = true;
        }
        try {
            String why = fence.looks() ? loops.callsByRegister(at -> ReportSequence.endsBefore(flow, at, fence)) : "a fence without a stop word";
            why = why == null ? loops.endless(looks) : why;
            if (why != null) {
                endless.put(function, why);
            }
            SectionWaits waits = loops.waiting(looks);
            if (waits.waits() != null) {
                waiting.put(function, waits.waits());
            }
            if (waits.loads()) {
                loading.add(function);
            }
            if (waits.calls()) {
                calling.add(function);
            }
        } catch (MachineCodeException e) {
            refuse(function, e.getMessage());
        }
    }

    /** Records that a function calls one of the driver's, of which nothing is known. */
    void callsDriver(String function, String why) {
        waiting.putIfAbsent(function, why);
    }

    /** Records that a function could not be fully analysed. */
    void refuse(String function, String why) {
        endless.putIfAbsent(function, why);
        waiting.putIfAbsent(function, why);
    }

    /** Returns whether a function looks at the stop word. */
    boolean looks() {
        return looking;
    }

    /** Returns, for each function, its first loop that may be endless. */
    Map<String, String> endless() {
        return endless;
    }

    BlockWaits waits() {
        return new BlockWaits(waiting, loading, calling);
    }
}
