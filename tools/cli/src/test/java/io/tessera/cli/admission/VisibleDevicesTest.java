package io.tessera.cli.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VisibleDevicesTest {
    private static final List<UsableDevice> ALL = List.of(new UsableDevice("a", "GPU-11112222-3333-4444-5555-666677778888", 1),
            new UsableDevice("b", "GPU-1111aaaa-3333-4444-5555-666677778888", 2),
            new UsableDevice("c", "GPU-22222222-3333-4444-5555-666677778888", 3));

    /** The cases of the library's test of device_order, by the memory of the devices that are left. */
    @ParameterizedTest
    @CsvSource({"'0',1", "'2,0',31", "'0,5,1',1", "'',''", "'-1',''", "'1,1',''", "'GPU-2',3", "'GPU-1111',''", "'GPU-1111AAAA-33,0',21",
            "'GPU-11112222-3333-4444-5555-666677778888',1", "'GPU-11112222-3333-4444-5555-666677778888, 0',''", "' 1 , 2 ',23", "'x,1',''",
            "'GPU-,1',''", "'99999999999999999999',''"})
    void theListIsReadAsTheLibraryDoes(String list, String bytes) {
        StringBuilder left = new StringBuilder();
        VisibleDevices.of(list, ALL).forEach(device -> left.append(device.totalBytes()));
        assertEquals(bytes, left.toString());
    }

    @ParameterizedTest
    @CsvSource({"'2, GPU-1111a',GPU-1111a"})
    void aDeviceIsCalledAsTheListCallsIt(String list, String name) {
        assertEquals(name, VisibleDevices.of(list, ALL).getLast().name());
    }
}
