package io.tessera.testing.driver;

import io.tessera.device.DriverEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Objects of the fake driver that belong to the executor itself, so that tests do not count them as a client's. Thread-safe. */
public final class ExecutorsOwn {
    /** The kind of its modules. */
    static final String MODULE = "module of the executor's own";
    private static final byte[] IMAGE = "// tessera".getBytes(StandardCharsets.US_ASCII);
    private static final long PAGE = 4096;

    /** Host pages in which clients' kernels write reports, by address. */
    private final List<Long> reportPages = new CopyOnWriteArrayList<>();

    /** Returns the host pages in which clients' kernels write reports, by address. */
    public List<Long> reportPages() {
        return reportPages;
    }

    long allocated(long address, long bytes) {
        if (bytes >= PAGE) {
            reportPages.add(address);
        }
        return address;
    }

    boolean isInReportPage(long address) {
        return reportPages.stream().anyMatch(page -> address - page >= 0 && address - page < PAGE);
    }

    static boolean isImage(long image) {
        return MemorySegment.ofAddress(image).reinterpret(IMAGE.length).mismatch(MemorySegment.ofArray(IMAGE)) < 0;
    }

    static boolean isKernel(String name) {
        return name.startsWith("tessera");
    }

    /** Answers with a resource (CUdevResource) of processors, which can be divided into groups of 8: all, or what a division leaves. */
    static int processors(MemorySegment slots, int all, DriverEntry entry) {
        boolean divides = entry == DriverEntry.cuDevSmResourceSplitByCount;
        long place = slots.getAtIndex(ValueLayout.JAVA_LONG, divides ? 3 : 1);
        MemorySegment resource = MemorySegment.ofAddress(place).reinterpret(144);
        resource.set(ValueLayout.JAVA_INT, 96, divides ? all - (int) slots.getAtIndex(ValueLayout.JAVA_LONG, 5) : all);
        resource.set(ValueLayout.JAVA_INT, 100, 8);
        return 0;
    }
}
