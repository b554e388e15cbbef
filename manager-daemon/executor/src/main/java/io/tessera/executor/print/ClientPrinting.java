package io.tessera.executor.print;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Device printf of one client: its modules that print, and the marks before which the text must arrive (RELAY.md, section
 * 5). Behind each mark an event is recorded, so that the driver can be made to print without waiting. One owner thread.
 */
public final class ClientPrinting {
    /** Maximum number of pending marks: as many as there are words, since a further mark would need a word that already has one. */
    private static final int MOST_MARKS = RelayLayout.WORDS;

    private final DriverCalls driver;
    private final RelaySegment segment;
    private final PrintedText text;
    /** Modules by the driver's handle: whether they print, which is determined at the first use of one of their functions. */
    private final Map<Long, BooleanSupplier> modules = new HashMap<>();
    private final List<Mark> marks = new ArrayList<>();
    private final ArrayDeque<Long> events = new ArrayDeque<>();
    /** Checks the reports of kernels and notifies the client, before it learns that they are done. */
    private final Runnable looked;
    private final int uid;
    private boolean prints;
    private boolean watched;
    private boolean told;

    private record Mark(int word, long value, long event) {
    }

    /**
     * Creates an instance for a client without modules.
     *
     * @param uid    the client's user
     * @param looked called when work is done, before the client learns of it; turns reports of kernels into the client's error
     */
    public ClientPrinting(DriverCalls driver, RelaySegment segment, PrintedText text, int uid, Runnable looked) {
        this.looked = looked;
        this.uid = uid;
        this.driver = driver;
        this.segment = segment;
        this.text = text;
    }

    /** Records that a module or library was loaded, by the driver's handle. */
    public void loaded(long module, BooleanSupplier canPrint) {
        modules.put(module, canPrint);
    }

    /** Records that a module was unloaded. */
    public void unloaded(long module) {
        modules.remove(module);
    }

    /** Returns whether functions of a module print; from the first that does, the client waits for text. */
    public boolean ask(long module) {
        BooleanSupplier canPrint = modules.get(module);
        boolean answer = canPrint != null && canPrint.getAsBoolean();
        if (answer && !prints) {
            prints = true;
            text.enters(uid);
        }
        return answer;
    }

    /** Makes the client wait from now on until its kernels' reports were read. */
    public void watch() {
        watched = true;
    }

    /** Returns whether the client's marks are delayed, because functions print or kernels' reports have to be read. */
    public boolean prints() {
        return prints || watched;
    }

    /** Records that a mark was submitted to a stream. Returns the CUresult. */
    public int marked(long stream, int word, long value) {
        if (!prints()) {
            return CudaResult.SUCCESS;
        }
        if (marks.size() >= MOST_MARKS) {
            segment.notice("the text of more than " + MOST_MARKS
                    + " points of this program's streams is waited for (printf in kernels); synchronise more often");
            return CudaResult.OUT_OF_MEMORY;
        }
        Long event = events.poll();
        if (event == null) {
            int result = driver.call(DriverEntry.cuEventCreate, driver.out(0), EventFlag.DISABLE_TIMING);
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            event = driver.outLong(0);
        }
        marks.add(new Mark(word, value, event));
        return driver.call(DriverEntry.cuEventRecord, event, stream);
    }

    /** Returns whether the program waits for text. */
    public boolean isAwaited() {
        return !marks.isEmpty();
    }

    /** Delivers the text before marks that are complete. Returns 0 or a fatal CUresult. */
    public int poll() {
        for (int i = 0; i < marks.size();) {
            Mark mark = marks.get(i);
            int result = driver.call(DriverEntry.cuEventQuery, mark.event);
            if (result == CudaResult.NOT_READY) {
                i++;
                continue;
            }
            marks.remove(i);
            events.add(mark.event);
            if (!FatalErrors.isFatal(result)) {
                result = before(mark.event);
            }
            if (FatalErrors.isFatal(result)) {
                return result;
            }
            segment.advanceWord(mark.word, mark.value, mark.value + 1);
        }
        return CudaResult.SUCCESS;
    }

    /** Delivers the text of work before an event that is complete. Returns the CUresult. */
    public int before(long event) {
        looked.run();
        return prints ? text.fetch(() -> driver.call(DriverEntry.cuEventSynchronize, event), segment, this::others) : CudaResult.SUCCESS;
    }

    private void others() {
        if (!told) {
            told = true;
            segment.notice("what kernels print (printf) is lost while kernels of several users print on this GPU");
        }
    }

    /** Destroys its events, when all work has ended. */
    public void close() {
        marks.forEach(mark -> events.add(mark.event));
        marks.clear();
        events.forEach(event -> driver.call(DriverEntry.cuEventDestroy_v2, event));
        events.clear();
        if (prints) {
            prints = false;
            text.leaves(uid);
        }
    }
}
