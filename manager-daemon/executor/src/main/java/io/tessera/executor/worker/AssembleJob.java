package io.tessera.executor.worker;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverUnavailableException;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.driver.DriverOpening;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.DriverLinker;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.executor.jit.TextLibrary;
import io.tessera.protocol.WorkerVariables;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Has the driver of this process compile, in a context of its own. A single text is loaded as a library and unloaded: the driver keeps
 * the machine code in its cache, where the executor's driver finds it when it loads the same text with the same options. Several inputs
 * are linked, and the machine code is the answer. The driver is opened with the first job. One owner thread.
 *
 * <p>Numbers of the message: how many options, their numbers, their values; then, if parts are linked, the type of each part.
 */
final class AssembleJob {
    /** Maximum number of kernels that are requested one by one. */
    private static final int MOST_KERNELS = 1 << 16;

    private final String provider;
    private final DriverOptions options;
    /** Lives as long as the process. */
    private final Arena arena = Arena.ofAuto();
    private DriverCalls driver;

    /** Creates an instance with the driver that the executor has. */
    AssembleJob(String provider, DriverOptions options) {
        this.provider = provider;
        this.options = options;
    }

    static Message message(byte[] text, CodeOptions options) {
        return new Message(Message.Kind.ASSEMBLE, numbers(options), "", List.of(text));
    }

    static Message message(List<LinkerInput> inputs, CodeOptions options) {
        List<Long> numbers = numbers(options);
        inputs.forEach(input -> numbers.add((long) input.type()));
        return new Message(Message.Kind.LINK, numbers, "", inputs.stream().map(LinkerInput::data).toList());
    }

    private static List<Long> numbers(CodeOptions options) {
        List<Long> numbers = new ArrayList<>();
        numbers.add((long) options.numbers().size());
        options.numbers().forEach(number -> numbers.add((long) number));
        numbers.addAll(options.values());
        return numbers;
    }

    private static CodeOptions options(Message message) {
        int count = message.numbers().getFirst().intValue();
        return CodeOptions.of(message.numbers().subList(1, 1 + count).stream().map(Long::intValue).toList(),
                message.numbers().subList(1 + count, 1 + 2 * count));
    }

    /** Answers a message. */
    Message run(Message message) {
        try {
            open();
        } catch (DriverUnavailableException | DriverFailedException e) {
            return Message.answer(CudaResult.OUT_OF_MEMORY, "a worker has no driver to compile with: " + e.getMessage(), List.of());
        }
        CodeOptions given = options(message);
        if (message.kind() == Message.Kind.ASSEMBLE) {
            return compile(message.parts().getFirst(), given, driver);
        }
        List<LinkerInput> inputs = new ArrayList<>();
        for (int i = 0; i < message.parts().size(); i++) {
            inputs.add(new LinkerInput(message.numbers().get(1 + 2 * given.numbers().size() + i).intValue(), message.parts().get(i)));
        }
        DriverLinker.Made made = DriverLinker.link(driver, inputs, given);
        return made.result() == CudaResult.SUCCESS ? Message.answer(made.result(), made.info(), List.of(made.code()))
                : Message.answer(made.result(), made.error(), List.of());
    }

    private void open() throws DriverUnavailableException, DriverFailedException {
        if (driver == null) {
            DriverPort port = DriverOpening.open(provider, options);
            DeviceContext.open(port, options.ordinal());
            driver = new DriverCalls(port, arena);
        }
    }

    /**
     * Compiles one image. A driver accepts it as a library even if its compiler failed, for lack of memory for example (driver 580), and reports the failure
     * only when its module is requested. An executor that did not learn of the failure would have its own driver try again, without this process's limits.
     */
    static Message compile(byte[] image, CodeOptions given, DriverCalls driver) {
        try (Arena job = Arena.ofConfined()) {
            MemorySegment memory = job.allocate(image.length + 2L, 64); // PTX may lack its final NUL
            MemorySegment.copy(image, 0, memory, ValueLayout.JAVA_BYTE, 0, image.length);
            TextLibrary library = TextLibrary.load(memory, given, driver);
            if (library.result() != CudaResult.SUCCESS) {
                return Message.answer(library.result(), library.error(), List.of());
            }
            int made = driver.call(DriverEntry.cuLibraryGetModule, driver.out(0), library.handle());
            boolean compiled = made == CudaResult.SUCCESS || made == CudaResult.OUT_OF_MEMORY; // of the device's memory: then the code was compiled
            if (compiled && driver.port().software()) {
                kernels(library.handle(), job, driver);
            }
            driver.call(DriverEntry.cuLibraryUnload, library.handle());
            return compiled ? Message.answer(CudaResult.SUCCESS, library.info(), List.of())
                    : Message.answer(made, gaveUp(library.error()), List.of());
        }
    }

    private static String gaveUp(String output) {
        return "the assembler gave up" + (output.isEmpty() ? "" : " (" + output + ")") + "; if it was for want of memory, a manager with a larger "
                + WorkerVariables.MEMORY + " gives it more";
    }

    /**
     * Requests all kernels, since a software GPU only makes a kernel when it is requested. One that it refuses is also refused when the program
     * requests it.
     */
    private static void kernels(long library, Arena job, DriverCalls driver) {
        int result = driver.call(DriverEntry.cuLibraryGetKernelCount, driver.out(0), library);
        int count = result == CudaResult.SUCCESS ? Math.min(driver.outInt(0), MOST_KERNELS) : 0;
        MemorySegment handles = job.allocate(ValueLayout.JAVA_LONG, Math.max(1, count));
        driver.call(DriverEntry.cuLibraryEnumerateKernels, handles.address(), count, library);
        for (int i = 0; i < count; i++) {
            driver.call(DriverEntry.cuKernelGetFunction, driver.out(0), handles.getAtIndex(ValueLayout.JAVA_LONG, i));
        }
    }
}
