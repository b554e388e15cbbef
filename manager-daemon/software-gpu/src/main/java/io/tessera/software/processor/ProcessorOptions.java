package io.tessera.software.processor;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.launch.DeviceLimits;

/**
 * Configuration of a software GPU.
 *
 * @param memoryBytes capacity of its memory
 * @param workers     host threads that run blocks, the launching thread not counted
 * @param limits      limits of launches
 * @param translator  turns lowered kernels into programs: the compiler or the interpreter
 * @param clock       clock for {@code %clock64} and {@code %globaltimer}
 */
public record ProcessorOptions(long memoryBytes, int workers, DeviceLimits limits, KernelTranslator translator,
        DeviceClock clock) {
}
