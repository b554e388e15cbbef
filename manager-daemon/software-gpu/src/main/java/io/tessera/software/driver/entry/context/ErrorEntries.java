package io.tessera.software.driver.entry.context;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import java.lang.foreign.Arena;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/** Names and descriptions of results. The texts are constants: programs keep pointers to them. */
public final class ErrorEntries implements EntryGroup {
    private final Map<CudaError, Long> names = texts(CudaError::symbol);
    private final Map<CudaError, Long> descriptions = texts(CudaError::text);

    private static Map<CudaError, Long> texts(Function<CudaError, String> text) {
        Map<CudaError, Long> addresses = new EnumMap<>(CudaError.class);
        for (CudaError error : CudaError.values()) {
            addresses.put(error, Arena.global().allocateFrom(text.apply(error)).address());
        }
        return addresses;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuGetErrorName, call -> answer(call, names))
                .on(DriverEntry.cuGetErrorString, call -> answer(call, descriptions));
    }

    private static void answer(Call call, Map<CudaError, Long> texts) {
        CudaError error = CudaError.of(call.number(0));
        call.putLong(1, error == null ? 0 : texts.get(error));
        DriverException.require(error != null, CudaError.INVALID_VALUE);
    }
}
